from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from evals.simulation.lsm import Recording, write_lsm

if TYPE_CHECKING:
    from pathlib import Path

STAINS = [(name, (0, 255, 0), (490.0, 553.0)) for name in ("first", "second", "third")]


def recording(tiles: int) -> Recording:
    centres = [(10.0 * k, 20.0 * k) for k in range(tiles)] if tiles > 1 else ()
    return Recording((tiles, 3, 3, 21, 17), (5.0, 0.4, 0.4), "a", STAINS, centres)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(("tiles", "axes"), [(4, "MZCYX"), (1, "ZCYX")])
def test_tifffile_reads_what_was_written(
    tmp_path: Path, tiles: int, axes: str, compressed: bool
) -> None:
    data = np.random.default_rng(0).integers(0, 4096, (tiles, 3, 3, 21, 17)).astype(np.uint16)
    path = tmp_path / "a.lsm"
    stored = write_lsm(path, data.reshape(-1, 21, 17), recording(tiles), compressed=compressed)
    with tifffile.TiffFile(path) as file:
        assert file.series[0].axes == axes
        assert np.array_equal(file.series[0].asarray(), data if tiles > 1 else data[0])
    assert np.array_equal(stored.plane(3), data.reshape(-1, 21, 17)[3])


def test_the_table_tells_voxels_stains_and_tiles(tmp_path: Path) -> None:
    planes = np.zeros((36, 21, 17), np.uint16)
    write_lsm(tmp_path / "a.lsm", planes, recording(4), compressed=True)
    with tifffile.TiffFile(tmp_path / "a.lsm") as file:
        told = file.lsm_metadata
    assert told is not None
    assert (told["VoxelSizeZ"], told["DimensionM"]) == (5e-6, 4)
    assert told["TilePositions"][2] == pytest.approx([40e-6, 20e-6, 0])
    assert told["ChannelColors"]["ColorNames"] == ["first", "second", "third"]
    assert told["ScanInformation"]["Name"] == "a"


def test_a_file_beyond_four_gigabytes_is_refused(tmp_path: Path) -> None:
    large = Recording((100, 3, 4, 2048, 2048), (5.0, 0.4, 0.4), "a", STAINS)
    with pytest.raises(ValueError, match="at most 4 GB"):
        write_lsm(tmp_path / "a.lsm", [], large, compressed=False)


def test_planes_of_another_shape_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected uint16"):
        write_lsm(tmp_path / "a.lsm", [np.zeros((3, 3))], recording(1), compressed=False)
