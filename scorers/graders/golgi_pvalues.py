"""Where the p-value of a comparison comes from, as published: told, written, or worked out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.limits import MIB
from scorers.files.tables import read_text
from scorers.graders.golgi_tables import plain
from scorers.metrics.distributions import mann_whitney_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.graders.golgi_tables import Pair

REPORTED = "reported"
RECOMPUTED = "recomputed_mannwhitney"
_TEXTS = frozenset({".txt", ".md", ".log", ".csv"})
_MENTION = re.compile(r"p[- ]value")
_ASSIGNED = re.compile(r"p[- ]?value\s*[:=]\s*([0-9e+.\-]+)")
# Literal names first, which makes it as fast to look for as a word.
_LISTED = r"{}[^\S\n]+{}[^\S\n]+((?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)"
# Of all texts together; a million lines that nearly fit take some seconds.
_MOST_TEXT = 16 * MIB
# Python reads longer digits as well, but in time that grows with the square of their number.
_LONGEST = 400


@dataclass
class Evidence:
    """All that a submission says about the difference of two conditions.

    Attributes
    ----------
    reported
        p-values of the pairwise tables by ordered pair of `plain` names.
    samples
        Coefficients by `plain` name.
    job
        Whose texts are searched, once one is needed.
    """

    reported: Mapping[Pair, float]
    samples: Mapping[str, NDArray[np.float64]]
    job: Job
    _text: str | None = field(default=None, repr=False)
    _found: dict[Pair, tuple[float | None, str | None]] = field(default_factory=dict, repr=False)

    def p_value(self, left: str, right: str) -> tuple[float | None, str | None]:
        """Return the p-value of a pair and where it comes from; None twice if there is none.

        As published, a p-value told as exactly 0 counts as absent in this order of the names,
        though not in the other.
        """
        if (left, right) not in self._found:
            self._found[left, right] = self._search(left, right)
        return self._found[left, right]

    def _search(self, left: str, right: str) -> tuple[float | None, str | None]:
        one, other = plain(left), plain(right)
        p = self.reported.get((one, other)) or self.reported.get((other, one))
        if p is None:
            p = written_p(self.text, left, right)
        if p is not None:
            return p, REPORTED
        p = self.recomputed(left, right)
        return p, None if p is None else RECOMPUTED

    def recomputed(self, left: str, right: str) -> float | None:
        """Return the two-sided Mann-Whitney p-value of the submitted coefficients."""
        one, other = self.samples.get(plain(left)), self.samples.get(plain(right))
        return None if one is None or other is None else mann_whitney_p(one, other)

    def has_samples(self, left: str, right: str) -> bool:
        """Return whether there are coefficients of both conditions."""
        return plain(left) in self.samples and plain(right) in self.samples

    @property
    def text(self) -> str:
        """All texts of the submission in path order, without those beyond the limit."""
        if self._text is None:
            self._text = _joined(self.job)
        return self._text


def written_p(text: str, left: str, right: str) -> float | None:
    """Return the p-value that a text gives for two conditions, None if it gives none.

    First choice is a line with both names and a p-value that is assigned (`p-value: 0.01`), second
    one that lists the two names and a number. The time is linear in the length of the text.
    """
    text, names = text.lower(), (left.lower(), right.lower())
    for line in _lines_with(text, names[0]):
        assigned = _ASSIGNED.search(line) if names[1] in line and _MENTION.search(line) else None
        p = _parsed(assigned.group(1)) if assigned else None
        if p is not None:
            return p
    listed = [_LISTED.format(re.escape(a), re.escape(b)) for a, b in (names, names[::-1])]
    found = [match for pattern in listed if (match := re.search(pattern, text))]
    return _parsed(min(found, key=lambda match: match.start()).group(1)) if found else None


def _lines_with(text: str, name: str) -> Iterator[str]:
    end = 0
    while (place := text.find(name, end)) >= 0:
        start = max(text.rfind("\n", end, place) + 1, end)
        end = text.find("\n", place)
        if end < 0:
            end = len(text)
        yield text[start:end]


def _parsed(digits: str) -> float | None:
    if len(digits) > _LONGEST:
        return None
    try:
        return float(digits)
    except ValueError:
        return None


def _joined(job: Job) -> str:
    texts: list[str] = []
    room = min(job.limits.text_bytes, _MOST_TEXT)
    for file in job.submission.files:
        if file.suffix in _TEXTS and file.size <= room:
            try:
                texts.append(read_text(file, job.limits))
            except SubmissionFault:
                continue
            room -= file.size
    return "\n".join(texts).replace("\r", "\n")
