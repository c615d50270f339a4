"""Words of the rubric that a submission repeats: an agent never saw the rubric, a judge did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorers.rubric.evidence import MOST_FLAGS, Flag
from scorers.rubric.fencing import Found, harmless_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorers.rubric.evidence import Evidence

COPIED = "copied_rubric"
# So many words in a row are no accident; nor is the whole of an item that is hardly shorter.
_RUN = 8
_SHORTEST = 6
_MOST_FOUND = 20
_SNIPPET = 200
_WORD = re.compile(r"[^\W_]+")

_Runs = dict[int, set[tuple[str, ...]]]


def copied(text: str, item_texts: Iterable[str]) -> tuple[Found, ...]:
    """Return the places of a text that repeat several words in a row of an item.

    Parameters
    ----------
    text
        Of the submission.
    item_texts
        Texts of the items of a rubric.
    """
    return tuple(_places(text, _runs(item_texts)))


def with_copies_flagged(evidence: Evidence, item_texts: Iterable[str]) -> Evidence:
    """Return evidence with a flag more for each place that repeats an item of the rubric."""
    runs = _runs(item_texts)
    texts = [(part.ref, part.text) for part in evidence.documents]
    texts += [(part.ref, part.head) for part in evidence.tables]
    flags = [
        Flag(where=ref, kind=place.kind, snippet=place.snippet)
        for ref, text in texts
        for place in _places(text, runs)
    ]
    told = [*evidence.flags, *flags][:MOST_FLAGS]
    return evidence.model_copy(update={"flags": told})


def _runs(item_texts: Iterable[str]) -> _Runs:
    runs: _Runs = {}
    for text in item_texts:
        words = [word.lower() for word in _WORD.findall(text)]
        length = min(_RUN, len(words))
        if length >= _SHORTEST:
            starts = range(len(words) - length + 1)
            runs.setdefault(length, set()).update(tuple(words[i : i + length]) for i in starts)
    return runs


def _places(text: str, runs: _Runs) -> Iterator[Found]:
    found = list(_WORD.finditer(text))
    words = [match[0].lower() for match in found]
    place, told = 0, 0
    while place < len(words) and told < _MOST_FOUND:
        reach = place
        for length, known in runs.items():
            at = place
            while at <= max(reach, place) and tuple(words[at : at + length]) in known:
                reach, at = max(reach, at + length), at + 1
        if reach > place:
            snippet = text[found[place].start() : found[reach - 1].end()]
            yield Found(COPIED, harmless_line(snippet, _SNIPPET).text)
            told += 1
        place = max(reach, place + 1)
