"""What naive agents hand in, as files in a folder."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from evals.capsule import job_for

if TYPE_CHECKING:
    from pathlib import Path

    from evals.capsule import Capsule

KINDS = {
    "empty": "Handed in nothing.",
    "bluff": "All analyses are complete; every deliverable was written and checked.",
    "blank": "Handed in deliverables of the right shape that hold nothing.",
    "prior": "Handed in what one would expect from the field's publications.",
}


def leave(kind: str, capsule: Capsule, folder: Path) -> None:
    """Fill an empty folder with what a kind of naive agent hands in."""
    from evals.harness.prior import write_prior
    from scorers.graders import family_for

    if kind == "bluff":
        write_bluff(folder, capsule)
    elif kind == "prior" and write_prior(capsule, folder):
        return
    elif kind in ("blank", "prior"):
        family = family_for(capsule.spec, capsule.rubric)
        family.blank(job_for(capsule, folder), folder)


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
