"""What a check says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scorers.rubric.fencing import harmless_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorers.files.tree import SubmittedFile

Verdict = Literal["pass", "fail", "not_applicable", "unknown"]

_MOST_REFS = 12
_LONGEST_PATH, _LONGEST_REF = 200, 120
_NOT_IN_A_REF = re.compile(r"[^\w./ +()-]")
# A name that turns to the judge is not repeated.
_RENAMED = "renamed"


@dataclass(frozen=True)
class Finding:
    """A verdict, a sentence with what was measured, and where.

    The sentence quotes nothing that an agent wrote: it goes into prompts and reports.
    """

    verdict: Verdict
    says: str
    refs: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """What the check of a name found."""

    check: str
    verdict: Verdict
    says: str
    refs: tuple[str, ...] = ()


def file_refs(files: Iterable[SubmittedFile], kind: str = "file") -> tuple[str, ...]:
    """Return references to the first of some files, of the form that evidence gives them."""
    refs: list[str] = []
    for file in files:
        if len(refs) == _MOST_REFS:
            break
        told = harmless_line(str(file.path), _LONGEST_PATH)
        name = _RENAMED if told.found else _NOT_IN_A_REF.sub("_", told.text)
        refs.append(f"{kind}:{name[:_LONGEST_REF]}")
    return tuple(dict.fromkeys(refs))


def weak(says: str, refs: tuple[str, ...] = ()) -> Finding:
    """Return what supports a decision but does not make one alone."""
    return Finding("unknown", f"Weak evidence: {says}", refs)
