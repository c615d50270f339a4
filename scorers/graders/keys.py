"""What the published evaluator tells about keys that should have matched and did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 12


def key_match(
    predicted: Iterable[str], reference: Iterable[str], common: Iterable[str]
) -> dict[str, Any]:
    """Return the published diagnosis of the keys of a submission and its reference.

    Parameters
    ----------
    predicted, reference
        All keys of each side.
    common
        The reference keys that found a partner.
    """
    pred, ref, both = (sorted(set(keys)) for keys in (predicted, reference, common))
    unmatched = sorted(set(ref) - set(both))
    if not ref:
        status = "no_reference_keys"
    elif not pred:
        status = "empty_prediction"
    elif not both:
        status = "unmatched_keys"
    else:
        status = "partial_key_overlap" if unmatched else "ok"
    return {
        "status": status,
        "n_pred_keys": len(pred),
        "n_ref_keys": len(ref),
        "n_common": len(both),
        "pred_keys": pred[:_SHOWN],
        "ref_keys": ref[:_SHOWN],
        "unmatched_ref_keys": unmatched[:_SHOWN],
    }
