"""What the columns of a submitted table hold, told by their headings."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorers.files.columns import Columns

    Floats = NDArray[np.float64]

_ADJUSTED = re.compile(r"adj|(?<!un)correct|holm|fdr|bonf|sidak|benjamini|^bh$|^q$|hochberg")
_P = re.compile(r"^(?:p|pval(?:ue)?s?|praw|rawp|uncorrectedp|punc(?:orrected)?|nominalp)$")
_P_OF_TEST = re.compile(
    r"^(?:p|pval(?:ue)?)(?:mannwhitneyu?|mwu?|wilcoxon|ttest|t|welch|ks|dunn|raw|uncorrected)$"
    r"|^(?:mannwhitneyu?|mwu?|wilcoxon|ttest|welch|ks|dunn|raw|uncorrected)(?:p|pval(?:ue)?)$"
)
_Q = re.compile(r"^(?:q|qval(?:ue)?s?|fdr|padj\w*)$")
_N = re.compile(r"^(?:n|count|size|ncells?|nnuclei|nimages?|nobs|samplesize|numberofcells)$")
_EFFECT = re.compile(
    r"cohen|cliff|hedges|glass|effect|rankbiserial|biserial|etasq|eta2|epsilonsq|omega|"
    r"^(?:mean|median)?diff(?:erence)?|hodgeslehmann|foldchange|oddsratio|^(?:a12|cles|auc)$"
)
_SPREAD = re.compile(
    r"(?:^|\W|_)(?:ci|low|high|lower|upper|sd|std|sem|stderr)(?:$|\W|_|\d)|ci95|95ci"
)
_LABEL = re.compile(r"^(?:label|labelid|objectid|cellid|nucleusid|id|object|cell|nucleus)$")
_TRACK = re.compile(r"^(?:track|trackid|particle|particleid|trajectory|tid)$")
_FRAME = re.compile(r"^(?:frame|frameid|t|time|timepoint|timepoints|timeframe|timeindex)$")
_PAIRS = (
    ("condition1", "condition2"), ("group1", "group2"), ("conditiona", "conditionb"),
    ("groupa", "groupb"), ("a", "b"), ("left", "right"), ("reference", "condition"),
    ("control", "condition"), ("control", "treatment"),
)  # fmt: skip
_PAIRED_N = (("n1", "n2"), ("na", "nb"), ("nleft", "nright"), ("nreference", "ncondition"))


def plain(name: str) -> str:
    """Return a heading in lower case without anything but letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def raw_p(table: Columns) -> int | None:
    """Return the column of uncorrected p-values."""
    return _first(table, lambda name: bool(_P.match(name) or _P_OF_TEST.match(name)))


def adjusted_p(table: Columns) -> int | None:
    """Return the column of p-values corrected for several comparisons."""
    return _first(
        table,
        lambda name: bool(_Q.match(name) or ("p" in name and _ADJUSTED.search(name))),
    )


def pair_columns(table: Columns) -> tuple[int, int] | None:
    """Return the two columns that name what is compared."""
    places = {plain(name): at for at, name in enumerate(table.names)}
    for one, other in _PAIRS:
        if one in places and other in places:
            return places[one], places[other]
    return None


def paired_n(table: Columns) -> tuple[int, int] | None:
    """Return the two columns with the numbers of values on both sides of a comparison."""
    places = {plain(name): at for at, name in enumerate(table.names)}
    for one, other in _PAIRED_N:
        if one in places and other in places:
            return places[one], places[other]
    return None


def n_column(table: Columns) -> int | None:
    """Return the column with the number of values behind a row."""
    return _first(table, lambda name: bool(_N.match(name)))


def effect_columns(table: Columns) -> list[int]:
    """Return the columns with sizes of effects."""
    return [at for at, name in enumerate(table.names) if _EFFECT.search(plain(name))]


def spread_columns(table: Columns) -> list[int]:
    """Return the columns with intervals or standard deviations."""
    return [at for at, name in enumerate(table.names) if _SPREAD.search(name.lower())]


def label_column(table: Columns) -> int | None:
    """Return the column with the numbers of objects in a label image."""
    return _first(table, lambda name: bool(_LABEL.match(name)))


def track_column(table: Columns) -> int | None:
    """Return the column with the ids of tracks."""
    return _first(table, lambda name: bool(_TRACK.match(name)))


def frame_column(table: Columns) -> int | None:
    """Return the column with frames."""
    return _first(table, lambda name: bool(_FRAME.match(name)))


def numeric_columns(table: Columns) -> dict[int, Floats]:
    """Return the columns of which at least nine in ten cells are finite numbers."""
    found: dict[int, Floats] = {}
    for at in range(len(table.names)):
        values = table.numbers(at)
        if values.size and np.isfinite(values).mean() >= 0.9:
            found[at] = values
    return found


def groupings(table: Columns, most: int = 200) -> dict[int, Counter[str]]:
    """Return the columns that sort rows into groups, with the rows of each group."""
    found: dict[int, Counter[str]] = {}
    for at in range(len(table.names)):
        counts = Counter(table.texts(at))
        if 1 <= len(counts) <= most and "" not in counts:
            found[at] = counts
    return found


def _first(table: Columns, fits: Callable[[str], bool]) -> int | None:
    names = (plain(name) for name in table.names)
    return next((at for at, name in enumerate(names) if fits(name)), None)
