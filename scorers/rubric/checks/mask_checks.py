"""Checks of delivered label images and masks."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.labels import LabelImage
from scorers.rubric.checks.labels import LabelFacts, look_at, one_pixel_wide
from scorers.rubric.checks.results import Finding, file_refs, weak

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

_MOST_PIXELS = 32_000_000
_MOST_FILES = 60
_SKELETON_NAME = re.compile(r"skelet|cent(?:re|er)_?line|medial", re.IGNORECASE)
# By nature a ring round the nucleus.
_RINGS = re.compile(r"cyto", re.IGNORECASE)
_SCATTERED_SHARE, _HOLED_SHARE, _SPECK_SHARE, _BINARY_SHARE = 0.5, 0.02, 0.05, 0.5
_INSIDE_SHARE = 0.9
NO_MASK = Finding("unknown", "No label image that the task asks for was delivered and read.")


@dataclass(frozen=True)
class Seen:
    """The delivered images of one form that were read, counted together."""

    facts: LabelFacts
    files: tuple[SubmittedFile, ...]

    @property
    def refs(self) -> tuple[str, ...]:
        """References to the files."""
        return file_refs(self.files)


def label_form(scene: Scene) -> Finding:
    """Check that label images have one whole number an object, masks one value for foreground."""
    if not scene.masks:
        return NO_MASK
    findings = []
    for form, judge in (("instance", _instances), ("binary", _binary)):
        seen = seen_masks(scene, form)
        if seen is not None:
            findings.append(judge(seen))
    return _together(findings) if findings else NO_MASK


def distinct_labels(scene: Scene) -> Finding:
    """Check that objects have numbers of their own; a task of foreground gives no occasion."""
    if scene.masks and all(form == "binary" for _, form in scene.masks):
        return Finding("not_applicable", "The task asks for a mask of foreground, not for objects.")
    seen = seen_masks(scene, "instance")
    return NO_MASK if seen is None else _instances(seen)


def touching_apart(scene: Scene) -> Finding:
    """Check for objects that lie face to face and still have numbers of their own."""
    if scene.masks and all(form == "binary" for _, form in scene.masks):
        return Finding("not_applicable", "The task asks for a mask of foreground, not for objects.")
    seen = seen_masks(scene, "instance")
    if seen is None:
        return NO_MASK
    facts = seen.facts
    says = (
        f"{facts.touching} of {facts.objects} labelled objects lie face to face with another; "
        f"the foreground has {facts.components} connected components."
    )
    if facts.touching:
        return Finding("pass", says, seen.refs)
    return weak(says, seen.refs)


def no_holes(scene: Scene) -> Finding:
    """Check that objects enclose no background."""
    if "filament-extraction" in _kinds(scene):
        return Finding("not_applicable", "A network of lines encloses background by nature.")
    objects = seen_masks(scene, "instance", leave=_RINGS)
    seen = objects or seen_masks(scene, "binary")
    if seen is None or not seen.facts.objects:
        return NO_MASK
    facts = seen.facts
    says = f"{facts.holed} of {facts.objects} labelled objects have holes."
    if facts.holed <= _HOLED_SHARE * facts.objects:
        return Finding("pass", says, seen.refs)
    # Loops of a network, and gaps between objects that touch, look like holes in a mask.
    return weak(says, seen.refs) if objects is None else Finding("fail", says, seen.refs)


def no_specks(scene: Scene) -> Finding:
    """Check that no pieces are left that are far too small for objects."""
    objects = seen_masks(scene, "instance")
    seen = objects or seen_masks(scene, "binary")
    if seen is None or not seen.facts.inner_sizes.size:
        return NO_MASK
    sizes = seen.facts.inner_sizes
    specks = seen.facts.specks(alike=objects is not None)
    bound = "9 pixels or 2 % of the median" if objects is not None else "9 pixels"
    says = (
        f"{specks} of {len(sizes)} pieces off the border are below {bound}; "
        f"the smallest has {int(sizes.min())} pixels, half have at least "
        f"{float(np.median(sizes)):.0f}."
    )
    if specks > max(1.0, _SPECK_SHARE * len(sizes)):
        return Finding("fail", says, seen.refs)
    return Finding("unknown" if specks else "pass", says, seen.refs)


def one_pixel_lines(scene: Scene) -> Finding:
    """Check whether an image of centre lines was handed in that is one pixel wide."""
    files = [
        file
        for file in scene.submission.files
        if _SKELETON_NAME.search(file.name) and file.suffix in {".tif", ".tiff", ".png", ".bmp"}
    ][:_MOST_FILES]
    thin: list[SubmittedFile] = []
    others: list[SubmittedFile] = []
    for file in files:
        with suppress(SubmissionFault), LabelImage(file, scene.limits, flat=True) as image:
            if len(image.shape) == 2 and math.prod(image.shape) <= _MOST_PIXELS:
                lines = image.plane(0)
                mine = one_pixel_wide(lines) and _follows_a_mask(scene, lines)
                (thin if mine else others).append(file)
    if thin:
        says = f"{len(thin)} images of lines are one pixel wide and lie in a delivered mask."
        return Finding("pass", says, file_refs(thin))
    if others:
        says = f"{len(others)} images of lines are wider than a pixel or follow no delivered mask."
        return weak(says, file_refs(others))
    return Finding("unknown", "No image of centre lines was handed in.")


def _follows_a_mask(scene: Scene, lines: NDArray[Any]) -> bool:
    """Return whether nearly all of the lines lie in the foreground of a delivered mask."""
    total = int((lines > 0).sum())
    for file, _ in scene.masks[:_MOST_FILES]:
        with suppress(SubmissionFault), LabelImage(file, scene.limits, flat=True) as image:
            if image.shape == lines.shape:
                inside = int(((lines > 0) & (image.plane(0) > 0)).sum())
                if inside >= _INSIDE_SHARE * total:
                    return True
    return False


def seen_masks(scene: Scene, form: str, leave: re.Pattern[str] | None = None) -> Seen | None:
    """Read the delivered images of a form as far as there is room; None if there is none."""
    facts: list[LabelFacts] = []
    read: list[SubmittedFile] = []
    left = _MOST_PIXELS
    for file, own in scene.masks[:_MOST_FILES]:
        if own != form or (leave and leave.search(str(file.path))):
            continue
        key = ("label facts", str(file.path))
        memo = scene.submission.memo
        if key not in memo:
            memo[key] = _facts_of(scene, file, left)
        found, pixels = memo[key]
        left -= pixels
        if found is not None:
            facts.append(found)
            read.append(file)
    return Seen(reduce(add, facts), tuple(read)) if facts else None


def _facts_of(scene: Scene, file: SubmittedFile, room: int) -> tuple[LabelFacts | None, int]:
    """Give the facts of one file and its number of pixels; none where it is unread or too large."""
    try:
        with LabelImage(file, scene.limits, flat=not scene.volumes) as image:
            shape = image.shape
            whole = len(shape) == 2 or (scene.volumes and not scene.movies)
            smallest = math.prod(shape if whole else shape[-2:])
            if len(shape) not in {2, 3} or smallest > room:
                return None, 0
            if whole:
                return look_at(image.asarray()), smallest
            # Of a long movie some frames tell enough.
            step = math.ceil(math.prod(shape) / room)
            frames = range(0, shape[0], step)
            facts = (look_at(image.plane(at)) for at in frames)
            return reduce(add, facts, LabelFacts()), smallest * len(frames)
    except SubmissionFault:
        return None, 0


def _instances(seen: Seen) -> Finding:
    facts = seen.facts
    says = (
        f"{len(seen.files)} label images hold {facts.objects} objects in {facts.components} "
        f"connected components; {facts.scattered} objects are of several pieces; "
        f"{facts.of_several} images have one value for several components."
    )
    if not facts.whole:
        return Finding("fail", f"Not all values are whole numbers from 0 on. {says}", seen.refs)
    if not facts.filled or (facts.one_value == facts.filled and not facts.of_several):
        return Finding("unknown", f"{says} That tells labels from a mask by nothing.", seen.refs)
    scattered = facts.scattered > _SCATTERED_SHARE * facts.objects
    if scattered or facts.of_several > _BINARY_SHARE * facts.filled:
        return Finding("fail", says, seen.refs)
    return Finding("pass", says, seen.refs)


def _binary(seen: Seen) -> Finding:
    facts = seen.facts
    says = (
        f"{facts.one_value} of {facts.filled} masks that are not empty have one value for "
        f"foreground."
    )
    if not facts.whole or facts.one_value < facts.filled:
        return Finding("fail", says, seen.refs)
    return Finding("pass" if facts.filled else "unknown", says, seen.refs)


def _together(findings: list[Finding]) -> Finding:
    worst = max(findings, key=lambda each: ("pass", "unknown", "fail").index(each.verdict))
    return Finding(worst.verdict, " ".join(each.says for each in findings), worst.refs)


def _kinds(scene: Scene) -> set[str]:
    logic = scene.spec.task_logic
    return {logic.primary_task or "", *logic.sub_tasks}
