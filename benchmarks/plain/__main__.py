"""Score one submission in the plain way: `python -m benchmarks.plain FAMILY TASK_DIR SUBMISSION`.

Prints the metrics as one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.plain import instances, tracking, vessels

FAMILIES = {
    "compartments": instances.score_compartments,
    "volumes": instances.score_volumes,
    "tracking": tracking.score,
    "vessels": vessels.score,
}

if __name__ == "__main__":
    family, task, submission = sys.argv[1:]
    print(json.dumps(FAMILIES[family](Path(task) / "evaluation", Path(submission))))
