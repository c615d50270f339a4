from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evals.errors import DataMissingError
from evals.harness.coding import agents
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ["claude_code", "codex_cli", "gemini_cli", "mini_swe_agent", "opencode"]


@pytest.mark.parametrize("name", NAMES)
def test_without_isolation_an_agent_is_refused_with_what_it_needs(
    name: str, make_capsule: Callable[..., Path], run: Any, tmp_path: Path
) -> None:
    ran = run(make_capsule(tmp_path), getattr(agents, name)())
    assert ran.sample.error is not None
    assert f"evals/{name} needs the sandbox `docker`, got `local`" in ran.sample.error.message
    assert "-T sandbox=docker" in ran.sample.error.message


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_extra_is_told_before_anything_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.harness.coding.running.find_spec", lambda module: None)
    with pytest.raises(DataMissingError, match=r"install evals\[harness\]"):
        getattr(agents, name)()


@pytest.mark.parametrize("version", ["../../etc", "1 2", ""])
def test_what_cannot_be_a_version_is_refused(version: str) -> None:
    with pytest.raises(OptionInvalidError, match="expected a version"):
        agents.claude_code(version=version)


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_is_found_by_one_name(name: str) -> None:
    import evals._registry

    assert getattr(evals._registry, name) is getattr(agents, name)
    assert name in evals._registry.__all__
