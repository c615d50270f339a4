"""Progress of a simulator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evals.simulation.progress import tracked

if TYPE_CHECKING:
    import pytest


def test_each_step_is_told_to_whoever_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setenv("EVALS_PROGRESS_FD", str(writing))
    assert list(tracked("ab")) == ["a", "b"]
    os.close(writing)
    with open(reading, encoding="ascii") as told:
        assert told.read() == "0 2\n1 2\n2 2\n"


def test_where_nobody_listens_the_items_come_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALS_PROGRESS_FD", raising=False)
    assert list(tracked([1, 2])) == [1, 2]
