"""Tables of normalised onset times by condition, and which condition is which."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.columns import Columns, as_columns, parsed
from scorers.files.tables import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile

_MOST_CONDITIONS = 10_000
_CONDITION = ("condition", "group", "sirna", "label", "sample")
_VALUE = ("start_normalized", "start normalized", "start_norm")
# Looked for in this order, as published: `untreated` is treated, and a control only by name.
_CLASSES = (
    ("control", ("sicontrol", "control", "si_control")),
    ("treated", ("si53bp1", "53bp1", "treated")),
)
_SHORTEST_PART = 4
_REPLICATE = re.compile(r"[\s_\-]*(?:(?:replicate|rep|r|movie|exp|n)[\s_\-]*)?[0-9]{1,3}$")
_CONTROL_WORDS = ("untreated", "sicontrol", "control", "ctrl", "scramble", "mock")

# Finite values by condition as written, in order of first appearance.
Onsets = dict[str, "NDArray[np.float64]"]


def read_reference(file: SubmittedFile, limits: Limits) -> Onsets:
    """Read a table of blocks side by side; empty if it is none."""
    return blocks(read_rows(file, limits))


def read_submitted(file: SubmittedFile, limits: Limits) -> Onsets:
    """Read one row an event, or else blocks side by side; empty if it is neither.

    Raises
    ------
    SubmissionFault
        The file cannot be read within the limits.
    """
    rows = read_rows(file, limits)
    return _long(as_columns(rows)) or blocks(rows)


def blocks(rows: Sequence[Sequence[str]]) -> Onsets:
    """Take onsets from blocks of columns.

    The first row names a condition where its block starts, the second the columns; of a block the
    first one whose name holds `start` and `normalized` counts, from the third row on.
    """
    if len(rows) < 3:
        return {}
    starts = [at for at, cell in enumerate(rows[0]) if cell.strip()]
    found: Onsets = {}
    for start, end in zip(starts, [*starts[1:], len(rows[1])], strict=True):
        heads = [cell.lower() for cell in rows[1][start:end]]
        hit = [at for at, head in enumerate(heads) if "start" in head and "normalized" in head]
        if hit:
            place = start + hit[0]
            values = parsed(row[place] if place < len(row) else None for row in rows[2:])
            found[rows[0][start].strip()] = values[np.isfinite(values)]
    return {name: values for name, values in found.items() if values.size}


def squeezed(name: str) -> str:
    """Return a condition's name in lower case and without blanks, to compare it."""
    return "".join(name.split()).lower()


def align(reference: Iterable[str], predicted: Sequence[str]) -> dict[str, str]:
    """Return the predicted name of each reference condition by the published rules.

    First by name, equal or one within the other, then by class, control or treated. A predicted
    name is used once; a reference condition without one is left out.
    """
    names = {name: squeezed(name) for name in predicted}
    aligned: dict[str, str] = {}
    for condition in reference:
        wanted = squeezed(condition)
        equal = (name for name, own in names.items() if own == wanted)
        within = (name for name, own in names.items() if own in wanted or wanted in own)
        name = next(equal, None) or next(within, None)
        if name is not None and name not in aligned.values():
            aligned[condition] = name
    for condition in reference:
        kind = _kind(condition)
        if condition not in aligned and kind is not None:
            used = set(aligned.values())
            free = (name for name in predicted if name not in used and _kind(name) == kind)
            name = next(free, None)
            if name is not None:
                aligned[condition] = name
    return {condition: aligned[condition] for condition in reference if condition in aligned}


def owner(name: str, reference: Sequence[str]) -> str | None:
    """Return the reference condition that a predicted name means, None if that is not clear.

    Names are compared without blanks, case, and what numbers a replicate, so that those of one
    condition come together. Otherwise the one reference name within it, or that it is within,
    counts, and at last its class, where `untreated` is a control.
    """
    own = _stem(name)
    stems = {condition: _stem(condition) for condition in reference}
    if not own:
        return None
    equal = [condition for condition, stem in stems.items() if stem == own]
    # A letter or two within a name mean nothing.
    part = own if len(own) >= _SHORTEST_PART else None
    within = [name for name, stem in stems.items() if stem in own or (part and part in stem)]
    sense = _sense(name)
    alike = [condition for condition in reference if sense and _sense(condition) == sense]
    for candidates in (equal, within, alike):
        if len(candidates) == 1:
            return candidates[0]
    return None


def _long(table: Columns) -> Onsets:
    condition, value = table.place(*_CONDITION), table.place(*_VALUE)
    if condition is None or value is None:
        return {}
    values = table.numbers(value)
    names = table.texts(condition)
    places: dict[str, list[int]] = {}
    for at in np.flatnonzero(np.isfinite(values)).tolist():
        if names[at]:
            places.setdefault(names[at], []).append(at)
    if len(places) > _MOST_CONDITIONS:
        raise SubmissionFault(f"a table of more than {_MOST_CONDITIONS} conditions")
    return {name: values[own] for name, own in places.items()}


def _kind(name: str) -> str | None:
    own = squeezed(name)
    return next((kind for kind, words in _CLASSES if any(word in own for word in words)), None)


def _sense(name: str) -> str | None:
    own = squeezed(name)
    if any(word in own for word in _CONTROL_WORDS):
        return "control"
    return _kind(name)


def _stem(name: str) -> str:
    """Return a name without what numbers a replicate and without separators."""
    own = name.strip().lower()[:200]
    stem = _REPLICATE.sub("", own)
    return re.sub(r"[\s_\-]+", "", stem or own)
