"""What Inspect must find by name under the prefix `evals/`; imports only, and cheap ones."""

from evals.biaa import biaa
from evals.harness.agent import agent
from evals.harness.baseline import baseline
from evals.harness.naive import naive
from evals.harness.oracle import oracle
from evals.harness.view_tool import view_image
from evals.scoring.metrics import dim, level, mean, stderr, tasks
from evals.scoring.outcome import grade
from evals.workspace.setup import prepare_workspace

__all__ = [
    "agent",
    "baseline",
    "biaa",
    "dim",
    "grade",
    "level",
    "mean",
    "naive",
    "oracle",
    "prepare_workspace",
    "stderr",
    "tasks",
    "view_image",
]
