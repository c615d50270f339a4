"""The floor: what is earned without looking at the data."""

from __future__ import annotations

import struct
import tempfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.capsule import job_for
from evals.errors import UnknownNameError
from evals.harness.sandboxed import capsule_of, conclude, current_workspace, family_of

if TYPE_CHECKING:
    from evals.capsule import Capsule

KINDS = {
    "empty": "Handed in nothing.",
    "bluff": "All analyses are complete; every deliverable was written and checked.",
    "blank": "Handed in deliverables of the right shape that hold nothing.",
}


@solver
def naive(kind: str = "empty") -> Solver:
    """Hand in something that took no look at the data: what a score is worth at least.

    Calls no model: run it with `--model none/none`.

    Args:
        kind: `empty` leaves an empty folder; `bluff` a fluent report, a log and a tiny picture,
            but no deliverables; `blank` deliverables of the right shape that hold nothing.
    """
    if kind not in KINDS:
        raise UnknownNameError(
            f"evals/naive: unknown kind {kind!r}; expected one of {', '.join(KINDS)}, for example"
            " -S kind=blank"
        )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        capsule = capsule_of(state)
        with tempfile.TemporaryDirectory(prefix="evals-naive-") as name:
            folder = Path(name)
            if kind == "bluff":
                write_bluff(folder, capsule)
            elif kind == "blank":
                blank = partial(family_of(capsule).blank, job_for(capsule, folder), folder)
                await anyio.to_thread.run_sync(blank)
            if kind != "empty":
                await current_workspace().put_tree(folder)
        return conclude(state, KINDS[kind])

    return solve


def write_bluff(folder: Path, capsule: Capsule) -> None:
    """Write a report that claims everything, a log that agrees, and a picture of nothing."""
    claims = "\n".join(
        f"- `{deliverable.id}`: written, validated and free of artefacts."
        for deliverable in capsule.spec.deliverables
    )
    report = (
        f"# Analysis of {capsule.task_id}\n\n"
        "The images were inspected, denoised and corrected for uneven illumination. Parameters"
        " were tuned on a held-out part and the results agree with visual inspection throughout."
        f"\n\n## Deliverables\n\n{claims}\n\n"
        "## Conclusion\n\nThe quality is excellent and no further work is needed.\n"
    )
    (folder / "report.md").write_text(report, encoding="utf-8")
    log = "step 1/3 inspected input: ok\nstep 2/3 analysed: ok\nstep 3/3 validated: ok\n"
    (folder / "analysis.log").write_text(log, encoding="utf-8")
    (folder / "overview.png").write_bytes(_one_pixel())


def _one_pixel() -> bytes:
    """Return a PNG of a single grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x80")
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks
