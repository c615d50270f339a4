"""End all that an agent started, before anybody looks at what it left."""

from __future__ import annotations

import anyio

from evals.errors import SandboxError
from evals.workspace import docker
from evals.workspace.local import end_processes
from evals.workspace.place import Workspace, not_prepared

_WAIT_S = 60


async def settle(workspace: Workspace) -> None:
    """End all processes of the agent, so that nothing changes what it left; once is enough.

    On Docker the agent's container is paused, which stops even a fork bomb between two
    instructions, and then killed. Locally, processes that work in the sandbox's folder are killed;
    one that changed its folder is missed.

    Raises:
        SandboxError: The workspace is not prepared, or the container runs on.
    """
    if workspace.settled:
        return
    if workspace.kind == "docker":
        with anyio.CancelScope(shield=True):
            await _kill(workspace.agent_container)
    elif workspace.kind == "local":
        await end_processes(workspace)
    else:
        raise not_prepared()
    workspace.settled = True


async def _kill(container: str) -> None:
    # Either may fail because the container is down already; what counts is the state after.
    await docker.arun("pause", container)
    await docker.arun("kill", container)
    if await _is_down(container, _WAIT_S):
        return
    # Some engines hold the signal back for as long as the container is paused.
    await docker.arun("unpause", container)
    await docker.arun("kill", container)
    if not await _is_down(container, _WAIT_S):
        raise SandboxError(
            f"The agent's container {container} cannot be stopped, so its submission may still "
            "change and is not graded. Restart the Docker engine and run the sample again."
        )


async def _is_down(container: str, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        waited = await docker.arun("wait", container, timeout=seconds * 2)
        if waited.code == 0:
            return True
    state = await docker.arun("inspect", "--format", "{{.State.Running}}", container)
    # A container that is not there at all runs nothing either.
    return state.stdout.strip() == "false" or "no such" in state.stderr.lower()
