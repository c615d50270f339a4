from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scorers
from evals.errors import SandboxError
from evals.workspace.compose import Resources, compose_for
from evals.workspace.docker import Engine
from evals.workspace.images import Images

GIB = 2**30
IMAGES = Images("agent:1", "grader:1")
SHARE = Resources(agent_cpus=2, agent_memory=8 * GIB, grader_cpus=1, grader_memory=4 * GIB)


@pytest.fixture
def capsule(tmp_path: Path, own_cache: Path) -> Path:
    for part in ("input", "evaluation", "solution"):
        (tmp_path / "capsule" / part).mkdir(parents=True)
    return tmp_path / "capsule"


def compose(capsule: Path, **settings: Any) -> dict[str, Any]:
    config = compose_for(capsule, images=IMAGES, **{"resources": SHARE, **settings})
    return config.model_dump(exclude_none=True, by_alias=True)


def service(capsule: Path, name: str, **settings: Any) -> dict[str, Any]:
    return dict(compose(capsule, **settings)["services"][name])


def mounts(service: dict[str, Any]) -> dict[str, str]:
    return {each["target"]: each["source"] for each in service["volumes"]}


def test_the_agent_gets_the_input_and_a_volume_and_nothing_else_of_the_host(capsule: Path) -> None:
    assert mounts(service(capsule, "default")) == {
        "/workspace/input": str(capsule / "input"),
        "/workspace/output": "submission",
    }


def test_the_agent_finds_the_prepared_coding_agents_and_cannot_change_them(
    capsule: Path, own_cache: Path
) -> None:
    (own_cache / "harness").mkdir()
    [bound] = [e for e in service(capsule, "default")["volumes"] if e["target"] == "/opt/harness"]
    assert bound["source"] == str(own_cache / "harness")
    assert bound["read_only"] is True
    assert "/opt/harness" not in mounts(service(capsule, "grader"))


def test_the_grader_gets_the_capsule_the_scorers_and_the_volume(capsule: Path) -> None:
    assert mounts(service(capsule, "grader")) == {
        "/capsule": str(capsule),
        "/opt/evals/scorers": str(Path(scorers.__file__).parent),
        "/submission": "submission",
    }


def test_only_the_agents_own_volume_is_writable(capsule: Path) -> None:
    config = compose(capsule)
    writable = [
        (name, each["target"])
        for name, each_service in config["services"].items()
        for each in each_service["volumes"]
        if not each.get("read_only")
    ]
    assert writable == [("default", "/workspace/output")]


def test_the_grader_takes_the_volume_as_the_agents_image_has_it(capsule: Path) -> None:
    [volume] = [e for e in service(capsule, "grader")["volumes"] if e["target"] == "/submission"]
    assert volume["volume"] == {"nocopy": True}


@pytest.mark.parametrize("name", ["default", "grader"])
def test_no_service_has_a_network_or_a_writable_root_or_new_privileges(
    capsule: Path, name: str
) -> None:
    each = service(capsule, name)
    assert each["network_mode"] == "none"
    assert each["read_only"] is True
    assert each["cap_drop"] == ["ALL"]
    assert each["security_opt"] == ["no-new-privileges:true"]


def test_the_grader_alone_may_read_what_only_the_owner_may(capsule: Path) -> None:
    assert service(capsule, "grader")["cap_add"] == ["DAC_READ_SEARCH"]
    assert "cap_add" not in service(capsule, "default")


@pytest.mark.parametrize("name", ["default", "grader"])
def test_memory_and_swap_have_one_limit(capsule: Path, name: str) -> None:
    each = service(capsule, name)
    assert each["mem_limit"] == each["memswap_limit"]


def test_scratch_folders_have_a_size_and_allow_programs(capsule: Path) -> None:
    tmpfs = service(capsule, "default")["tmpfs"]
    *large, commands = tmpfs
    assert [each.partition(":")[0] for each in large] == ["/tmp", "/var/tmp", "/home/agent"]
    assert all("exec" in each and "size=2048m" in each for each in large)
    assert commands.startswith("/opt/human_agent:")


def test_a_dollar_in_a_path_is_no_variable(tmp_path: Path) -> None:
    (tmp_path / "a$HOME" / "input").mkdir(parents=True)
    source = mounts(service(tmp_path / "a$HOME", "default"))["/workspace/input"]
    assert source == str(tmp_path / "a$$HOME" / "input")


def test_a_graphics_card_is_reserved_only_when_asked_for(capsule: Path) -> None:
    assert "deploy" not in service(capsule, "default")
    asked = Resources(1, GIB, 1, GIB, gpus=1)
    [device] = service(capsule, "default", resources=asked)["deploy"]["resources"]["reservations"][
        "devices"
    ]
    assert (device["count"], device["capabilities"]) == (1, ["gpu"])


def test_a_capsule_without_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no folder `input/`"):
        compose_for(tmp_path, images=IMAGES, resources=SHARE)


def test_the_share_of_a_small_engine_fits_in_it() -> None:
    share = Resources.of(Engine(cpus=2, memory=4 * GIB))
    assert share.agent_cpus == share.grader_cpus == 2
    assert share.agent_memory == 3 * GIB
