"""The instruction as the agent reads it: five blocks, the same for both tiers but the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evals.biaa.compute import Compute
    from evals.biaa.metadata import InstructionLevel
    from scorers.specification import Deliverable, TaskSpec

INPUT_DIR = "/workspace/input"
OUTPUT_DIR = "/workspace/output"
AGENT_ID = "agent"

_RULE = "\n\n---\n\n"
_STUDY = """\
## The study behind this task

- The task may go back to published work. Do not search for, open or read that publication, its \
figures, its supplements or the values it reports, and do not try to find out from file names or \
metadata which study it is. Every number you hand in has to come from the data you are given. \
What you know of methods in general, and the documentation of software, you may use."""


def render_prompt(
    spec: TaskSpec, level: InstructionLevel, compute: Compute, *, agent_id: str = AGENT_ID
) -> str:
    """Return the whole instruction.

    Args:
        spec: The task.
        level: Which of its two instructions.
        compute: What the agent has to work with.
        agent_id: What `{agent_id}` stands for; other braces stay as they are.
    """
    logic = spec.task_logic
    body = logic.basic_instructions if level == "basic" else logic.expert_instructions
    blocks = [body.strip()]
    if spec.deliverables:
        blocks.append(_deliverables(spec.deliverables))
    blocks += [_STUDY, _compute(compute), _places()]
    return _RULE.join(blocks).replace("{agent_id}", agent_id)


def _deliverables(deliverables: tuple[Deliverable, ...]) -> str:
    entries = "\n\n".join(_deliverable(item) for item in deliverables)
    return (
        "## Files to hand in\n\nThese files are looked up by their names in the output "
        f"directory:\n\n{entries}"
    )


def _deliverable(item: Deliverable) -> str:
    need = "required" if item.required else "optional"
    count = ", multi-file: one for each item" if item.multi else ""
    lines = [f"- {item.id}  ({need}{count})", f"Filename pattern: {item.filename_pattern}"]
    if item.format:
        lines.append(f"Format: {item.format.strip()}")
    lines += item.description.strip().splitlines()
    if item.required_columns:
        lines.append(f"Required columns: {', '.join(item.required_columns)}")
    return "\n  ".join(lines)


def _compute(compute: Compute) -> str:
    memory = compute.memory_bytes
    with_memory = f" and {memory / 2**30:.0f} GiB of memory" if memory else ""
    points = [f"You have {_count(compute.cpus, 'CPU core')}{with_memory}."]
    if compute.gpus:
        points.append(
            f"{_count(len(compute.gpus), 'CUDA GPU')} ({', '.join(sorted(set(compute.gpus)))}) "
            "can be used: prefer it for heavy steps, and go back to the CPU where it fails."
        )
    if compute.network:
        points.append("Work without the network, even where it can be reached.")
    else:
        points.append("There is no network: nothing can be downloaded or installed.")
    if compute.time_limit_s:
        points.append(
            f"You have {_duration(compute.time_limit_s)} of wall-clock time. When it is over, "
            "what lies in the output directory is scored, so save early."
        )
    return "## What you can compute with\n\n" + "\n".join(f"- {point}" for point in points)


def _places() -> str:
    return (
        "## Where to read and write\n\n"
        f"- Input directory (read-only): {INPUT_DIR}\n"
        "  Its files are deliberately not listed here; look at what is there.\n"
        f"- Output directory (write here): {OUTPUT_DIR}\n"
        "  Files anywhere else are not seen.\n"
        "- Use absolute paths."
    )


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}{'' if number == 1 else 's'}"


def _duration(seconds: int) -> str:
    if seconds % 60:
        return _count(seconds, "second")
    return _count(seconds // 60, "minute")
