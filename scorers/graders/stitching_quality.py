"""The published half of a mosaic's score: its shape, and the profile of its central band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.graders.settings import setting, whole_setting
from scorers.metrics.profile import band_profiles, profile_correlation, shape_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.mosaics import Mosaic


def quality(
    job: Job, submitted: Mosaic | None, error: str | None, reference: Mosaic
) -> tuple[float, dict[str, Any], str | None]:
    """Return the published score of a mosaic in [0, 1], its detail, and why it is unreadable.

    Parameters
    ----------
    job
        Its rubric sets the number of channels and slices, the tolerance and the band.
    submitted, error
        The mosaic, or None and the reason.
    reference
        The reference mosaic.
    """
    band = whole_setting(job, "profile_band_height_px", 100)
    try:
        known = profiles(reference, band)
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault
    own: list[NDArray[np.float64]] = []
    if submitted is not None:
        try:
            own = profiles(submitted, band)
        except SubmissionFault as fault:
            submitted, error = None, str(fault)
    shape, told = _shape(job, submitted, reference)
    rows: list[dict[str, Any]] = []
    for index in range(whole_setting(job, "expected_channels", 4)):
        pair = [side[index] if index < len(side) else None for side in (own, known)]
        r = profile_correlation(*pair)
        score = max(0.0, r or 0.0)
        rows.append({"channel_index": index, "pearson_r": r, "score": score})
    profile = float(np.mean([row["score"] for row in rows]))
    detail: dict[str, Any] = {
        "shape_match_score": round(shape, 4),
        "shape_match": told,
        "profile_match_score": round(profile, 4),
        "profile_match_per_channel": [_rounded(row) for row in rows],
        "band_height_px": band,
    }
    if error:
        detail["agent_image_error"] = error
    for index, row in enumerate(detail["profile_match_per_channel"]):
        # Rows of lists do not show among flat metrics, these numbers should.
        detail[f"profile_r_channel_{index}"] = row["pearson_r"]
    return 0.5 * shape + 0.5 * profile, detail, error


def profiles(mosaic: Mosaic, band: int) -> list[NDArray[np.float64]]:
    """Return each channel's profile along x over the central band, by the published rules.

    A page that lies below an axis lettered C belongs to that channel. Any other is added channel
    by channel, and one with a single channel is thereby added to all.
    """
    n_channels = mosaic.geometry.n_channels
    total = np.zeros((n_channels, mosaic.geometry.width))
    leading = mosaic.leading_axes
    lead_shape = mosaic.shape[: len(leading)]
    for index, page in enumerate(mosaic.pages()):
        rows = band_profiles(page, *mosaic.page_axes, band)
        if "C" in leading:
            channel = np.unravel_index(index, lead_shape)[leading.index("C")]
            if channel < n_channels:
                total[channel] += rows.mean(axis=0)
        else:
            total += rows
    mosaic.release()
    return list(total)


def _shape(job: Job, submitted: Mosaic | None, reference: Mosaic) -> tuple[float, dict[str, Any]]:
    n_channels = whole_setting(job, "expected_channels", 4)
    n_slices = whole_setting(job, "expected_z_slices", 3)
    tolerance = setting(job, "xy_tolerance_px", 20, least=1e-9)
    at = None if submitted is None else submitted.geometry
    size = (0, 0) if at is None else (at.width, at.height)
    known = (reference.geometry.width, reference.geometry.height)
    told: dict[str, Any] = {
        "agent_channels": None if at is None else at.n_channels,
        "agent_z_slices": None if at is None else at.n_slices,
        "agent_xy": list(size),
        "reference_xy": list(known),
        "expected_channels": n_channels,
        "expected_z_slices": n_slices,
        "tolerance_px": tolerance,
    }
    if at is None or (at.n_channels, at.n_slices) != (n_channels, n_slices):
        told["reason"] = "unreadable, or another number of channels or slices than expected"
        return 0.0, told
    apart, score = shape_score(size, known, tolerance)
    return score, told | {"xy_deviation_px": apart}


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }
