"""Names that a person typed: near matches for wrong ones, patterns for many at once."""

from __future__ import annotations

import difflib
import fnmatch
from typing import TYPE_CHECKING

from evals.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 24


def unknown(kind: str, name: object, choices: Iterable[str]) -> UnknownNameError:
    """Return the error for a name that does not exist.

    Args:
        kind: What the name was meant to be, such as "task id".
        name: What was typed.
        choices: The names that exist. Near ones become the hint, the first ones are listed.
    """
    known = sorted(choices, key=str.casefold)
    listed = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
    close = near_matches(str(name), known)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "choose one of them."
    expected = f"expected one of: {listed}" if known else "there is none to choose from"
    return UnknownNameError(f"Unknown {kind} {name!r}: {expected}. Mend: {hint}")


def near_matches(name: str, choices: Iterable[str]) -> list[str]:
    """Return at most three choices that look or begin like `name`, the nearest first."""
    folded = {choice.casefold(): choice for choice in choices}
    wanted = name.casefold()
    parts = [key for key in folded if wanted and wanted in key]
    close = difflib.get_close_matches(wanted, folded, n=3, cutoff=0.5)
    return [folded[key] for key in dict.fromkeys([*close, *parts])][:3]


def select(kind: str, wanted: str | Sequence[str] | None, choices: Sequence[str]) -> list[str]:
    """Return the choices that ids or glob patterns name, in the order of the choices.

    Args:
        kind: What the names are, such as "task id", for the error.
        wanted: One id or pattern, several (a list, or text with commas), or None for all.
        choices: The names that exist.

    Raises:
        UnknownNameError: One of the patterns matches nothing.
    """
    if wanted is None:
        return list(choices)
    texts = [wanted] if isinstance(wanted, str) else wanted
    patterns = [part.strip() for text in texts for part in str(text).split(",") if part.strip()]
    if not patterns:
        raise unknown(kind, wanted, choices)
    kept: set[str] = set()
    for pattern in patterns:
        matched = [name for name in choices if fnmatch.fnmatchcase(name, pattern)]
        if not matched:
            raise unknown(kind, pattern, choices)
        kept.update(matched)
    return [name for name in choices if name in kept]
