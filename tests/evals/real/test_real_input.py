"""The whole way on real images: capsules of real data, the baseline, scores worked out twice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tifffile
from inspect_ai import eval as inspect_eval
from numpy.typing import NDArray

from evals.biaa import biaa
from evals.harness.baseline import baseline

pytestmark = pytest.mark.slow

Graded = tuple[dict[str, Any], Path, Path]


@pytest.fixture(scope="module")
def graded(real_edition: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Graded]:
    """Run the baseline on the real edition once; give grade, kept files and reference by task."""
    kept = tmp_path_factory.mktemp("kept")
    task = biaa(edition=str(real_edition), sandbox="local", submissions=str(kept))
    [log] = inspect_eval(
        task, model="none/none", solver=baseline(), log_dir=str(kept / "logs"), display="none"
    )
    assert log.status == "success"
    samples = {str(sample.id): sample for sample in log.samples or []}

    def by_task(task_id: str) -> Graded:
        sample = samples[task_id]
        assert sample.error is None, sample.error
        assert sample.scores is not None
        score = sample.scores["grade"]
        assert isinstance(score.value, dict)
        return dict(score.value), kept / sample.uuid, real_edition / task_id / "evaluation"

    return by_task


def _dice(found: NDArray[Any], truth: NDArray[Any]) -> float:
    """Dice of two foregrounds, from scipy's dissimilarity of boolean vectors."""
    from scipy.spatial.distance import dice

    return 1 - float(dice((found > 0).ravel(), (truth > 0).ravel()))


def _panoptic_quality(found: NDArray[Any], truth: NDArray[Any]) -> float:
    """Panoptic quality by its definition, from scikit-learn's contingency matrix."""
    from sklearn.metrics.cluster import contingency_matrix

    names, flat_found = np.unique(found, return_inverse=True)
    kinds, flat_truth = np.unique(truth, return_inverse=True)
    shared = contingency_matrix(flat_found.ravel(), flat_truth.ravel())
    sizes = shared.sum(1, keepdims=True) + shared.sum(0, keepdims=True) - shared
    iou = (shared / sizes)[names != 0][:, kinds != 0]
    hits = iou[iou > 0.5]
    return float(hits.sum() / ((iou.shape[0] + iou.shape[1]) / 2))


def _read(folder: Path, name: str) -> NDArray[Any]:
    [path] = folder.rglob(name)
    return np.asarray(tifffile.imread(path))


def test_histology_scores_are_those_of_scipy_and_scikit_learn(
    graded: Callable[[str], Graded],
) -> None:
    value, kept, reference = graded("real-nuclei-he")
    pairs = [
        (_read(kept, path.name), tifffile.imread(path)) for path in sorted(reference.glob("*.tif"))
    ]
    assert len(pairs) == 4
    assert value["outcome"] == pytest.approx(np.mean([_dice(*pair) for pair in pairs]), abs=1e-4)
    quality = np.mean([_panoptic_quality(*pair) for pair in pairs])
    assert value["strict"] == pytest.approx(quality, abs=1e-4)
    assert value["outcome"] > 0.5


def test_volume_scores_are_those_of_scipy_and_scikit_learn(
    graded: Callable[[str], Graded],
) -> None:
    value, kept, reference = graded("real-nuclei-3d")
    pair = (_read(kept, "nuclei_seg.tif"), _read(reference, "nuclei_seg.tif"))
    assert value["outcome"] == pytest.approx(_dice(*pair), abs=1e-4)
    assert value["strict"] == pytest.approx(_panoptic_quality(*pair), abs=1e-4)
    assert value["outcome"] > 0.9


def test_the_count_is_scored_as_pandas_counts(graded: Callable[[str], Graded]) -> None:
    value, kept, reference = graded("real-nuclei-count")
    truth = {path.stem: len(pd.read_csv(path)) for path in reference.glob("*.csv")}
    found = {stem: len(pd.read_csv(next(kept.rglob(f"{stem}.csv")))) for stem in truth}
    typical = sorted(truth.values())[len(truth) // 2]
    scores = [
        1 - abs(found[stem] - n) / (n if found[stem] < n else max(n, typical))
        for stem, n in truth.items()
    ]
    assert value["outcome"] == pytest.approx(np.mean(scores), abs=1e-4)
    assert value["outcome"] > 0.9
    assert value["strict"] > 0.8


def test_tracking_is_scored_against_markers_as_py_ctcmetrics_does(
    graded: Callable[[str], Graded], tmp_path: Path
) -> None:
    from ctc_metrics import evaluate_sequence

    value, kept, reference = graded("real-nuclei-tracking")
    found, truth = tmp_path / "01_RES", tmp_path / "01_GT" / "TRA"
    for folder, stack, prefix, lineage in (
        (found, _read(kept, "00_RES.ome.tif"), "mask", next(kept.rglob("res_track.txt"))),
        (truth, _read(reference, "00_GT.ome.tif"), "man_track", reference / "man_track.txt"),
    ):
        folder.mkdir(parents=True)
        for index, frame in enumerate(stack):
            tifffile.imwrite(folder / f"{prefix}{index:03d}.tif", frame)
        name = "res_track.txt" if prefix == "mask" else "man_track.txt"
        (folder / name).write_text(lineage.read_text("utf-8"), "utf-8")
    known = evaluate_sequence(str(found), str(tmp_path / "01_GT"), metrics=["CHOTA"])
    assert value["strict"] == pytest.approx(known["CHOTA"], abs=1e-4)
    assert 0.2 < value["outcome"] < 0.9
