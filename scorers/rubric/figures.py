"""Which images of a submission are figures, and the figures drawn for a judge."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from scorers.errors import SubmissionFault
from scorers.rubric.evidence import FIGURE_BYTES, MOST_FIGURES, Facts, Figure, Undrawn
from scorers.rubric.gathering.telling import SHORTENED
from scorers.rubric.rendering.drawing import FORMATS, Drawn, draw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.gathering.telling import Telling

Images = Literal["none", "plots", "all"]

SIDE = 1024
TIFFS = frozenset({".tif", ".tiff"})
_TOTAL_BYTES = 4_500_000
_PER_GROUP = 2
_PDF_PAGES = 2
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Wanted:
    """Which figures, and how large: `none`, `plots` (no TIFFs) or `all`; the longer side."""

    images: Images = "plots"
    side: int = SIDE


def chosen(
    files: Iterable[SubmittedFile], patterns: Sequence[str], images: Images
) -> list[SubmittedFile]:
    """Return the images that are figures, as the published judge picks them.

    Names that fit a deliverable's pattern are dropped unless nothing would remain. The rest is
    grouped by folder, stem with all numbers alike, and suffix; of each group two, small groups
    first. TIFFs come after all others: `plots` are the first ones of `all`.
    """
    if images == "none":
        return []
    files = list(files)
    plots = _picked([file for file in files if file.suffix in FORMATS], patterns, keep=True)
    if images == "plots":
        return plots
    stacks = [file for file in files if file.suffix in TIFFS]
    return plots + _picked(stacks, patterns, keep=not plots)


def _picked(
    found: list[SubmittedFile], patterns: Sequence[str], *, keep: bool
) -> list[SubmittedFile]:
    """Return two of each group; with `keep` deliverables too where there is nothing else."""
    lowered = [pattern.lower() for pattern in patterns]
    free = [
        file
        for file in found
        if not any(fnmatchcase(file.name.lower(), pattern) for pattern in lowered)
    ]
    groups: dict[tuple[str, str, str], list[SubmittedFile]] = {}
    for file in sorted(free or (found if keep else []), key=lambda file: file.path.parts):
        key = str(file.path.parent), _DIGITS.sub("#", file.stem), file.suffix
        groups.setdefault(key, []).append(file)
    ordered = sorted(groups.values(), key=lambda group: (len(group), group[0].path.parts))
    return [file for group in ordered for file in group[:_PER_GROUP]]


def figures_of(
    files: Iterable[SubmittedFile],
    patterns: Sequence[str],
    wanted: Wanted,
    limits: Limits,
    telling: Telling,
) -> tuple[list[Figure], list[Undrawn]]:
    """Draw the figures among files; what cannot be drawn is listed with the reason.

    Parameters
    ----------
    files
        Of the submission.
    patterns
        Of the names of deliverables.
    wanted
        Which, and how large.
    limits
        Bounds on what is read.
    telling
        Makes names harmless.
    """
    candidates = chosen(files, patterns, wanted.images)
    sheet = _Sheet(wanted.side, limits, telling)
    for file in candidates[:MOST_FIGURES]:
        sheet.add(file)
    if len(candidates) > MOST_FIGURES:
        more = len(candidates) - MOST_FIGURES
        telling.flag("name:figures", SHORTENED, f"{more} further figures are not shown")
    return sheet.figures, sheet.undrawn


class _Sheet:
    def __init__(self, side: int, limits: Limits, telling: Telling) -> None:
        self._side = side
        self._limits = limits
        self._telling = telling
        self._left = _TOTAL_BYTES
        self.figures: list[Figure] = []
        self.undrawn: list[Undrawn] = []

    def add(self, file: SubmittedFile) -> None:
        pages = self._add_page(file, 0)
        for page in range(1, min(pages, _PDF_PAGES) if file.suffix == ".pdf" else 1):
            self._add_page(file, page)

    def _add_page(self, file: SubmittedFile, page: int) -> int:
        """Draw one page and return how many there are."""
        room = MOST_FIGURES - len(self.figures)
        if not room:
            return 0
        path = self._telling.path(file.path)
        try:
            drawn = draw(
                file, self._limits, self._side, min(FIGURE_BYTES, self._left // room), page
            )
        except SubmissionFault as fault:
            reason = self._telling.reason(f"name:{path}"[:200], str(fault))
            self.undrawn.append(Undrawn(path=path, reason=reason))
            return 0
        self._left -= len(drawn.png)
        self.figures.append(self._figure(path, drawn, page))
        return int(drawn.facts["pages"])

    def _figure(self, path: str, drawn: Drawn, page: int) -> Figure:
        facts = Facts.model_validate(drawn.facts)
        width, height = drawn.size
        return Figure(
            ref=f"figure:{len(self.figures) + 1}",
            path=path,
            kind="image" if facts.format == "TIFF" else "plot",
            caption=f"{path}: {_told(facts, page)}{f'; {drawn.note}' if drawn.note else ''}",
            media_type="image/png",
            width=width,
            height=height,
            facts=facts,
            data=base64.b64encode(drawn.png).decode("ascii"),
        )


def _told(facts: Facts, page: int) -> str:
    unit = "pt" if facts.format == "PDF" else "px"
    parts = [facts.format, f"{facts.width:g} × {facts.height:g} {unit}"]
    if facts.dpi is not None:
        parts.append(f"{facts.dpi:g} dpi")
    if facts.pages > 1 and facts.format == "PDF":
        parts.append(f"page {page + 1} of {facts.pages}")
    return ", ".join(parts)
