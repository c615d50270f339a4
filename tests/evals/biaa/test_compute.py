"""Measuring of what an agent has to work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals.biaa.compute import gpus_for_hint, host_cpus, host_memory
from evals.errors import SandboxError

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, name: str, printed: str) -> None:
    """Write a program that prints something."""
    program = folder / name
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{printed}'\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the only folder where programs are found."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_a_machine_has_cores_and_memory() -> None:
    assert host_cpus() >= 1
    assert (host_memory() or 1) > 0


def test_by_default_a_gpu_that_is_there_is_told_of(programs: Path) -> None:
    install(programs, "nvidia-smi", "NVIDIA A10")
    assert gpus_for_hint(None, "local") == ("NVIDIA A10",)


def test_by_default_no_gpu_is_no_error(programs: Path) -> None:
    install(programs, "nvidia-smi", "")
    assert gpus_for_hint(None, "local") == ()


def test_a_gpu_that_is_asked_for_and_not_there_is_an_error(programs: Path) -> None:
    install(programs, "nvidia-smi", "")
    with pytest.raises(SandboxError, match="expected a CUDA GPU for the local sandbox, got none"):
        gpus_for_hint(True, "local")


def test_false_hides_a_gpu(programs: Path) -> None:
    install(programs, "nvidia-smi", "NVIDIA A10")
    assert gpus_for_hint(False, "local") == ()


def test_on_docker_the_engine_must_pass_gpus_on(programs: Path) -> None:
    install(programs, "nvidia-smi", "NVIDIA A10")
    install(programs, "docker", '{"runc": {}}')
    assert gpus_for_hint(None, "docker") == ()
    with pytest.raises(SandboxError, match="no 'nvidia' runtime"):
        gpus_for_hint(True, "docker")


def test_on_docker_with_the_gpu_runtime_the_gpu_is_told_of(programs: Path) -> None:
    install(programs, "nvidia-smi", "NVIDIA A10")
    install(programs, "docker", '{"nvidia": {}, "runc": {}}')
    assert gpus_for_hint(True, "docker") == ("NVIDIA A10",)
