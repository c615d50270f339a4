"""Evidence of one sample's submission, gathered where it is graded: away from agent and run."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evals.edition import capsule_for
from evals.errors import GraderFailedError
from evals.scoring.keep import Keeping
from evals.scoring.run_grader import ask_child, ask_service, grader_service
from evals.scoring.verdict import printable
from evals.workspace.export import export
from scorers.rubric.evidence import EVIDENCE_BYTES, Evidence
from scorers.rubric.figures import SIDE, Images

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

    from evals.workspace.place import Workspace

EVIDENCE_TIMEOUT = 900
# The builder counts before it adds what checks say.
_MOST_PRINTED = EVIDENCE_BYTES + 2**18


@dataclass(frozen=True)
class Look:
    """What is looked at.

    Attributes:
        images: Which figures: `none`, `plots` (no TIFFs) or `all`; a judge may be shown fewer.
        side: Longer side of figures at most, in pixels.
        timeout: Seconds that gathering may take.
    """

    images: Images = "all"
    side: int = SIDE
    timeout: int = EVIDENCE_TIMEOUT

    def words(self, input_after: str | None) -> list[str]:
        """Return the command of `scorers` with its options.

        Args:
            input_after: The agent's own input folder, if it is still there.
        """
        after = [] if input_after is None else ["--input-after", input_after]
        return ["evidence", "--images", self.images, "--side", str(self.side), *after]


DEFAULT = Look()


async def gather_evidence(state: TaskState, workspace: Workspace, look: Look = DEFAULT) -> Evidence:
    """Gather the evidence of the sample at hand, in its grader service or in a child process.

    Args:
        state: The sample.
        workspace: Its workspace, in which nothing of the agent runs any more.
        look: What is looked at.

    Raises:
        GraderFailedError: Evidence could not be gathered, which is a fault of ours. What is wrong
            with the submission stands in the evidence.
    """
    task_id = str(state.metadata["task_id"])
    service = grader_service()
    if service is not None:
        # The agent's input is a mount of this very folder.
        told = await ask_service(
            service, look.words("/capsule/input"), task_id, timeout=look.timeout
        )
        return read_evidence(told, task_id)
    capsule = capsule_for(state.metadata["data_hash"]).path
    if workspace.kind == "local":
        folder = Path(workspace.output_dir)
        return await gather_folder(capsule, folder, task_id, look, workspace.input_dir)
    with tempfile.TemporaryDirectory(prefix="evals-submission-") as scratch:
        folder = Path(scratch) / "submission"
        await export(workspace, folder, keep="all", cap_bytes=Keeping.cap_bytes)
        return await gather_folder(capsule, folder, task_id, look)


async def gather_folder(
    capsule: Path,
    submission: Path,
    task_id: str,
    look: Look = DEFAULT,
    input_after: str | None = None,
) -> Evidence:
    """Gather the evidence of a folder of this machine, such as a kept submission.

    Args:
        capsule: Folder of the task.
        submission: Folder that an agent left.
        task_id: The task that the evidence must be on.
        look: What is looked at.
        input_after: The agent's own input folder, if it is still there.

    Raises:
        GraderFailedError: As for `gather_evidence`.
    """
    told = await ask_child(
        look.words(input_after),
        capsule,
        submission,
        task_id,
        timeout=look.timeout,
        most_bytes=_MOST_PRINTED,
    )
    return read_evidence(told, task_id)


def read_evidence(text: str, task_id: str) -> Evidence:
    """Check and return the evidence on the given task.

    Raises:
        GraderFailedError: It is no JSON, too large, misshapen, or about another task.
    """
    if len(text.encode("utf-8", "surrogatepass")) > _MOST_PRINTED:
        raise GraderFailedError(f"The evidence on {task_id} is larger than {_MOST_PRINTED} bytes.")
    try:
        evidence = Evidence.model_validate(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise GraderFailedError(f"The evidence on {task_id} is no JSON: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise GraderFailedError(
            f"The evidence on {task_id} does not hold to the contract: "
            f"{printable(place)}: {printable(first['msg'])} ({error.error_count()} faults in all)."
        ) from error
    if evidence.task_id != task_id:
        raise GraderFailedError(
            f"The evidence is on {printable(evidence.task_id)!r}, expected {task_id!r}."
        )
    return evidence
