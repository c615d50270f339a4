"""Checks of files as files: formats, types, calibration, names, hashes."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from scorers.errors import SubmissionFault
from scorers.files.calibration import compression_of, pixel_size
from scorers.files.images import TIFF_SUFFIXES
from scorers.files.mosaics import open_mosaic
from scorers.rubric.checks.results import Finding, file_refs, weak
from scorers.rubric.checks.scene import IMAGE_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

# JPEG in its kinds, as the tag of a TIFF numbers it.
_LOSSY = frozenset({6, 7, 33007, 34892})
_PIXEL_TOLERANCE = 0.01
_PIECE = 1 << 20
HASHED_BYTES = 8 * 2**30
_MOST_FILES = 200
_RELATED_SHARE = 0.95


def lossless_images(scene: Scene) -> Finding:
    """Check that delivered images lose no values by their format or compression."""
    asked = [d for d in scene.spec.deliverables if d.required and _is_image(d.filename_pattern)]
    if not asked:
        return Finding("not_applicable", "The task asks for no image data.")
    files = [
        file
        for deliverable in asked
        for file in scene.delivered(deliverable)
        if file.suffix in IMAGE_SUFFIXES
    ]
    lossy, unread = [], 0
    for file in files[:_MOST_FILES]:
        try:
            if file.suffix in {".jpg", ".jpeg"} or (
                file.suffix in TIFF_SUFFIXES and compression_of(file, scene.limits) in _LOSSY
            ):
                lossy.append(file)
        except SubmissionFault:
            unread += 1
    says = f"{len(lossy)} of {len(files)} delivered images are compressed with loss."
    if lossy:
        return Finding("fail", says, file_refs(lossy))
    if not files or unread:
        return Finding("unknown", f"{says} {unread} could not be read.", file_refs(files))
    return Finding("pass", says, file_refs(files))


def mosaic_type(scene: Scene) -> Finding:
    """Check that a mosaic has the data type and the channels of its tiles."""
    mosaic, tile = _mosaic(scene), next(iter(scene.input_images), None)
    if mosaic is None or tile is None:
        return Finding("unknown", "No mosaic was asked for and delivered, or there is no tile.")
    with (
        open_mosaic(mosaic, scene.limits) as one,
        open_mosaic(tile, scene.limits.for_references()) as other,
    ):
        same = one.dtype == other.dtype and one.geometry.n_channels == other.geometry.n_channels
        says = (
            f"The mosaic has type {one.dtype} and {one.geometry.n_channels} channels, tiles have "
            f"{other.dtype} and {other.geometry.n_channels}."
        )
    return Finding("pass" if same else "fail", says, file_refs([mosaic]))


def pixel_size_kept(scene: Scene) -> Finding:
    """Check that a mosaic tells the size of its pixels as the tiles do."""
    mosaic = _mosaic(scene)
    if mosaic is None:
        return Finding("unknown", "No mosaic was asked for and delivered.")
    if scene.pixel_um is None:
        return Finding("not_applicable", "Neither files nor specification tell a pixel size.")
    told = pixel_size(mosaic, scene.limits)
    says = f"Input: {scene.pixel_um:.4g} µm a pixel; mosaic: "
    if told is None:
        return Finding("fail", f"{says}no pixel size in its metadata.", file_refs([mosaic]))
    close = abs(told / scene.pixel_um - 1) <= _PIXEL_TOLERANCE
    return Finding("pass" if close else "fail", f"{says}{told:.4g} µm.", file_refs([mosaic]))


def input_untouched(scene: Scene) -> Finding:
    """Compare hashes of the agent's own input after it ended with those of the capsule's."""
    if scene.input_after is None:
        return Finding("unknown", "The run told no hashes of the agent's input.")
    if sum(file.size for file in scene.inputs) > HASHED_BYTES:
        return Finding("unknown", "The input is too large to be hashed.")
    before = {str(file.path): sha256_of(file) for file in scene.inputs}
    changed = sum(scene.input_after.get(path) != digest for path, digest in before.items())
    says = f"{changed} of {len(before)} input files are changed or gone, by their SHA-256."
    return Finding("fail" if changed else "pass" if before else "unknown", says)


def file_stems(scene: Scene) -> Finding:
    """Check that files of which there are several are named after their input."""
    several = [d for d in scene.spec.deliverables if d.multi and d.required]
    if not several:
        return Finding("not_applicable", "The task names the files; none belongs to one input.")
    groups = [scene.delivered(deliverable) for deliverable in several]
    if len(scene.inputs) > 1 and groups and all(len(group) == 1 for group in groups):
        return Finding("not_applicable", "One file holds what comes of several inputs.")
    files = [file for group in groups for file in group]
    stems = [tokens_of(str(file.path)) for file in scene.inputs]
    if not files or not stems:
        return Finding("unknown", "There are no files to compare.")
    related = related_to(stems, [tokens_of(str(file.path)) for file in files])
    strange = [file for file, known in zip(files, related, strict=True) if not known]
    says = f"{len(files) - len(strange)} of {len(files)} delivered files bear the name of an input."
    if len(strange) > (1 - _RELATED_SHARE) * len(files):
        return Finding("fail", says, file_refs(strange))
    return Finding("pass", says, file_refs(files))


def deliverables_found(scene: Scene) -> Finding:
    """Check that each required deliverable was found in the form that was declared."""
    required = [d for d in scene.spec.deliverables if d.required]
    missing = {entry["id"] for entry in scene.resolution.missing}
    found = [file for d in required for file in scene.delivered(d)]
    says = f"{len(required) - len(missing)} of {len(required)} required deliverables were found."
    if missing:
        return Finding("fail", says, file_refs(found))
    if not required:
        return Finding("unknown", "The task requires no deliverable.")
    if not all(file.size for file in found):
        return weak(f"{says} Some are empty files.", file_refs(found))
    return Finding("pass", says, file_refs(found))


def tokens_of(path: str) -> frozenset[str]:
    """Return the words and numbers of a path without suffixes, numbers without leading zeros.

    >>> sorted(tokens_of("a/report_0012.noisy.tiff"))
    ['12', 'a', 'report']
    """
    parts = PurePosixPath(path).parts
    text = "/".join((*parts[:-1], parts[-1].lstrip(".").split(".")[0])).lower() if parts else ""
    return frozenset(
        token.lstrip("0") or "0" if token.isdecimal() else token
        for token in re.findall(r"\d+|[^\W\d_]+", text)
    )


def related_to(inputs: list[frozenset[str]], outputs: list[frozenset[str]]) -> list[bool]:
    """Return for each output whether it bears a token that tells some inputs from others."""
    shared = frozenset.intersection(*inputs) if len(inputs) > 1 else frozenset()
    telling = frozenset().union(*inputs) - shared
    return [bool(tokens & telling) for tokens in outputs]


def _mosaic(scene: Scene) -> SubmittedFile | None:
    if scene.spec.task_logic.primary_task != "stitching":
        return None
    for deliverable in scene.spec.deliverables:
        if _is_image(deliverable.filename_pattern):
            for file in scene.delivered(deliverable):
                return file
    return None


def _is_image(pattern: str) -> bool:
    return PurePosixPath(pattern.lower().rstrip("*?")).suffix in IMAGE_SUFFIXES


def sha256_of(file: SubmittedFile) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with file.open() as opened:
        for piece in _pieces(opened):
            digest.update(piece)
    return digest.hexdigest()


def _pieces(opened: BinaryIO) -> Iterable[bytes]:
    while piece := opened.read(_PIECE):
        yield piece
