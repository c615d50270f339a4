"""Pairing predicted with reference image files by their names, by the published rules."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = "(?:masks?|seg|segmentation|pred|prediction|labels?|output|result)"
_LEADING_ID = re.compile(r"^[a-z0-9]+_", re.IGNORECASE)
_LEADING_WORD = re.compile(rf"^(?:nuclei|cytoplasm|{_WORD})_", re.IGNORECASE)
_TRAILING_WORD = re.compile(rf"_{_WORD}$", re.IGNORECASE)


@dataclass(frozen=True)
class Pairing:
    """Which prediction goes with which reference.

    Attributes
    ----------
    pairs
        (prediction, reference) as positions in the two lists, in the order of predictions.
    method
        `stem`, `index`, `sorted`, or `none` where nothing was paired.
    low_confidence
        True for `sorted`, which only counts files.
    """

    pairs: tuple[tuple[int, int], ...]
    method: Literal["stem", "index", "sorted", "none"]
    low_confidence: bool = False


def match_predictions(
    predictions: Sequence[str], references: Sequence[str], listed: Sequence[int] = ()
) -> Pairing:
    """Pair file stems: by name, by number where that pairs more, by order as a last resort.

    Parameters
    ----------
    predictions, references
        File names without their last suffix, each list in path order.
    listed
        Position of each reference in the listing of its folder. The published last resort leaves
        references of equal number in that order, which depends on the file system; nothing else
        here does. By default path order.
    """
    by_stem = _by_stem(predictions, references)
    by_index = _by_index(predictions, references)
    if len(by_index) > len(by_stem):
        return Pairing(tuple(by_index), "index")
    if by_stem:
        return Pairing(tuple(by_stem), "stem")
    if predictions and len(predictions) == len(references):
        order = zip(_in_order(predictions), _in_order(references, listed), strict=True)
        return Pairing(tuple(sorted(order)), "sorted", low_confidence=True)
    return Pairing((), "none")


def normalised(stem: str) -> str:
    """Return a stem without a leading identifier and the words that mean a mask, lower-cased."""
    for pattern in (_LEADING_ID, _LEADING_WORD, _TRAILING_WORD):
        stem = pattern.sub("", stem)
    return stem.lower()


def number_of(stem: str) -> int | None:
    """Return the longest run of digits (the first of equals) as a number, or None."""
    runs = re.findall(r"[0-9]+", stem)
    return int(max(runs, key=len)) if runs else None


def _by_stem(predictions: Sequence[str], references: Sequence[str]) -> list[tuple[int, int]]:
    exact = {stem: index for index, stem in enumerate(references)}
    loose = {normalised(stem): index for index, stem in enumerate(references)}
    used: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for index, stem in enumerate(predictions):
        reference = _named_alike(stem, exact, loose)
        # A prediction whose reference is taken gets no second choice.
        if reference is not None and reference not in used:
            used.add(reference)
            pairs.append((index, reference))
    return pairs


def _named_alike(stem: str, exact: dict[str, int], loose: dict[str, int]) -> int | None:
    short = normalised(stem)
    for key, table in ((stem, exact), (short, exact), (short, loose)):
        if key in table:
            return table[key]
    return next((index for end, index in exact.items() if stem.endswith(end)), None)


def _by_index(predictions: Sequence[str], references: Sequence[str]) -> list[tuple[int, int]]:
    numbers = [number_of(stem) for stem in references]
    occurrences = Counter(numbers)
    free = {
        number: index
        for index, number in enumerate(numbers)
        if number is not None and occurrences[number] == 1
    }
    pairs: list[tuple[int, int]] = []
    for index, stem in enumerate(predictions):
        number = number_of(stem)
        if number in free:
            pairs.append((index, free.pop(number)))
    return pairs


def _in_order(stems: Sequence[str], listed: Sequence[int] = ()) -> list[int]:
    def rank(index: int) -> tuple[bool, int, str]:
        number = number_of(stems[index])
        return (True, 0, stems[index].lower()) if number is None else (False, number, "")

    before = sorted(range(len(stems)), key=lambda index: listed[index]) if listed else None
    return sorted(before or range(len(stems)), key=rank)
