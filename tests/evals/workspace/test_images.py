from __future__ import annotations

import re
import shutil
import tomllib
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from evals.assets import assets
from evals.errors import SandboxError, UnknownNameError
from evals.harness.prepare.catalogue import HARNESSES
from evals.workspace import docker
from evals.workspace.images import agent_images, ensure_images, image_tag

if TYPE_CHECKING:
    from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    shutil.copytree(assets() / "sandboxes", tmp_path / "sandboxes")
    return tmp_path / "sandboxes"


def test_a_tag_stays_while_the_recipe_does(recipes: Path) -> None:
    assert image_tag(recipes, "grader") == image_tag(assets() / "sandboxes", "grader")
    assert re.fullmatch(r"evals-grader:[0-9a-f]{12}", image_tag(recipes, "grader"))


@pytest.mark.parametrize("changed", ["lock.txt", "init.py", "grader/Dockerfile"])
def test_a_tag_changes_with_each_file_of_the_recipe(recipes: Path, changed: str) -> None:
    before = image_tag(recipes, "grader")
    (recipes / changed).write_text("# changed", encoding="utf-8")
    assert image_tag(recipes, "grader") != before


def test_a_tag_does_not_change_with_another_recipe(recipes: Path) -> None:
    before = image_tag(recipes, "grader")
    (recipes / "bioimage" / "requirements.txt").write_text("numpy", encoding="utf-8")
    assert image_tag(recipes, "grader") == before


def test_a_recipe_that_builds_on_another_gets_a_new_tag_with_it(recipes: Path) -> None:
    before = image_tag(recipes, "bioimage-agents")
    (recipes / "bioimage" / "requirements.txt").write_text("numpy", encoding="utf-8")
    assert image_tag(recipes, "bioimage-agents") != before


def test_an_agent_gets_every_image_but_the_graders() -> None:
    assert agent_images() == ["bioimage", "bioimage-agents"]


def test_an_unknown_image_is_refused_with_a_near_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bioimage-agents'"):
        ensure_images("bioimage-agent")


def test_the_image_of_agents_has_the_versions_that_are_prepared() -> None:
    text = (assets() / "sandboxes" / "bioimage-agents" / "Dockerfile").read_text(encoding="utf-8")
    fixed = dict(re.findall(r"([a-z-]+)(?:@|==)([0-9.]+)", text))
    known = {name: each.version for name, each in HARNESSES.items()}
    assert fixed == {
        "claude-code": known["claude_code"],
        "codex": known["codex_cli"],
        "gemini-cli": known["gemini_cli"],
        "opencode-ai": known["opencode"],
        "mini-swe-agent": known["mini_swe_agent"],
    }


def test_the_lock_holds_every_requirement_of_every_recipe() -> None:
    recipes = assets() / "sandboxes"
    locked = {name.lower().replace("_", "-") for name in _names(recipes / "lock.txt")}
    for recipe in recipes.glob("*/requirements.txt"):
        assert {name.lower() for name in _names(recipe)} <= locked


def test_the_lock_holds_every_dependency_of_the_package() -> None:
    project = assets() / "pyproject.toml"
    if not project.is_file():
        pytest.skip("an installed package has no pyproject.toml")
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    wanted = [*stated["dependencies"], *chain(*stated["optional-dependencies"].values())]
    locked = set(_names(assets() / "sandboxes" / "lock.txt"))
    names = {match.group() for match in map(NAME.match, wanted) if match}
    plain = {name.lower().replace("_", "-") for name in names}
    assert plain - {"evals"} <= locked


def test_the_lock_names_no_host_and_no_folder_of_a_machine() -> None:
    text = (assets() / "sandboxes" / "lock.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert " /" not in text


def test_without_a_docker_command_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    docker.engine.cache_clear()
    with pytest.raises(SandboxError, match=r"no `docker` command .* sandbox=local"):
        ensure_images()


def test_without_an_engine_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "docker"
    fake.write_text("#!/bin/sh\necho 'Cannot connect to the daemon' >&2\nexit 1\n", "utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    docker.engine.cache_clear()
    with pytest.raises(SandboxError, match=r"No Docker engine answers.*Cannot connect.*Start"):
        ensure_images()


def _names(path: Path) -> list[str]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    found = [NAME.match(line) for line in lines if line and not line.startswith("#")]
    return [match.group() for match in found if match]
