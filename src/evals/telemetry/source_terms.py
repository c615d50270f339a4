"""The names under which a task's own source is found: its DOIs, records and repositories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evals.telemetry.signs import LOOKED_UP, Rule

if TYPE_CHECKING:
    from scorers.specification import TaskSpec

_LEAST = 5  # letters of a name: shorter ones mean anything


def rule_for(spec: TaskSpec) -> Rule | None:
    """Return the rule that finds a task's own source, None where the task names none."""
    names = sorted(source_terms(spec))
    if not names:
        return None
    wanted = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)

    def find(line: str) -> tuple[int, int] | None:
        found = wanted.search(line)
        return found.span() if found else None

    why = "a name of the publication or data that the task goes back to"
    return Rule("source_paper", "source of the task", LOOKED_UP, find, why, online=True)


def source_terms(spec: TaskSpec) -> set[str]:
    """Return DOIs and the last names in addresses of a task's source."""
    terms: set[str] = set()
    for key, value in spec.source.items():
        if not isinstance(value, str):
            continue
        if key.endswith("doi"):
            terms.add(value.strip())
        elif key.endswith("url"):
            terms |= {re.split(r"[/=]", value.strip("/ "))[-1]}
    return {term for term in terms if len(term) >= _LEAST}
