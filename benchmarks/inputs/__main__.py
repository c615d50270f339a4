"""Make one case's input: `python -m benchmarks.inputs CASE FOLDER SEED LENGTHS...`.

A process of its own, so that what it takes of memory is not counted for those that it starts
beside. Prints the number of voxels on both sides.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.inputs import compartments, tracking, vessels, volumes

MAKERS = {
    "compartments": compartments.make,
    "volumes": volumes.make,
    "tracking": tracking.make,
    "vessels": vessels.make,
}
_TASKS = Path(__file__).parents[2] / "tasks" / "biaa"


def main() -> None:
    """Make the capsule in FOLDER/task and what was submitted in FOLDER/submission."""
    name, folder, seed, *lengths = sys.argv[1:]
    task, submission = Path(folder, "task"), Path(folder, "submission")
    for made in (task / "evaluation", submission):
        made.mkdir(parents=True)
    for file in ("task_spec.yaml", "evaluation_rubric.yaml"):
        shutil.copy(_TASKS / CASES[name].task_id / file, task)
    shape = tuple(int(length) for length in lengths)
    print(MAKERS[name](task / "evaluation", submission, int(seed), shape))


if __name__ == "__main__":
    main()
