"""One thing that is wrong: where, what was expected, what is there, and how to mend it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from scorers.strict_yaml import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Severity = Literal["error", "warning"]

# How `scorers.strict_yaml` words what does not fit.
_FAULT = re.compile(
    r"(?P<where>.+?): expected (?P<expected>.+), got:? (?P<got>.+)\. Mend: (?P<mend>.+)"
)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    where
        File, and field in it, relative to what was checked.
    severity
        An `error` breaks the task or loses a deliverable; a `warning` seldom is what was meant.
    """

    where: str
    expected: str
    got: str
    mend: str
    severity: Severity = "error"

    @property
    def text(self) -> str:
        """The finding as one sentence and its mend."""
        return f"{self.where}: expected {self.expected}, got {self.got}. Mend: {self.mend}."

    def to_json(self) -> dict[str, str]:
        """Return the finding as a JSON-able mapping."""
        return asdict(self)


def findings_of(fault: Exception, root: Path) -> list[Finding]:
    """Return what a fault tells, a finding a line, with paths relative to `root`."""
    found = []
    for line in str(fault).replace(f"{root}/", "").splitlines():
        told = _FAULT.fullmatch(line)
        if told is None:
            found.append(Finding(root.name, "what the format asks for", line, "correct it"))
            continue
        found.append(
            Finding(told["where"], told["expected"], told["got"], told["mend"].rstrip("."))
        )
    return found


def unknown_keys(where: str, keys: Iterable[object], known: Sequence[str]) -> list[Finding]:
    """Return a finding for each key that is not known: an error where it looks mistyped."""
    found = []
    for key in map(str, keys):
        if key not in known:
            hint = near(key, known)
            mend = f"rename {key!r}{hint}" if hint else f"remove {key!r}, which nothing reads"
            expected = f"only the keys {', '.join(known)}"
            found.append(Finding(where, expected, repr(key), mend, "error" if hint else "warning"))
    return found
