"""A model endpoint inside the sandbox, so that any harness works there without a key of its own.

Inspect's bridge runs a small server in the sandbox that speaks the dialects of OpenAI, Anthropic
and Google; each request goes through Inspect to the model of the run, whichever that is, and is an
event of the sample like any other call of the model.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import asynccontextmanager
from importlib import metadata
from typing import TYPE_CHECKING

from inspect_ai.agent import sandbox_agent_bridge
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.util import sandbox

from evals.errors import DataMissingError, ModelFailedError, SandboxError
from evals.scoring.status import is_refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspect_ai.agent import AgentState

    from evals.workspace.place import Workspace

MODEL = "inspect"  # the name under which the bridge serves the run's model
PORT = 13131
_SDKS = ("anthropic", "google-genai", "openai")
# The server listens only a moment after it was started.
_WAIT = """\
for _ in $(seq 300); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && exit 0; sleep 0.1; done
exit 1
"""
_WAIT_S = 60
_SERVER_DIED = "Model proxy process exited"


class EndpointDiedError(SandboxError):
    """The endpoint's server ended while a harness worked, killed for memory or by the harness."""


def check_sdks(solver: str) -> None:
    """Check that the dialects can be spoken: Inspect builds their answers with the makers' SDKs.

    Args:
        solver: The solver that needs them, such as "evals/command".

    Raises:
        DataMissingError: One of the SDKs is not installed.
    """
    missing = [name for name in _SDKS if not _installed(name)]
    if missing:
        raise DataMissingError(
            f"{solver} hands the model to programs in the sandbox, for which"
            f" {', '.join(missing)} must be installed (no key is needed). Mend: install"
            " evals[harness], in a checkout by `pip install -e '.[harness]'`."
        )


@asynccontextmanager
async def model_endpoint(state: AgentState, workspace: Workspace) -> AsyncIterator[dict[str, str]]:
    """Serve the run's model inside the sandbox while the block runs.

    Args:
        state: Conversation; what goes over the endpoint is kept in it.
        workspace: The sample's workspace.

    Yields:
        The environment variables that lead a harness to the endpoint.

    Raises:
        EndpointDiedError: The server ended while the block ran.
        SandboxError: The sandbox cannot have a server.
    """
    port = _port_for(workspace)
    try:
        async with sandbox_agent_bridge(state, sandbox="default", port=port):
            listens = await sandbox().exec(
                ["bash", "-c", _WAIT, "bash", str(port)], timeout=_WAIT_S, concurrency=False
            )
            if not listens.success:
                raise SandboxError(
                    f"the model endpoint in the sandbox does not listen on port {port}. Look at"
                    " the sample's events for what its server said, and run the sample again."
                )
            yield _variables(port, workspace)
    except RuntimeError as error:
        if _SERVER_DIED in str(error):
            raise EndpointDiedError(
                "the model endpoint in the sandbox ended before its time"
            ) from error
        raise


def check_model_answered() -> None:
    """Check that not all calls of this sample's model failed: that would be no fault of a harness.

    A provider that refused has answered.

    Raises:
        ModelFailedError: There were calls, and each of them failed.
    """
    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    errors = [call.error for call in calls if call.error]
    if calls and len(errors) == len(calls) and not is_refusal(errors[-1]):
        raise ModelFailedError(
            f"None of {len(calls)} calls of the model succeeded, so there is no work of it to"
            f" grade; the last one said: {errors[-1][-500:]}"
        )


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _port_for(workspace: Workspace) -> int:
    """Return the port of a sample's endpoint; without isolation all samples share this machine's.

    Raises:
        SandboxError: This machine cannot run the server itself.
    """
    if workspace.kind != "local":
        return PORT
    if sys.platform != "linux":
        raise SandboxError(
            "The model endpoint is a Linux program, which the sandbox `local` cannot run on"
            f" {sys.platform}. Mend: use Docker, -T sandbox=docker."
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _variables(port: int, workspace: Workspace) -> dict[str, str]:
    root = f"http://127.0.0.1:{port}"
    direct = "127.0.0.1,localhost"
    if workspace.kind == "local":
        direct = ",".join(filter(None, [os.environ.get("NO_PROXY"), direct]))
    return {
        "EVALS_MODEL": MODEL,
        "OPENAI_BASE_URL": f"{root}/v1",
        "OPENAI_API_BASE": f"{root}/v1",
        "OPENAI_API_KEY": MODEL,
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": MODEL,
        "GOOGLE_GEMINI_BASE_URL": root,
        "GEMINI_API_KEY": MODEL,
        "NO_PROXY": direct,
        "no_proxy": direct,
    }
