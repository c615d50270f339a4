"""The user's salt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from evals.data.salt import user_salt
from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("EVALS_SALT", "EVALS_SALT_FILE"):
        monkeypatch.delenv(name, raising=False)
    user_salt.cache_clear()
    yield
    user_salt.cache_clear()


def test_nobody_has_a_salt_by_default() -> None:
    assert user_salt() == ""


def test_the_environment_gives_the_salt_once_and_does_not_pass_it_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVALS_SALT", " pepper\n")
    assert [user_salt(), user_salt()] == ["pepper", "pepper"]
    assert "EVALS_SALT" not in os.environ


def test_a_file_gives_the_salt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "salt").write_text("pepper\n", encoding="utf-8")
    monkeypatch.setenv("EVALS_SALT_FILE", str(tmp_path / "salt"))
    assert user_salt() == "pepper"


def test_a_file_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_SALT_FILE", str(tmp_path / "salt"))
    with pytest.raises(DataMissingError, match=r"EVALS_SALT_FILE: expected a readable.*Mend"):
        user_salt()


def test_an_empty_salt_is_told_instead_of_running_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_SALT", "  ")
    with pytest.raises(DataMissingError, match="EVALS_SALT is empty"):
        user_salt()
