"""Files of other formats under the name of a deliverable: some bring others along, some code."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

_BOMB = bytes(2**24)


class _Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('a pickle was run')",)


def hdf5_with_a_link_to_another_file(path: Path) -> None:
    """Write the head of an HDF5 file, and a link message that names the reference."""
    head = b"\x89HDF\r\n\x1a\n" + bytes(4) + b"\0\x08\x08\0" + struct.pack("<HHI", 4, 16, 0)
    target = b"\0../../evaluation/reference.h5\0/labels\0"
    link = struct.pack("<BBBB", 1, 8, 64, 4) + b"mask" + struct.pack("<H", len(target)) + target
    path.write_bytes(head + struct.pack("<QQQQ", 0, 2**64 - 1, 2048, 2**64 - 1) + link)


def zarr_references_to_other_files(path: Path) -> None:
    refs = {".zarray": '{"shape": [8, 8]}', "0.0": ["../../evaluation/reference.tif", 0, 64]}
    path.write_text(json.dumps({"version": 1, "refs": refs}), encoding="utf-8")


def folder_that_is_a_zarr(path: Path) -> None:
    path.unlink()
    path.mkdir()
    meta = {"shape": [10**6, 10**6], "chunks": [10**6, 10**6], "dtype": "<f8", "zarr_format": 2}
    (path / ".zarray").write_text(json.dumps(meta), encoding="utf-8")
    (path / "0.0").write_bytes(zlib.compress(_BOMB))


def npy_of_objects(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.array([_Runs()], dtype=object), allow_pickle=True)


def npy_of_a_trillion_values(path: Path) -> None:
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head)


def bare_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(_Runs()))


@cache
def _npz_of_zeros_of_128_megabytes() -> bytes:
    stored = io.BytesIO()
    with (
        zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("labels.npy", "w") as member,
    ):
        for _ in range(8):
            member.write(_BOMB)
    return stored.getvalue()


def npz_that_inflates(path: Path) -> None:
    path.write_bytes(_npz_of_zeros_of_128_megabytes())


@cache
def _nested_zip() -> bytes:
    content = _BOMB
    for level in range(6):
        stored = io.BytesIO()
        with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(4):
                archive.writestr(f"{level}-{copy}.zip", content)
        content = stored.getvalue()
    return content


def zip_in_zip_in_zip(path: Path) -> None:
    path.write_bytes(_nested_zip())


@cache
def _gzip_of_zeros_of_128_megabytes() -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return b"".join(packer.compress(_BOMB) for _ in range(8)) + packer.flush()


def gzip_that_inflates(path: Path) -> None:
    path.write_bytes(_gzip_of_zeros_of_128_megabytes())


def shell_script(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\necho owned\n")
    path.chmod(0o777)
