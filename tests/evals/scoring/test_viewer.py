from __future__ import annotations

from evals.scoring.viewer import outcome_viewer


def shown(*, judged: bool) -> list[str]:
    """Return the ids of the columns that are seen."""
    view = outcome_viewer(judged=judged).task_samples_view
    assert view is not None
    assert not isinstance(view, list)
    return [column.id for column in view.columns or [] if column.visible]


def test_a_run_without_a_judge_has_no_columns_of_the_process() -> None:
    assert not [name for name in shown(judged=False) if "process" in name]


def test_a_judged_run_has_the_process_beside_the_outcome() -> None:
    names = shown(judged=True)
    place = names.index("score__grade__strict")
    assert names[place + 1 : place + 4] == [
        "score__process__checklist",
        "score__process__checklist_strict",
        "score__process__decided",
    ]
