"""Physics and geometry that the simulators of the synthetic edition share.

Values that decide a random draw or a stored byte pass through `quantise` first, so that the last
bits of floating-point functions, which differ between processors, never show in the data.
"""

from evals.simulation.files import write_ome_tiff, write_png, write_table, write_tiff
from evals.simulation.optics import bin_mean, camera, gaussian_psf_blur
from evals.simulation.quantise import quantise, stream

__all__ = [
    "bin_mean",
    "camera",
    "gaussian_psf_blur",
    "quantise",
    "stream",
    "write_ome_tiff",
    "write_png",
    "write_table",
    "write_tiff",
]
