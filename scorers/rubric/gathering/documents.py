"""Texts of a submission, sorted into what they are: code, report, log, and the rest."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from scorers.errors import SubmissionFault
from scorers.files.limits import KIB, MIB
from scorers.rubric.evidence import Document
from scorers.rubric.gathering.notebooks import notebook_text
from scorers.rubric.gathering.shortening import shares, shortened, without_progress
from scorers.rubric.gathering.telling import SHORTENED, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.evidence import Bucket
    from scorers.rubric.gathering.telling import Telling

CODE = frozenset({".py", ".ipynb", ".groovy", ".ijm", ".java", ".r", ".m", ".sh"})
SUFFIXES = CODE | {".txt", ".md", ".log", ".json", ".csv"}
# What the run, the packing or an earlier evaluation wrote, and what the agent was told.
_EXCLUDED = (
    "submission.json",
    "provenance.json",
    "*manifest.json",
    "run_metrics*.json",
    "run_steps*.json",
    "evaluation_*",
    "checklist_results*",
    "validation_report.json",
    "vlm_judge*",
    "result.json",
    "instruction.txt",
    "*_instruction.txt",
    "*_events.json",
    "log_raw.json",
    "*_log.json",
)
_MOST_READ = 512 * KIB
_LARGEST_NOTEBOOK = 8 * MIB
_MOST_UNPRINTABLE = 0.1
_BINARY = "[no text: most of it cannot be printed]"


@dataclass(frozen=True)
class _Room:
    """How many files of a bucket are shown, characters of all and of each, and what is kept."""

    files: int
    total: int
    each: int
    keep: Literal["head", "ends"] = "head"


# Together 60,000 characters, which is what the published judge shares between its calls.
_ROOMS: dict[Bucket, _Room] = {
    "code": _Room(20, 12_000, 12_000),
    "report": _Room(8, 8_000, 8_000),
    "log": _Room(6, 12_000, 12_000, "ends"),
    "supporting": _Room(24, 28_000, 20_000),
}


@dataclass(frozen=True)
class _Read:
    """What was read of a file, and the length of the whole."""

    file: SubmittedFile
    text: str
    chars: int


def documents_of(files: Iterable[SubmittedFile], telling: Telling) -> list[Document]:
    """Return the texts among files, each bucket within its room, flagged where shortened.

    Files higher up come first where there are too many; which were left out is flagged.
    """
    sorted_files: dict[Bucket, list[SubmittedFile]] = {bucket: [] for bucket in _ROOMS}
    for file in sorted(files, key=lambda file: (len(file.path.parts), file.path.parts)):
        bucket = bucket_of(file)
        if bucket is not None:
            sorted_files[bucket].append(file)
    documents: list[Document] = []
    for bucket, found in sorted_files.items():
        documents += _shown(bucket, found, telling)
    return documents


def bucket_of(file: SubmittedFile) -> Bucket | None:
    """Return what kind of text a file is by its name; None for what is no evidence."""
    name = file.name.lower()
    if file.suffix not in SUFFIXES or any(fnmatchcase(name, known) for known in _EXCLUDED):
        return None
    if file.suffix in CODE:
        return "code"
    if file.suffix == ".md":
        return "report"
    if file.suffix == ".log" or name == "log.txt" or name.endswith("_log.txt"):
        return "log"
    return "supporting"


def _shown(bucket: Bucket, files: list[SubmittedFile], telling: Telling) -> list[Document]:
    room = _ROOMS[bucket]
    read: list[_Read] = []
    for file in files[: room.files]:
        try:
            read.append(_read(file, bucket))
        except SubmissionFault as fault:
            ref = telling.ref("file", file.path)
            telling.flag(ref, UNREADABLE, telling.reason(ref, str(fault)))
    if len(files) > room.files:
        more = len(files) - room.files
        telling.flag(f"name:{bucket}", SHORTENED, f"{more} further files are not shown")
    allowed = shares([min(len(entry.text), room.each) for entry in read], room.total)
    return [
        _document(entry, bucket, most, room.keep, telling)
        for entry, most in zip(read, allowed, strict=True)
    ]


def _document(
    read: _Read, bucket: Bucket, most: int, keep: Literal["head", "ends"], telling: Telling
) -> Document:
    ref = telling.ref("file", read.file.path)
    text = shortened(read.text, most, keep)
    is_shorter = text != read.text or read.chars > len(read.text)
    if is_shorter:
        telling.flag(ref, SHORTENED, f"{len(text)} of {read.chars} characters are shown")
    return Document(
        ref=ref,
        path=telling.path(read.file.path),
        bucket=bucket,
        text=telling.text(ref, text),
        chars=read.chars,
        shortened=is_shorter,
    )


def _read(file: SubmittedFile, bucket: Bucket) -> _Read:
    if file.suffix == ".ipynb" and file.size <= _LARGEST_NOTEBOOK:
        file.charge(file.size)
        code = notebook_text(file.read_bytes(_LARGEST_NOTEBOOK))
        if code is not None:
            return _Read(file, code, len(code))
    file.charge(min(file.size, 2 * _MOST_READ))
    text = _content(file, both_ends=bucket == "log")
    if _is_binary(text):
        text = _BINARY
    elif bucket == "log":
        text = without_progress(text)
    return _Read(file, text, max(len(text), file.size if file.size > _MOST_READ else 0))


def _content(file: SubmittedFile, *, both_ends: bool) -> str:
    try:
        with file.open() as opened:
            content = opened.read(_MOST_READ)
            if file.size > _MOST_READ and both_ends:
                opened.seek(max(_MOST_READ, file.size - _MOST_READ))
                content += b"\n[...]\n" + opened.read(_MOST_READ)
    except OSError as fault:
        raise SubmissionFault(f"cannot read {file.path}: {fault.strerror}") from fault
    return content.decode("utf-8", errors="ignore").removeprefix("\ufeff")


def _is_binary(text: str) -> bool:
    sample = text[:4096]
    unprintable = sum(
        unicodedata.category(sign) in {"Cc", "Cn", "Co"} and sign not in "\n\r\t\f\x1b"
        for sign in sample
    )
    return unprintable > _MOST_UNPRINTABLE * len(sample)
