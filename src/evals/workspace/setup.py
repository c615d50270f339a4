"""The step before the harness: is the sandbox what it must be, and who watches it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import background, sandbox

from evals.errors import SandboxError
from evals.workspace import docker
from evals.workspace.compose import DEFAULT_OUTPUT_LIMIT
from evals.workspace.local import looks_local, prepare_local
from evals.workspace.place import Workspace
from evals.workspace.probe import SCRIPT, read_findings
from evals.workspace.watchdog import (
    OverrunError,
    Watched,
    measure_folder,
    measure_output,
    watch_output,
    watch_processes,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Network = Literal["none", "open"]


@solver
def prepare_workspace(
    network: Network = "none", output_limit_bytes: int = DEFAULT_OUTPUT_LIMIT
) -> Solver:
    """Check the sandbox of a sample, tell the sample's store of it, and start its watchdog.

    Args:
        network: `none` makes a sandbox that sees a network an error of the sample.
        output_limit_bytes: Size of the output at which the watchdog ends the agent.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        workspace = state.store_as(Workspace)
        workspace.output_limit_bytes = output_limit_bytes
        if await looks_local():
            await prepare_local(state, workspace)
            folder = partial(measure_folder, Path(workspace.output_dir))
            background(_watch, workspace, partial(watch_output, folder, output_limit_bytes))
            return state
        await _name_containers(workspace)
        await _check(network)
        watched = Watched(
            agent=workspace.agent_container,
            grader=workspace.grader_container,
            process_limit=await _process_limit(workspace.agent_container),
        )
        volume = partial(measure_output, watched)
        background(_watch, workspace, partial(watch_output, volume, output_limit_bytes))
        background(_watch, workspace, partial(watch_processes, watched))
        return state

    return solve


async def _watch(workspace: Workspace, watch: Callable[[], Awaitable[None]]) -> None:
    try:
        await watch()
    except OverrunError as overrun:
        # Inspect tells scorers of its own limits by an event, of these it does not.
        workspace.limit = overrun.kind
        workspace.limit_reason = overrun.message
        raise


async def _name_containers(workspace: Workspace) -> None:
    workspace.agent_container = await _container(None)
    try:
        workspace.grader_container = await _container("grader")
    except ValueError:
        workspace.grader_container = ""
    workspace.kind = "docker"


async def _container(service: str | None) -> str:
    try:
        connection = await sandbox(service).connection()
    except (NotImplementedError, ConnectionError) as error:
        raise SandboxError(
            f"The sandbox's service {service or 'default'} tells no container: {error!r}. "
            "This suite runs on the sandboxes `docker` and `local`."
        ) from error
    if connection.container is None:
        raise SandboxError(
            f"A sandbox of the type {connection.type} has no container. This suite runs on the "
            "sandboxes `docker` and `local`."
        )
    return connection.container


async def _check(network: Network) -> None:
    printed = await sandbox().exec(["bash", "-c", SCRIPT], timeout=120)
    if not printed.success:
        raise SandboxError(
            f"The sandbox could not be probed (exit code {printed.returncode}): "
            f"{(printed.stderr or printed.stdout).strip()[:500]}. Its image needs bash, coreutils "
            "and findutils."
        )
    fault = read_findings(printed.stdout).fault(open_network=network == "open")
    if fault is not None:
        raise SandboxError(fault)


async def _process_limit(container: str) -> int | None:
    told = await docker.arun("inspect", "--format", "{{.HostConfig.PidsLimit}}", container)
    text = told.stdout.strip()
    return int(text) if told.code == 0 and text.isdigit() and int(text) > 0 else None
