"""The tool that tells an agent which of its files are found as deliverables, without any score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.log import transcript
from inspect_ai.tool import Tool, ToolError, tool

from evals.edition import capsule_for
from evals.errors import CapsuleInvalidError, DataMissingError, GraderFailedError
from evals.harness.sandboxed import capsule_of, current_workspace
from evals.scoring.run_grader import ask_child, ask_service, grader_service
from evals.validation.told import CHECK, MOST_BYTES, read_check
from scorers.linting.command import sentences

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

    from scorers.linting.submissions import Checked

_MOST_WORDS = 8000  # characters that the model gets
_FILES_NAMED = 10


def can_check(state: TaskState) -> bool:
    """Whether a sample has a capsule, and a place that sees the output and is not the agent's."""
    try:
        capsule_of(state)
    except (CapsuleInvalidError, DataMissingError):
        return False
    return current_workspace().kind == "local" or grader_service() is not None


@tool
def check_deliverables(data_hash: str, timeout: int = 120) -> Tool:
    """Tell which of the files in the output folder are found as deliverables.

    The check reads the task's specification and the output folder, not rubric or reference. It
    runs in the grader's service, else in a child process with limits, and gives no score.

    Args:
        data_hash: The capsule's hash, as the sample's metadata have it.
        timeout: Seconds that one check may take.
    """

    async def execute() -> str:
        """Check the names, columns and kinds of the files in the output folder.

        Tells for each deliverable which files are found, which are rejected and why, and what to
        mend. It does not tell whether the results are right.

        Returns:
            What is found, and what is wrong.
        """
        try:
            checked = await _ask(data_hash, timeout)
        except GraderFailedError as error:
            # What a failed grader printed is for us: it may name what the agent is not to know.
            transcript().info(error.message, source="evals/check_deliverables")
            raise ToolError(
                "The check did not finish. Files that are very large, or that change meanwhile, "
                "can be the reason."
            ) from error
        return words_of(checked)

    return execute


async def _ask(data_hash: str, timeout: int) -> Checked:
    """Run the check where files of the agent are read."""
    capsule = capsule_for(data_hash)
    service = grader_service()
    if service is not None:
        told = await ask_service(service, [*CHECK], capsule.task_id, timeout=timeout)
    else:
        told = await ask_child(
            [*CHECK],
            capsule.path,
            Path(current_workspace().output_dir),
            capsule.task_id,
            timeout=timeout,
            most_bytes=MOST_BYTES,
        )
    return read_check(told, capsule.task_id)


def words_of(checked: Checked) -> str:
    """Return a check in words for a model."""
    lacking = "" if checked.complete else " Not complete: a required deliverable is missing."
    lines = [f"This tells what is found, not whether it is right.{lacking}"]
    for entry in checked.deliverables:
        kind = "required" if entry.required else "optional"
        names = ", ".join(entry.found[:_FILES_NAMED]) or "none"
        more = ", …" if entry.count > _FILES_NAMED else ""
        lines.append(f"- {entry.id} ({kind}, {entry.pattern}): {entry.count} found: {names}{more}")
    lines += [f"- {line}" for line in sentences(checked.findings)]
    text = "\n".join(lines)
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}\n… (shortened)"
