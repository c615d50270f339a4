"""What Inspect must find by name under the prefix `evals/`; imports only, and cheap ones."""

from evals.biaa import biaa
from evals.harness.adapter import adapter
from evals.harness.baseline import baseline
from evals.harness.check_tool import check_deliverables
from evals.harness.coding.agents import (
    claude_code,
    codex_cli,
    gemini_cli,
    mini_swe_agent,
    opencode,
)
from evals.harness.command import command
from evals.harness.human import human
from evals.harness.minimal import minimal
from evals.harness.naive import naive
from evals.harness.oracle import oracle
from evals.harness.react import react
from evals.harness.ready import ready
from evals.harness.view_tool import view_image
from evals.judging.process import process
from evals.scoring.metrics import count, dim, level, mean, spread, stderr, tasks
from evals.scoring.outcome import grade
from evals.scoring.reducers import spread as spread_reducer
from evals.workspace.setup import prepare_workspace

__all__ = [
    "adapter",
    "baseline",
    "biaa",
    "check_deliverables",
    "claude_code",
    "codex_cli",
    "command",
    "count",
    "dim",
    "gemini_cli",
    "grade",
    "human",
    "level",
    "mean",
    "mini_swe_agent",
    "minimal",
    "naive",
    "opencode",
    "oracle",
    "prepare_workspace",
    "process",
    "react",
    "ready",
    "spread",
    "spread_reducer",
    "stderr",
    "tasks",
    "view_image",
]
