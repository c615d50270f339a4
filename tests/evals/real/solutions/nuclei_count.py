"""Counts bright nuclei on a dark background: Otsu, distance watershed, centroids."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage as ndi
from skimage import feature, filters, io, measure, morphology, segmentation


def centroids(image: np.ndarray) -> pd.DataFrame:
    """Return the columns X and Y of the nuclei in a 2D image."""
    smooth = filters.gaussian(image.astype(float), 1)
    mask = morphology.remove_small_objects(smooth > filters.threshold_otsu(smooth), max_size=19)
    distance = filters.gaussian(ndi.distance_transform_edt(mask), 1)
    seeds = feature.peak_local_max(
        distance, min_distance=4, labels=measure.label(mask), exclude_border=False
    )
    markers = np.zeros(mask.shape, int)
    markers[tuple(seeds.T)] = np.arange(1, len(seeds) + 1)
    labels = segmentation.watershed(-distance, markers, mask=mask)
    table = pd.DataFrame(measure.regionprops_table(labels, properties=("centroid",)))
    return table.rename(columns={"centroid-1": "X", "centroid-0": "Y"})[["X", "Y"]]


def main(input_dir: Path, output_dir: Path) -> None:
    """Write one table per image."""
    for path in sorted(input_dir.glob("*.png")):
        image = io.imread(path)
        table = centroids(image[..., 0] if image.ndim == 3 else image)
        table.to_csv(output_dir / f"{path.stem}.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
