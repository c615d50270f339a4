"""Checks of tables of single objects against label images and raw images."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.rubric.checks.linking import LEAST_OBJECTS, linked
from scorers.rubric.checks.results import Finding, file_refs, weak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.files.columns import Columns
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.linking import Linked
    from scorers.rubric.checks.scene import Scene

    Floats = NDArray[np.float64]

_MATCHING_SHARE = 0.95
_RELATIVE = 0.01
_PIXELS = re.compile(r"^(\w*?)_?(?:px2?|pixels?|voxels?|vx)$")
_MICROMETRES = re.compile(r"^(\w*?)_?(?:um2|µm2|um\^?2|µm²|um3|µm³|um\^?3)$")
_SIZES = {2: ("area", "cell_area", "nucleus_area", "size"), 3: ("volume", "cell_volume")}
_AREA = re.compile(r"area|volume|size", re.IGNORECASE)
_INTENSITY = re.compile(r"intens|^mean|mean$|fluoresc|signal|brightness", re.IGNORECASE)
_CORRECTED = re.compile(r"bg|background|correct|subtract|net", re.IGNORECASE)
_NONE = Finding("unknown", "No table lists objects of a label image that was handed in.")


def table_matches_labels(scene: Scene) -> Finding:
    """Check that each row of a table of objects is an object of its label image."""
    links = linked(scene)
    if not links:
        return _NONE
    rows = sum(len(link.rows) for link in links)
    there = sum(int((link.sizes > 0).sum()) for link in links)
    objects = sum(link.n_in_image for link in links)
    says = f"{there} of {rows} rows name one of the {objects} objects in {len(links)} label images."
    fits = there >= _MATCHING_SHARE * rows and there >= _MATCHING_SHARE * objects
    if fits:
        return Finding("pass", says, links[0].refs)
    # Other numbers than labels may stand in a column of cells or objects.
    sure = there < rows / 2 and all(link.named_label for link in links)
    return Finding("fail", says, links[0].refs) if sure else weak(says, links[0].refs)


def area_units(scene: Scene) -> Finding:
    """Check that areas and volumes in µm are those in pixels times the size of a pixel."""
    if not scene.pixel_size_told:
        return Finding("not_applicable", "Nothing tells the size of a pixel.")
    for file, table in scene.tables:
        for pixels, micrometres, power in unit_pairs(table):
            if power == 2 and scene.volumes:
                # How an area in a volume comes from pixels depends on its direction.
                continue
            ratio = constant_ratio(table.numbers(pixels), table.numbers(micrometres))
            return _compared(ratio, scene.unit_um(power), power, file)
    for link in linked(scene):
        for at, name in enumerate(link.table.names):
            match = _MICROMETRES.match(name.lower())
            power = 3 if scene.volumes else 2
            if match and match[1] in _SIZES[power]:
                told = link.table.numbers(at)[link.rows]
                ratio = constant_ratio(link.sizes, told)
                return _compared(ratio, scene.unit_um(power), power, link.table_file)
    return Finding("unknown", "No table has areas both in pixels and in µm.")


def raw_intensity(scene: Scene) -> Finding:
    """Work mean intensities of objects out from the raw image."""
    verdicts = [fit for link in linked(scene) for fit in _fits(link)]
    if not verdicts:
        return Finding("unknown", "No table has intensities of objects that can be worked out.")
    raw = [fit for fit in verdicts if fit.is_raw]
    link = verdicts[0].link
    if raw:
        says = (
            f"{len(raw)} of {len(verdicts)} columns of intensity equal the means of the raw image, "
            f"but for a constant of {raw[0].offset:.4g}."
        )
        return Finding("pass", says, link.refs)
    if all(fit.is_line for fit in verdicts) and _differ(verdicts):
        says = f"One column of intensities is stretched differently in {len(verdicts)} images."
        return Finding("fail", says, link.refs)
    return weak("Intensities are not those of the raw image, nor these less a constant.", link.refs)


def background_offset(scene: Scene) -> Finding:
    """Check whether a constant background was taken from mean intensities."""
    fits = [fit for link in linked(scene) for fit in _fits(link) if fit.is_raw]
    if not fits:
        return Finding("unknown", "No table has intensities of objects that can be worked out.")
    link = fits[0].link
    taken = [fit.offset for fit in fits if fit.offset < -_RELATIVE * fit.level]
    if taken:
        says = f"{len(taken)} of {len(fits)} columns have {-taken[0]:.4g} taken from the raw mean."
        return Finding("pass", says, link.refs)
    if any(_CORRECTED.search(name) for name in link.table.names):
        return weak("Raw means, beside other columns named after a background.", link.refs)
    return Finding("fail", f"{len(fits)} columns are raw means with nothing subtracted.", link.refs)


@dataclass(frozen=True)
class _Fit:
    """How a column follows from the mean of a raw channel: slope, offset, and how well."""

    link: Linked
    column: str
    slope: float
    offset: float
    level: float
    error: float

    @property
    def is_line(self) -> bool:
        return self.error <= _RELATIVE * max(abs(self.slope) * self.level, 1e-12)

    @property
    def is_raw(self) -> bool:
        return self.is_line and abs(self.slope - 1) <= _RELATIVE


def _differ(fits: list[_Fit]) -> bool:
    """Return whether one column follows from several images by factors that differ."""
    slopes: dict[str, list[float]] = {}
    for fit in fits:
        slopes.setdefault(fit.column, []).append(fit.slope)
    return any(max(each) - min(each) > 2 * _RELATIVE * abs(max(each)) for each in slopes.values())


def unit_pairs(table: Columns) -> Iterator[tuple[int, int, int]]:
    """Yield columns of one quantity in pixels and in µm, and the power of the unit."""
    names = [name.lower() for name in table.names]
    pixels = {match[1]: at for at, name in enumerate(names) if (match := _PIXELS.match(name))}
    pixels |= {name: at for at, name in enumerate(names) if name in {"area", "volume"}}
    for at, name in enumerate(names):
        match = _MICROMETRES.match(name)
        if match and match[1] in pixels and _AREA.search(match[1]) and "surface" not in name:
            yield pixels[match[1]], at, 3 if "3" in name or "³" in name else 2


def constant_ratio(pixels: Floats, micrometres: Floats) -> float | None:
    """Return the factor between two columns; None if there is not one, nan if nothing is there."""
    known = np.isfinite(pixels) & np.isfinite(micrometres) & (pixels > 0)
    if not known.any():
        return math.nan
    ratio = micrometres[known] / pixels[known]
    middle = float(np.median(ratio))
    if not middle > 0:
        return None
    # Small numbers are rounded most.
    off = np.abs(micrometres[known] - middle * pixels[known])
    fits = off <= np.maximum(_RELATIVE * np.abs(micrometres[known]), 0.01)
    return middle if fits.mean() >= _MATCHING_SHARE else None


def _fits(link: Linked) -> Iterator[_Fit]:
    """Yield for each column of intensity how it follows from the best raw channel."""
    for at, name in enumerate(link.table.names):
        if not _INTENSITY.search(name):
            continue
        told = link.table.numbers(at)[link.rows]
        found = [fit for mean in link.means if (fit := _fit(link, name, told, mean)) is not None]
        if found:
            yield min(found, key=lambda fit: fit.error)


def _fit(link: Linked, column: str, told: Floats, mean: Floats) -> _Fit | None:
    known = np.isfinite(told) & (link.sizes > 0)
    x, y = mean[known], told[known]
    if len(x) < LEAST_OBJECTS or np.ptp(x) <= 1e-9 or np.ptp(y) <= 1e-12:
        return None
    slope, offset = np.polyfit(x, y, 1)
    # The median shrugs off a few objects that were measured otherwise.
    error = float(np.median(np.abs(y - slope * x - offset)))
    return _Fit(link, column, float(slope), float(offset), float(np.mean(np.abs(x))), error)


def _compared(
    ratio: float | None, wanted: float | None, power: int, file: SubmittedFile
) -> Finding:
    refs = file_refs([file], "table")
    if wanted is None:
        return weak("The images tell no size of a pixel, or not all the same.", refs)
    if ratio is None:
        says = "Areas or volumes in µm are no constant multiple of those in pixels."
        return Finding("fail", says, refs)
    if math.isnan(ratio):
        return Finding("unknown", "The columns of areas hold no numbers.", refs)
    says = f"One pixel counts as {ratio:.4g} µm to the {power}; its size makes that {wanted:.4g}."
    close = abs(ratio / wanted - 1) <= 2 * _RELATIVE
    return Finding("pass" if close else "fail", says, refs)
