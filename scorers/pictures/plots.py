"""Small plots of numbers: values by group, cumulative shares, curves. Dark, like the overlays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorers.pictures.canvas import Colour, with_legend

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

    from scorers.pictures.canvas import Image

Values = NDArray[np.float64]
Range = tuple[float, float]
# A name, and one or more series of finite values with their colours; a series may be empty.
Group = tuple[str, Sequence[tuple[Colour, Values]]]

_GROUND = (24, 24, 24)
_AXIS = (150, 150, 150)
_WORDS = (235, 235, 235)
_LEFT, _TOP, _RIGHT, _BOTTOM = 44, 20, 10, 20
# More points than this of one series show nothing that fewer do not.
_MOST_POINTS = 600
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Curve:
    """Points, shapes (n,), with a line through the means of those that share a place."""

    x: Values
    y: Values
    colour: Colour


@dataclass(frozen=True)
class _Axes:
    """A frame in a picture and the ranges of the numbers in it; what is beyond lies at its edge."""

    pen: ImageDraw
    box: tuple[float, float, float, float]
    x_range: Range
    y_range: Range

    def x(self, values: Values) -> list[float]:
        """Return where numbers lie across, in pixels."""
        return _scaled(values, self.x_range, self.box[0], self.box[2])

    def y(self, values: Values) -> list[float]:
        """Return where numbers lie down, in pixels."""
        return _scaled(values, self.y_range, self.box[3], self.box[1])

    def frame(self, title: str, x_ticks: Mapping[float, str]) -> None:
        """Draw the frame, its title and the ticks."""
        from PIL import ImageFont

        font = ImageFont.load_default(size=11)
        left, top, _, bottom = self.box
        self.pen.rectangle(self.box, outline=_AXIS)
        self.pen.text((left, top - 16), title, fill=_WORDS, font=font)
        levels = np.linspace(*self.y_range, 5)
        for level, y in zip(levels.tolist(), self.y(levels), strict=True):
            self.pen.line((left - 4, y, left, y), fill=_AXIS)
            self.pen.text((left - 7, y), figure(level), fill=_WORDS, font=font, anchor="rm")
        for x, text in zip(self.x(np.array([*x_ticks])), x_ticks.values(), strict=True):
            self.pen.line((x, bottom, x, bottom + 4), fill=_AXIS)
            self.pen.text((x, bottom + 5), text, fill=_WORDS, font=font, anchor="ma")

    def dots(self, x: Values, y: Values, colour: Colour, radius: float) -> None:
        """Draw points, evenly chosen ones where there are too many to see."""
        step = max(-(-len(x) // _MOST_POINTS), 1)
        for at, down in zip(self.x(x[::step]), self.y(y[::step]), strict=True):
            self.pen.ellipse((at - radius, down - radius, at + radius, down + radius), fill=colour)

    def line(self, x: Values, y: Values, colour: Colour, width: int = 2) -> None:
        """Draw a line through points."""
        self.pen.line([*zip(self.x(x), self.y(y), strict=True)], fill=colour, width=width)


def strips(
    groups: Sequence[Group], y_range: Range, side: int, title: str, legend: Mapping[str, Colour]
) -> Image:
    """Return RGB bytes: the values of each group as columns of dots with bars at their medians."""
    sheet = _Sheet(side, 1)
    axes = sheet.axes(0, (0.0, float(len(groups))), y_range)
    axes.frame(title, {at + 0.5: name for at, (name, _) in enumerate(groups)})
    for at, (_, series) in enumerate(groups):
        width = 0.8 / len(series)
        for place, (colour, values) in enumerate(series):
            middle = at + 0.1 + (place + 0.5) * width
            # A fixed sequence that fills the column evenly, instead of chance.
            spread = np.asarray((np.arange(len(values)) * _GOLDEN) % 1 - 0.5, np.float64)
            axes.dots(middle + spread * (0.8 * width), values, colour, sheet.radius)
            if len(values):
                ends = middle + np.array([-0.45, 0.45]) * width
                axes.line(ends, np.full(2, np.median(values)), colour, 3)
    return with_legend(sheet.image, legend)


def steps(
    panels: Sequence[Group], x_range: Range, side: int, legend: Mapping[str, Colour]
) -> Image:
    """Return RGB bytes: the cumulative share of each series, a panel below the other."""
    ticks = {place: figure(place) for place in np.linspace(*x_range, 6).tolist()}
    sheet = _Sheet(side, len(panels))
    for at, (title, series) in enumerate(panels):
        axes = sheet.axes(at, x_range, (0.0, 1.0))
        axes.frame(title, ticks)
        for colour, values in series:
            if len(values):
                share = np.repeat(np.arange(len(values) + 1) / len(values), 2)
                places = np.repeat(np.sort(values), 2)
                corners = np.concatenate([x_range[:1], places, x_range[1:]])
                thin = max(len(corners) // (8 * side), 1)
                axes.line(corners[::thin], share[::thin], colour)
    return with_legend(sheet.image, legend)


def curves(
    panels: Sequence[tuple[str, Sequence[Curve]]],
    x_ticks: Mapping[float, str],
    y_range: Range,
    side: int,
    legend: Mapping[str, Colour],
) -> Image:
    """Return RGB bytes: curves, a panel below the other, from the first to the last tick."""
    across = (min(x_ticks) - 0.5, max(x_ticks) + 0.5)
    sheet = _Sheet(side, len(panels))
    for at, (title, drawn) in enumerate(panels):
        axes = sheet.axes(at, across, y_range)
        axes.frame(title, x_ticks)
        for curve in drawn:
            axes.dots(curve.x, curve.y, curve.colour, sheet.radius)
            places, own = np.unique(curve.x, return_inverse=True)
            if len(places) > 1:
                means = np.bincount(own, np.clip(curve.y, *y_range)) / np.bincount(own)
                axes.line(places, means, curve.colour)
    return with_legend(sheet.image, legend)


def span(*series: Values) -> Range:
    """Return a range that holds all values, a tenth wider than they need; 0 to 1 without any."""
    values = np.concatenate([np.zeros(0), *series])
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = (high / 20 - low / 20) or max(abs(low), 1.0) / 20
    return low - margin, high + margin


class _Sheet:
    """A picture `side` pixels wide with a number of panels, one below the other."""

    def __init__(self, side: int, panels: int) -> None:
        from PIL import Image as Pillow
        from PIL import ImageDraw

        self.radius = max(side / 320, 1.2)
        self._side = side
        self._tall = int(side * 0.62) if panels == 1 else int(side * 0.4)
        self._picture = Pillow.new("RGB", (side, self._tall * panels), _GROUND)
        self._pen = ImageDraw.Draw(self._picture)

    def axes(self, at: int, x_range: Range, y_range: Range) -> _Axes:
        """Return the frame of a panel."""
        top = at * self._tall
        box = (_LEFT, top + _TOP, self._side - _RIGHT, top + self._tall - _BOTTOM)
        return _Axes(self._pen, box, x_range, y_range)

    @property
    def image(self) -> Image:
        return np.asarray(self._picture)


def _scaled(values: Values, limits: Range, start: float, end: float) -> list[float]:
    share = (np.clip(values, *limits) - limits[0]) / (limits[1] - limits[0])
    places: list[float] = (start + share * (end - start)).tolist()
    return places


def figure(value: float) -> str:
    """Write a number for an axis, in six signs at most so that it fits beside the plot."""
    if 1000 <= abs(value) < 100_000:
        return f"{value:.0f}"
    return f"{value:.0e}" if abs(value) >= 100_000 else f"{value:.3g}"
