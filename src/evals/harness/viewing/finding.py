"""Finding the file that a model means, with hints where there is none of that name."""

from __future__ import annotations

import difflib
from pathlib import Path

from evals.harness.viewing.opening import FLAT, STACKED, ViewError

MOST_ENTRIES = 5000  # of a folder that is searched for hints
SHOWN = 10


def find_file(wanted: str, roots: list[str]) -> Path:
    """Return the file meant by `wanted`, or say which files come near.

    A relative path is looked for in the working directory, then below each root.
    """
    path = Path(wanted).expanduser()
    places = [path] if path.is_absolute() else [path, *(Path(root) / path for root in roots)]
    for place in places:
        if place.is_file():
            return place
    for place in places:
        if place.is_dir():
            raise ViewError(f"{wanted} is a folder. Images in it: {_listing(_images(place))}")
    known = [file for root in roots for file in _images(Path(root))]
    names = {file.name: file for file in known}
    near = [names[name] for name in difflib.get_close_matches(path.name, names, n=5, cutoff=0.5)]
    said = f"Did you mean {_listing(near)}?" if near else f"Images here: {_listing(known)}"
    raise ViewError(f"There is no file {wanted}. {said}")


def _images(folder: Path) -> list[Path]:
    """Return the image files below a folder, sorted."""
    found: list[Path] = []
    for count, path in enumerate(folder.rglob("*")):
        if count >= MOST_ENTRIES:
            break
        if path.suffix.lower() in STACKED + FLAT:
            found.append(path)
    return sorted(found)


def _listing(files: list[Path]) -> str:
    shown = ", ".join(str(file) for file in files[:SHOWN])
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    return f"{shown}{more}" or "none"
