"""The two containers of a sandbox: the agent's, and the one that alone sees the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.util import ComposeConfig

import scorers
from evals.data.places import harness_root
from evals.errors import SandboxError
from evals.workspace import docker
from evals.workspace.owner import owner_mark

if TYPE_CHECKING:
    from evals.workspace.images import Images

SANDBOX_LABEL = "org.evals.sandbox"
OWNER_LABEL = "org.evals.owner"
DEFAULT_OUTPUT_LIMIT = 20 * 2**30
# Where the agent finds the coding agents that are prepared on this machine.
HARNESS_DIR = "/opt/harness"

_INIT = ["python3", "-I", "/opt/init.py"]
_GIB = 2**30
_MIB = 2**20
# A single file may outgrow the output's limit by this much, so that the watchdog sees it.
_FILE_SLACK = 256 * _MIB
# An engine that is itself limited refuses to give more than it has.
_OPEN_FILES = 4096


@dataclass(frozen=True)
class Resources:
    """What the containers may use: processors, bytes of memory, processes, graphics cards."""

    agent_cpus: float
    agent_memory: int
    grader_cpus: float
    grader_memory: int
    agent_processes: int = 1024
    gpus: int = 0

    @classmethod
    def of(cls, engine: docker.Engine, *, gpus: int = 0) -> Resources:
        """Return a share of an engine that leaves room for the run itself."""
        return cls(
            agent_cpus=min(4, engine.cpus),
            agent_memory=min(16 * _GIB, engine.memory * 3 // 4),
            grader_cpus=min(2, engine.cpus),
            grader_memory=min(8 * _GIB, engine.memory // 2),
            gpus=gpus,
        )


def compose_for(
    capsule_dir: Path,
    *,
    images: Images,
    resources: Resources | None = None,
    output_limit_bytes: int = DEFAULT_OUTPUT_LIMIT,
) -> ComposeConfig:
    """Return the sandbox of one capsule for the Docker provider.

    Args:
        capsule_dir: Folder of the capsule; only its `input/` reaches the agent's container.
        images: Images of the two services.
        resources: What they may use; by default a share of what the engine has.
        output_limit_bytes: Size of the output that the watchdog allows; no single file may be
            much larger.

    Raises:
        SandboxError: The capsule has no `input/`, or no engine answers.
    """
    capsule = capsule_dir.resolve()
    if not (capsule / "input").is_dir():
        raise SandboxError(f"{capsule_dir} has no folder `input/`: nothing to show to the agent.")
    share = resources or Resources.of(docker.engine())
    return ComposeConfig.model_validate(
        {
            "services": {
                "default": _agent(capsule, images.agent, share, output_limit_bytes),
                "grader": _grader(capsule, images.grader, share),
            },
            "volumes": {"submission": {"labels": {SANDBOX_LABEL: "1", OWNER_LABEL: owner_mark()}}},
        }
    )


def _agent(capsule: Path, image: str, share: Resources, output_limit: int) -> dict[str, Any]:
    service = _service(image, share.agent_cpus, share.agent_memory) | {
        "working_dir": "/home/agent",
        "pids_limit": share.agent_processes,
        "shm_size": f"{share.agent_memory // 8 // _MIB}m",
        "ulimits": {
            "core": 0,
            "nofile": {"soft": _OPEN_FILES, "hard": _OPEN_FILES},
            "fsize": output_limit + _FILE_SLACK,
        },
        "tmpfs": [
            _tmpfs("/tmp", share.agent_memory // 4, "mode=1777"),
            _tmpfs("/var/tmp", share.agent_memory // 4, "mode=1777"),
            _tmpfs("/home/agent", share.agent_memory // 4, "uid=1000", "gid=1000", "mode=0700"),
            # For the commands that Inspect gives to a person at work; root alone may write there.
            _tmpfs("/opt/human_agent", 4 * _MIB, "mode=0755"),
        ],
        "volumes": [
            _bind(capsule / "input", "/workspace/input"),
            {"type": "volume", "source": "submission", "target": "/workspace/output"},
        ],
    }
    if (harnesses := harness_root()).is_dir():
        service["volumes"].append(_bind(harnesses, HARNESS_DIR))
    if share.gpus:
        device = {"driver": "nvidia", "count": share.gpus, "capabilities": ["gpu"]}
        service["deploy"] = {"resources": {"reservations": {"devices": [device]}}}
    return service


def _grader(capsule: Path, image: str, share: Resources) -> dict[str, Any]:
    package = Path(scorers.__file__).resolve().parent
    return _service(image, share.grader_cpus, share.grader_memory) | {
        "working_dir": "/tmp",
        "pids_limit": 256,
        # References may be readable by their owner alone.
        "cap_add": ["DAC_READ_SEARCH"],
        "ulimits": {"core": 0},
        "environment": {"PYTHONPATH": "/opt/evals", "PYTHONDONTWRITEBYTECODE": "1"},
        "tmpfs": [
            _tmpfs("/tmp", share.grader_memory // 4, "mode=1777"),
            _tmpfs("/var/tmp", share.grader_memory // 4, "mode=1777"),
        ],
        "volumes": [
            _bind(capsule, "/capsule"),
            _bind(package, "/opt/evals/scorers"),
            {
                "type": "volume",
                "source": "submission",
                "target": "/submission",
                "read_only": True,
                # Else the volume could take on the owner of this image's folder.
                "volume": {"nocopy": True},
            },
        ],
    }


def _service(image: str, cpus: float, memory: int) -> dict[str, Any]:
    limit = f"{memory // _MIB}m"
    return {
        "x-local": True,
        "image": image,
        "command": _INIT,
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "cpus": cpus,
        "mem_limit": limit,
        # Memory and swap together: no swap.
        "memswap_limit": limit,
        "stop_grace_period": "1s",
    }


def _bind(source: Path, target: str) -> dict[str, Any]:
    return {
        "type": "bind",
        # Compose reads a dollar as the start of a variable.
        "source": str(source).replace("$", "$$"),
        "target": target,
        "read_only": True,
        "bind": {"create_host_path": False},
    }


def _tmpfs(path: str, size: int, *options: str) -> str:
    return f"{path}:" + ",".join(["exec", "nosuid", "nodev", f"size={size // _MIB}m", *options])
