"""Classes with BIABench's contract, as people bring them: no package of ours is imported."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

SLEEP = [sys.executable, "-c", "import time; time.sleep(120)"]


@dataclass
class RunResult:
    success: bool
    message_or_log: str
    error: str = ""
    metadata: dict = field(default_factory=dict)


class BlobCounter:
    agent_id = "blob_counter"

    def __init__(self, sigma: float = 3.0) -> None:
        self.sigma = sigma

    def run(self, instruction: str, input_dir: Path, output_dir: Path) -> RunResult:
        """Write a table of blobs for every image of the input."""
        import numpy as np
        import tifffile
        from scipy import ndimage

        total = 0
        for path in sorted(input_dir.glob("*.tif*")):
            image = tifffile.imread(path).astype(np.float32)
            answer = -ndimage.gaussian_laplace(image, self.sigma)
            peaks = (answer == ndimage.maximum_filter(answer, 9)) & (answer > 4 * answer.std())
            rows = [f"{x},{y}" for y, x in zip(*np.nonzero(peaks), strict=True)]
            total += len(rows)
            (output_dir / f"{path.stem}.csv").write_text("\n".join(["X,Y", *rows, ""]))
        usage = {"input_tokens": 12, "output_tokens": 3}
        return RunResult(True, f"Found {total} cells.", metadata={"token_usage": usage})


class Copier:
    def run(self, instruction, input_dir, output_dir):
        """Copy an input, and leave a link, a pipe and what was told."""
        (output_dir / "copy.txt").write_text((input_dir / "a.txt").read_text())
        (output_dir / "link.txt").symlink_to("/etc/hostname")
        os.mkfifo(output_dir / "pipe")
        (output_dir / "told.txt").write_text(f"{instruction}|{input_dir}|{output_dir}")
        return {"message_or_log": "copied"}


class Raiser:
    def run(self, instruction, input_dir, output_dir):
        """Leave half of the work and fail, with a key in the message."""
        (output_dir / "half.txt").write_text("half")
        raise ValueError("no cells, says " + os.environ["SOME_API_KEY"])


class Quitter:
    def run(self, instruction, input_dir, output_dir):
        """End the process without a word."""
        os._exit(7)


class Peeker:
    def run(self, instruction, input_dir, output_dir):
        """Look for the reference beside the input, through links too."""
        real = Path(os.path.realpath(input_dir))
        files = [Path(os.path.realpath(path)) for path in input_dir.rglob("*")]
        places = {real.parent, real.parent.parent, *(path.parent.parent for path in files)}
        seen = [str(path) for place in places for path in place.rglob("*.csv")]
        try:
            (input_dir / "mark").write_text("x")
            seen.append("input can be written")
        except OSError:
            pass
        leads = [name for name in os.environ if name.startswith("EVALS_")]
        beside = (input_dir / ".." / "evaluation").exists()
        (output_dir / "seen.txt").write_text(f"{beside} {seen} {leads}")


class Sleeper:
    def __init__(self, note: str, stubborn: bool = False) -> None:
        self.note = Path(note)
        self.stubborn = stubborn

    def run(self, instruction, input_dir, output_dir):
        """Start a child in the group and one outside, note all three, and wait."""
        (output_dir / "half.txt").write_text("half")
        near = subprocess.Popen(SLEEP)
        far = subprocess.Popen(SLEEP, start_new_session=True, cwd="/")
        self.note.write_text(f"{os.getpid()} {near.pid} {far.pid}")
        try:
            time.sleep(120)
        finally:
            (output_dir / "rescued.txt").write_text("rescued")
            if self.stubborn:
                time.sleep(120)


class Filler:
    def run(self, instruction, input_dir, output_dir):
        """Leave 5 MB, and wait."""
        for number in range(50):
            (output_dir / f"{number}.bin").write_bytes(b"x" * 100_000)
        time.sleep(120)


class Backgrounder:
    def __init__(self, note: str) -> None:
        self.note = Path(note)

    def run(self, instruction, input_dir, output_dir):
        """Return, but leave a child that holds the streams."""
        child = subprocess.Popen(SLEEP, start_new_session=True)
        self.note.write_text(str(child.pid))
        return "left a child"


class NoRun:
    pass


class OtherRun:
    def run(self, task):
        """Take something else."""
        return task


class Fussy(Copier):
    def __init__(self, model: str) -> None:
        self.model = model


def not_a_class():
    return None
