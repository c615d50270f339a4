"""Coding agents' own programs, fetched once a session, where an engine is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals.errors import SandboxError
from evals.harness.prepare.catalogue import harness_named
from evals.harness.prepare.making import prepare
from evals.workspace.images import ensure_images

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a cache for all tests of the session, as the programs are large."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def engine() -> None:
    """Skip where no engine answers."""
    try:
        ensure_images()
    except SandboxError as error:
        pytest.skip(f"no Docker engine to run on: {error.message}")


@pytest.fixture
def have_prepared(
    engine: None, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    """Give a way to have a coding agent prepared, from the registry, in the session's cache."""
    monkeypatch.setenv("EVALS_CACHE", str(shared_cache))
    return lambda name: prepare(harness_named(name))
