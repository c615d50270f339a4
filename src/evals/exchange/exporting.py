"""From a log and its kept submissions to BIABench's folders."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evals.exchange.entry import Entry, checked_entry
from evals.exchange.filling import Claims, default_maker, entry_of
from evals.exchange.folder import new_folder
from evals.exchange.packing import DELIVERABLES as DELIVERABLES_FILE
from evals.exchange.packing import METRICS, component, layout
from evals.exchange.reading import (
    ExportRefused,
    RunRead,
    made_from_the_reference,
    read_log,
    runs_of,
)
from evals.exchange.telling import ORACLE_NOTE, deliverables_text, manifest_text, metrics_text
from evals.scoring.keep import verify
from evals.scoring.verdict import printable
from evals.submissions.claims import MANIFEST_BYTES, read_manifest
from evals.workspace.export import take_folder
from evals.workspace.take import Taker, name_fault
from scorers.files.deliverables import SUPPORTING
from scorers.grading import ARTIFACTS, MANIFEST

if TYPE_CHECKING:
    from evals.exchange.telling import Maker

SUBMISSIONS = "submissions"
ENTRIES = "leaderboard/entries"


@dataclass
class Exported:
    """What an export wrote.

    Attributes
    ----------
    warnings
        What a reader of the numbers should know.
    """

    submissions: list[str] = field(default_factory=list)
    entry: Entry | None = None
    warnings: list[str] = field(default_factory=list)


def export_biabench(
    log_file: Path,
    submissions: Path,
    out: Path,
    *,
    claims: Claims | None,
    agent_name: str | None = None,
    agent_version: str | None = None,
    allow_oracle: bool = False,
) -> Exported:
    """Write a log's submissions, and a leaderboard entry where somebody answers for it.

    Args:
        log_file: The log of a run that kept its submissions.
        submissions: The folder where they are kept.
        out: A folder that is not there yet, or empty.
        claims: What a log does not tell and an entry must; None writes the submissions alone.
        agent_name: What the agent is called, by default the solver's name.
        agent_version: Its version, by default that of this package.
        allow_oracle: Whether submissions made from the reference are written, marked as such.

    Raises:
        ExportRefused: Something must not leave this machine, or is no result.
        EntryInvalidError: The log's runs make no valid entry. Nothing is written.
        DataMissingError: The log or a kept submission is missing or was changed.
    """
    log = read_log(log_file)
    maker = default_maker(log, agent_name, agent_version)
    runs = runs_of(log)
    if made_from_the_reference(log):
        maker = _oracle(maker, claims, allowed=allow_oracle)
    done = Exported()
    if claims is not None:
        done.entry = checked_entry(entry_of(log, runs, maker, claims))
    with new_folder(out) as bench:
        for run in runs:
            folder = _folder_of(run, maker)
            with tempfile.TemporaryDirectory(prefix="evals-export-") as name:
                paths = _take(run, submissions, Path(name))
                _refuse_oracle_at_second_hand(run, Path(name), allowed=allow_oracle)
                done.warnings += _pack(run, maker, Path(name), paths, bench / folder)
            done.submissions.append(folder)
        if done.entry is not None:
            place = bench / ENTRIES / f"{done.entry.id}.json"
            place.parent.mkdir(parents=True)
            place.write_text(done.entry.to_json(), encoding="utf-8")
    return done


def _oracle(maker: Maker, claims: Claims | None, *, allowed: bool) -> Maker:
    """Return the oracle's maker with its mark, or refuse it."""
    from dataclasses import replace

    if not allowed:
        raise ExportRefused(
            "The log is the oracle's: its submissions are made from the reference, and whoever"
            " gets them gets the answers. Nothing is written. Mend: export an agent's log; for"
            " tests of your own, --allow-oracle --submissions-only, and do not pass it on."
        )
    if claims is not None:
        raise ExportRefused(
            "The log is the oracle's, which is no result of an agent: there is no leaderboard"
            " entry of it. Mend: --submissions-only."
        )
    return replace(maker, note=ORACLE_NOTE)


def _refuse_oracle_at_second_hand(run: RunRead, folder: Path, *, allowed: bool) -> None:
    """Refuse what says of itself that it was exported from the oracle and handed in again."""
    path = folder / MANIFEST
    if allowed or not path.is_file() or path.stat().st_size > MANIFEST_BYTES:
        return
    told = read_manifest(path.read_bytes())[0]
    if told.agent_name == "oracle" or ORACLE_NOTE in (told.notes or ""):
        raise ExportRefused(
            f"{run.task_id}: the submission says that it is the oracle's, made from the reference."
            " Nothing is written. Mend: export an agent's log."
        )


def _folder_of(run: RunRead, maker: Maker) -> str:
    return "/".join([SUBMISSIONS, *map(component, (maker.agent, run.run_id, run.task_id))])


def _take(run: RunRead, submissions: Path, dest: Path) -> list[str]:
    """Copy a kept submission, found to be the one that was kept, and return its files."""
    record, name = run.record, f"{run.task_id} ({run.run_id})"
    if not record.kept:
        why = record.kept_note or "it was not kept"
        raise ExportRefused(
            f"{name}: expected a kept submission, got none: {why}. Mend: run with"
            " -T keep=deliverables or -T keep=all."
        )
    if "/" in record.kept or name_fault(record.kept):
        raise ExportRefused(f"{name}: the log names no folder of kept submissions. Mend: none.")
    verify(submissions / record.kept, record.kept_files)
    size = sum(int(file["size"]) for file in record.kept_files)
    taker = Taker(dest, None, size)
    take_folder(submissions / record.kept, taker)
    taken = taker.done()
    told = {str(file["path"]): str(file["sha256"]) for file in record.kept_files}
    if {file.path: file.sha256 for file in taken.kept} != told:
        raise ExportRefused(
            f"{name}: the kept submission changed while it was read. Mend: export it again when"
            " nothing writes there."
        )
    return sorted(told)


def _pack(run: RunRead, maker: Maker, source: Path, paths: list[str], dest: Path) -> list[str]:
    """Write one submission, and return what its reader should know."""
    places = layout(paths, run.found)
    for path, place in places.items():
        target = dest / place
        target.parent.mkdir(parents=True, exist_ok=True)
        (source / path).rename(target)
    (dest / ARTIFACTS).mkdir(parents=True, exist_ok=True)
    inside = f"{ARTIFACTS}/" if MANIFEST in paths else ""
    seen = {path.removeprefix(inside): place for path, place in places.items()}
    metrics = metrics_text(run)
    texts = {MANIFEST: manifest_text(run, maker), DELIVERABLES_FILE: deliverables_text(run, seen)}
    if metrics is not None:
        texts[f"{ARTIFACTS}/{SUPPORTING}/{METRICS}"] = metrics
    for place, text in texts.items():
        (dest / place).parent.mkdir(parents=True, exist_ok=True)
        (dest / place).write_text(text, encoding="utf-8")
    return _warnings(run, seen)


def _warnings(run: RunRead, seen: dict[str, str]) -> list[str]:
    name = f"{run.task_id} ({run.run_id})"
    lost = [
        file
        for files in run.found.values()
        for file in files
        if not seen.get(file, "").startswith(f"{ARTIFACTS}/")
    ]
    told = [
        f"{name}: {printable(file)} was graded, but the published layout packs no such file as a"
        " deliverable: there the score may be another"
        for file in dict.fromkeys(lost)
    ]
    if run.record.kept_note:
        told.append(f"{name}: not all was kept: {run.record.kept_note}")
    return told
