from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals.simulation.files import write_ome_tiff, write_png, write_table, write_tiff

STACK = np.arange(3 * 8 * 9, dtype=np.uint16).reshape(3, 8, 9)


def write_all(folder: Path) -> None:
    write_tiff(folder / "plane.tif", STACK[0], pixel_um=0.25)
    write_tiff(folder / "stack.tif", STACK, pixel_um=0.25, axes="ZYX", spacing_um=1.5)
    write_ome_tiff(folder / "movie.ome.tif", STACK, axes="TYX", metadata={"TimeIncrement": 60.0})
    write_png(folder / "picture.png", (STACK[0] % 256).astype(np.uint8))
    write_table(folder / "table.csv", ["X", "Y"], [(1, 2.5), (3, 4.0)])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_all(tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    np.testing.assert_array_equal(tifffile.imread(folder / "plane.tif"), STACK[0])
    np.testing.assert_array_equal(tifffile.imread(folder / "stack.tif"), STACK)
    np.testing.assert_array_equal(tifffile.imread(folder / "movie.ome.tif"), STACK)
    assert np.asarray(Image.open(folder / "picture.png")).max() == STACK[0].max()
    assert (folder / "table.csv").read_bytes() == b"X,Y\n1,2.5\n3,4.0\n"


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    write_all(tmp_path / "first")
    write_all(tmp_path / "second")
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes(), path.name


@pytest.mark.parametrize("name", ["plane.tif", "stack.tif", "movie.ome.tif"])
def test_a_file_names_neither_date_nor_program(tmp_path: Path, name: str) -> None:
    write_all(tmp_path)
    with tifffile.TiffFile(tmp_path / name) as file:
        tags = {tag.name for page in file.pages for tag in page.tags}
        assert not tags & {"DateTime", "Software", "HostComputer", "Artist"}
        assert "tifffile" not in file.pages[0].description


def test_distances_are_stored_with_a_stack(tmp_path: Path) -> None:
    write_all(tmp_path)
    with tifffile.TiffFile(tmp_path / "stack.tif") as file:
        assert file.imagej_metadata is not None
        assert file.imagej_metadata["spacing"] == 1.5
        assert file.series[0].axes == "ZYX"
        across, unit = file.pages[0].tags["XResolution"].value
        assert across / unit == pytest.approx(4)  # pixels per µm, as ImageJ counts
