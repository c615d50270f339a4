"""What lies in the output of a settled workspace, and since when."""

from __future__ import annotations

import json
import logging
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

import anyio.to_thread
from pydantic import BaseModel, ValidationError

from evals.errors import SandboxError
from evals.telemetry.listing import listing
from evals.workspace import docker

if TYPE_CHECKING:
    from evals.workspace.place import Workspace

MOST_FILES = 100
_TIME_LIMIT_S = 120

_log = logging.getLogger(__name__)


class Listed(BaseModel):
    """The files of an output.

    Attributes:
        files: Path, size in bytes and time of the last change in seconds since 1970.
        total: Number of all files.
        bytes: Size of all files.
        complete: There are no more files than were counted.
    """

    files: list[tuple[str, int, float]]
    total: int
    bytes: int
    complete: bool


async def list_output(workspace: Workspace) -> Listed | None:
    """Return the files of a settled output, or None where they cannot be listed.

    A listing never costs a verdict, so a sandbox that does not answer is no error here.
    """
    if workspace.kind == "local":
        look = partial(listing, workspace.output_dir, MOST_FILES)
        return Listed.model_validate(await anyio.to_thread.run_sync(look))
    if not workspace.grader_container:
        # The agent's own container is dead by now.
        return None
    program = resources.files("evals.telemetry").joinpath("listing.py").read_text("utf-8")
    command = ["python3", "-I", "-c", program, "/submission", str(MOST_FILES)]
    try:
        # Not through Inspect, which would note the program in the transcript.
        told = await docker.arun(
            "exec", workspace.grader_container, *command, timeout=_TIME_LIMIT_S
        )
        return Listed.model_validate(json.loads(told.stdout))
    except (SandboxError, ValueError, ValidationError) as error:
        _log.warning("The output of %s cannot be listed: %s", workspace.grader_container, error)
        return None
