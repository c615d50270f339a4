"""Where data lie on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_root() -> Path:
    """Return the folder for what can be made again: `EVALS_CACHE`, else the user's cache."""
    return _named("EVALS_CACHE") or Path(platformdirs.user_cache_dir("evals"))


def data_root() -> Path:
    """Return the folder of released data, one subfolder a revision.

    `EVALS_DATA` names it, else it is `evals` in the user's data folder.
    """
    return _named("EVALS_DATA") or Path(platformdirs.user_data_dir("evals"))


def harness_root() -> Path:
    """Return the folder of the prepared coding agents, `NAME/VERSION` each."""
    return cache_root() / "harness"


def _named(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    return Path(value).expanduser().resolve() if value else None
