"""How the log viewer lists the samples of a task with an outcome."""

from __future__ import annotations

from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import (
    SampleScoreView,
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

HEADLINE = HeadlineMetric(scorer="grade", score="outcome", metric="evals/mean")
_KEYS = {"outcome": "Outcome", "passed": "Passed", "strict": "Strict"}
_REFUSED = "refused"
_PROCESS = "process"
# None is called as its scorer: of such a key the viewer shows the whole value.
_PROCESS_KEYS = {
    "checklist": "Process",
    "checklist_strict": "Process, strict",
    "decided": "Decided",
}


def outcome_viewer(*, judged: bool = False) -> ViewerConfig:
    """Return the sample list: id, outcome, passed, strict, what ended it; colours from 0 to 1.

    Args:
        judged: Whether there is a process score, which then stands beside the outcome.
    """
    process = _PROCESS_KEYS if judged else {}
    labels = _KEYS | process
    scores = [TaskSamplesColumn.score("grade", key) for key in _KEYS]
    scores += [TaskSamplesColumn.score(_PROCESS, key) for key in process]
    shown = ["limit", "error", "duration", "tokens"]
    hidden = ["input", "target", "answer", "epoch", "retries", "sampleUuid"]
    return ViewerConfig(
        sample_score_view=SampleScoreView(default="grid"),
        task_samples_view=TaskSamplesView(
            name="Outcome",
            columns=[
                TaskSamplesColumn(id="sampleStatus"),
                TaskSamplesColumn(id="sampleId"),
                *scores,
                TaskSamplesColumn.score("grade", _REFUSED, visible=False),
                *(TaskSamplesColumn(id=name) for name in shown),
                *(TaskSamplesColumn(id=name, visible=False) for name in hidden),
            ],
            sort=[TaskSamplesSort(column="sampleId")],
            multiline=False,
            score_labels={**labels, _REFUSED: "Refused"},
            score_color_scales={
                key: ScoreColorScale(palette="good-high", min=0, max=1) for key in labels
            },
            color_scales_enabled=True,
        ),
    )
