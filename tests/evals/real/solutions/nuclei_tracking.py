"""Tracks bright nuclei: blob centres drawn as discs, linked by overlap of larger discs."""

import sys
from pathlib import Path

import numpy as np
import tifffile
from scipy.spatial import cKDTree
from skimage import draw, feature, filters

RADIUS_PX = 8
REACH_PX = 20


def centres(frame: np.ndarray) -> np.ndarray:
    """Return the centres (row, column) of the nuclei in one frame."""
    smooth = filters.gaussian(frame.astype(float), 3)
    lowest = filters.threshold_li(smooth)
    return feature.peak_local_max(
        smooth, min_distance=5, threshold_abs=lowest, exclude_border=False
    )


def link(before: np.ndarray, after: np.ndarray) -> dict[int, int]:
    """Return mutual nearest neighbours as a map from `after` to `before`."""
    distance, forward = cKDTree(before).query(after, distance_upper_bound=REACH_PX)
    _, backward = cKDTree(after).query(before)
    near = np.flatnonzero(np.isfinite(distance))
    return {int(i): int(forward[i]) for i in near if backward[forward[i]] == i}


def main(input_dir: Path, output_dir: Path) -> None:
    """Write the label stack and the lineage."""
    frames = tifffile.imread(input_dir / "00.ome.tif")
    stack = np.zeros(frames.shape, np.uint16)
    spans: dict[int, list[int]] = {}
    previous, tracks = np.empty((0, 2)), []
    for t, frame in enumerate(frames):
        points = centres(frame)
        links = link(previous, points) if len(previous) else {}
        unused = max(spans, default=0) + 1
        tracks = [tracks[links[i]] if i in links else unused + i for i in range(len(points))]
        for track, point in zip(tracks, points, strict=True):
            stack[t][draw.disk(point, RADIUS_PX + 0.5, shape=frame.shape)] = track
        for track in np.unique(stack[t])[1:].tolist():
            spans.setdefault(track, [t, t])[1] = t
        previous = points
    tifffile.imwrite(output_dir / "00_RES.ome.tif", stack, ome=True, metadata={"axes": "TYX"})
    rows = [f"{track} {first} {last} 0" for track, (first, last) in sorted(spans.items())]
    (output_dir / "res_track.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
