"""Labels bright nuclei in a volume: Otsu, anisotropic distance watershed."""

import sys
from pathlib import Path

import numpy as np
import tifffile
from scipy import ndimage as ndi
from skimage import feature, filters, measure, morphology, segmentation

SPACING_UM = (0.29, 0.26, 0.26)


def nuclei(volume: np.ndarray) -> np.ndarray:
    """Return the label volume (zyx, uint16)."""
    smooth = filters.gaussian(volume.astype(float), 1.5)
    mask = morphology.remove_small_objects(smooth > filters.threshold_otsu(smooth), max_size=499)
    mask = ndi.binary_fill_holes(mask)
    distance = filters.gaussian(ndi.distance_transform_edt(mask, sampling=SPACING_UM), 2)
    seeds = feature.peak_local_max(
        distance, min_distance=10, labels=measure.label(mask), exclude_border=False
    )
    markers = np.zeros(mask.shape, int)
    markers[tuple(seeds.T)] = np.arange(1, len(seeds) + 1)
    return segmentation.watershed(-distance, markers, mask=mask).astype(np.uint16)


def main(input_dir: Path, output_dir: Path) -> None:
    """Write one label volume per stack."""
    for path in sorted(input_dir.glob("*.tif")):
        labels = nuclei(tifffile.imread(path))
        tifffile.imwrite(output_dir / f"{path.stem}_seg.tif", labels, compression="zlib")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
