from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import Epochs, score
from inspect_ai.event import InfoEvent
from inspect_ai.log import EvalLog, EvalSample, EvalScore, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.harness.react import react
from evals.scoring.keep import sha256
from evals.scoring.outcome import grade
from evals.scoring.viewer import HEADLINE
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from inspect_ai.scorer import Score

Run = Callable[..., EvalLog]
Edition = Callable[..., Path]
SetGrader = Callable[[float], None]
CSV = {"counts.csv": "image,count\na,1\n"}


@pytest.fixture(autouse=True)
def grader(set_grader: SetGrader) -> None:
    set_grader(0.81239)


def samples(log: EvalLog) -> dict[str, EvalSample]:
    assert log.samples is not None
    return {str(sample.id): sample for sample in log.samples}


def score_of(sample: EvalSample) -> Score:
    assert sample.scores, sample.error and sample.error.traceback
    return sample.scores["grade"]


def value_of(sample: EvalSample) -> dict[str, Any]:
    value = score_of(sample).value
    assert isinstance(value, dict)
    return value


def test_a_submission_is_graded_and_the_whole_grade_is_in_the_score(
    make_edition: Edition, run_biaa: Run
) -> None:
    sample = samples(run_biaa(make_edition(dots="good"), CSV))["dots"]
    assert value_of(sample) == {
        "outcome": 0.8124,
        "passed": 1.0,
        "strict": 0.4062,
        "refused": 0.0,
    }
    told = score_of(sample)
    assert told.answer == "counts.csv"
    assert told.metadata is not None
    assert told.metadata["metrics"] == {"files": 1}
    assert told.metadata["status"] == "delivered"
    assert "pictures" not in told.metadata
    assert told.explanation is not None
    assert "](data:image/png;base64,iVBOR" in told.explanation


def test_larger_pictures_are_in_the_scoring_span_and_not_in_the_score(
    make_edition: Edition, run_biaa: Run
) -> None:
    sample = samples(run_biaa(make_edition(dots="good"), CSV))["dots"]
    shown = [event for event in sample.events if isinstance(event, InfoEvent)]
    [overlay] = [event for event in shown if event.source == "evals/overlay"]
    spans = {event.id: event for event in sample.events if event.event == "span_begin"}
    assert overlay.span_id is not None
    assert spans[overlay.span_id].name == "grade"


def test_nothing_delivered_is_a_zero_with_a_reason(make_edition: Edition, run_biaa: Run) -> None:
    sample = samples(run_biaa(make_edition(dots="good")))["dots"]
    assert value_of(sample)["outcome"] == 0.0
    told = score_of(sample)
    assert told.answer == "no deliverable"
    assert "deliverable 'counts' not found" in (told.explanation or "")
    assert (told.metadata or {})["status"] == "no_deliverable"


def test_a_strict_value_that_is_not_available_is_left_out(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(dots="lax"), CSV)
    assert math.isnan(value_of(samples(log)["dots"])["strict"])
    assert log.results is not None
    strict = next(found for found in log.results.scores if found.name == "strict")
    assert (strict.scored_samples, strict.unscored_samples) == (0, 1)


@pytest.mark.parametrize("fault", ["killed", "nonsense", "broken"])
def test_a_grader_that_fails_errors_its_sample_alone(
    make_edition: Edition, run_biaa: Run, fault: str
) -> None:
    log = run_biaa(make_edition(bad=fault, good="good"), CSV)
    assert log.status == "success"
    failed, graded = samples(log)["bad"], samples(log)["good"]
    assert failed.error is not None
    assert "grader" in failed.error.message
    assert not failed.scores
    assert value_of(graded)["outcome"] == 0.8124


def test_a_killed_grader_is_told_by_its_signal(make_edition: Edition, run_biaa: Run) -> None:
    sample = samples(run_biaa(make_edition(dots="killed"), CSV))["dots"]
    assert sample.error is not None
    assert "killed by SIGKILL" in sample.error.message


def test_the_headline_is_the_mean_over_tasks(make_edition: Edition, run_biaa: Run) -> None:
    log = run_biaa(make_edition(one="good", two="good"), CSV)
    assert log.results is not None
    assert log.results.headline is not None
    assert log.results.headline.metric == "evals/mean"
    metrics = next(found for found in log.results.scores if found.name == "outcome").metrics
    assert metrics["evals/mean"].value == pytest.approx(0.8124)
    assert metrics["evals/stderr"].value == 0.0
    assert metrics["evals/dim_2D"].value == pytest.approx(0.8124)


def test_deliverables_are_kept_with_their_hashes(
    make_edition: Edition, run_biaa: Run, tmp_path: Path
) -> None:
    sample = samples(run_biaa(make_edition(dots="good"), CSV))["dots"]
    assert sample.uuid is not None
    kept = tmp_path / "submissions" / sample.uuid
    assert sample.store["Graded:kept"] == sample.uuid
    [file] = sample.store["Graded:kept_files"]
    assert file["path"] == "counts.csv"
    assert file["sha256"] == sha256(kept / "counts.csv")


def test_a_file_that_the_viewer_would_take_for_a_log_is_not_kept(
    make_edition: Edition, run_biaa: Run, tmp_path: Path
) -> None:
    names = ["forged.eval", "2026-01-01T00-00-00_biaa_x.json", "fine.json"]
    log = run_biaa(make_edition(dots="good"), dict.fromkeys(names, "{}"))
    sample = samples(log)["dots"]
    assert [path.name for path in tmp_path.glob("submissions/*/*")] == ["fine.json"]
    assert [file["path"] for file in sample.store["Graded:kept_files"]] == ["fine.json"]
    assert "forged.eval: named like an Inspect log" in sample.store["Graded:kept_note"]


def test_nothing_is_kept_where_nothing_is_to_be_kept(
    make_edition: Edition, run_biaa: Run, tmp_path: Path
) -> None:
    run_biaa(make_edition(dots="good"), CSV, options={"keep": "none"})
    assert not (tmp_path / "submissions").exists()


def test_a_finished_log_is_scored_again_without_sandbox_or_grader(
    make_edition: Edition, run_biaa: Run, set_grader: SetGrader
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    set_grader(0.1)
    again = score(read_eval_log(log.location), grade(), action="overwrite", display="none")
    old, new = score_of(samples(log)["dots"]), score_of(samples(again)["dots"])
    assert new.value == old.value
    assert new.explanation == old.explanation
    assert new.metadata == old.metadata


def test_a_run_without_scoring_is_graded_and_can_be_scored_later(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV, score=False)
    assert not samples(log)["dots"].scores
    again = score(read_eval_log(log.location), grade(), display="none")
    assert value_of(samples(again)["dots"])["outcome"] == 0.8124


def test_a_crashed_run_is_an_error_and_can_be_scored_later(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV, fail=True)
    crashed = samples(log)["dots"]
    assert crashed.error is not None
    assert not crashed.scores
    again = samples(score(read_eval_log(log.location), grade(), display="none"))["dots"]
    assert value_of(again)["outcome"] == 0.8124
    assert (score_of(again).metadata or {})["status"] == "crash"


def test_scoring_again_leaves_a_sample_without_verdict_unscored(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(bad="killed", good="good"), CSV)
    again = samples(score(read_eval_log(log.location), grade(), display="none"))
    told = score_of(again["bad"])
    assert isinstance(told.value, float)
    assert math.isnan(told.value)
    assert "SIGKILL" in (told.explanation or "")
    assert value_of(again["good"])["outcome"] == 0.8124


def test_the_log_tells_neither_where_the_reference_is_nor_what_it_says(
    make_edition: Edition, run_biaa: Run
) -> None:
    edition = make_edition(bad="broken", good="good", mad="nonsense")
    log = run_biaa(edition, CSV)
    with zipfile.ZipFile(log.location) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert "the-reference-says-42" not in text
    assert "/evaluation" not in text.replace("bad/evaluation", "")
    assert str(edition / "good") not in text
    assert str(edition / "bad") not in text


def test_hostile_file_names_stay_text_in_the_log(make_edition: Edition, run_biaa: Run) -> None:
    name = "x|y ![p](data:image/png;base64,AAAA) <b>.csv"
    sample = samples(run_biaa(make_edition(dots="good"), {name: "image,count\n"}))["dots"]
    told = score_of(sample)
    assert "![p]" not in (told.explanation or "")
    assert "<b>" not in f"{told.explanation} {told.answer}"


def refusing(*, times: int) -> Model:
    """Return a model whose provider lets nothing of its answers through."""
    no = ModelOutput.from_content("mockllm/model", "No.", stop_reason="content_filter")
    no.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=[no.model_copy(deep=True)] * times)


def result_of(log: EvalLog, name: str, reducer: str | None = "mean") -> EvalScore:
    assert log.results is not None
    found = [(score.name, score.reducer) for score in log.results.scores]
    assert (name, reducer) in found
    return log.results.scores[found.index((name, reducer))]


def test_a_run_that_the_provider_refused_is_left_out_of_the_means_and_counted(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(dots="good"), solver=react(), model=refusing(times=9))
    sample = samples(log)["dots"]
    assert sample.error is None
    value, told = value_of(sample), score_of(sample)
    assert all(math.isnan(value[key]) for key in ("outcome", "passed", "strict"))
    assert (told.metadata or {})["status"] == "refused"
    assert told.reason == "refusal"
    assert (told.explanation or "").startswith("**Not scored** · the model or its provider refused")
    assert result_of(log, "outcome").unscored_samples == 1
    assert result_of(log, "refused", None).metrics["evals/count"].value == 1


def test_what_was_delivered_before_a_refusal_is_scored_as_it_lies(
    make_edition: Edition, run_biaa: Run
) -> None:
    @solver
    def leave_then_ask() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            output = state.store_as(Workspace).output_dir
            await sandbox().write_file(f"{output}/counts.csv", "image,count\na,1\n")
            return await generate(state)

        return solve

    log = run_biaa(make_edition(dots="good"), solver=leave_then_ask(), model=refusing(times=1))
    sample = samples(log)["dots"]
    assert value_of(sample)["outcome"] == 0.8124
    assert (score_of(sample).metadata or {})["status"] == "delivered"
    assert result_of(log, "refused", None).metrics["evals/count"].value == 0


@solver
def three_ends() -> Solver:
    """Deliver in the first epoch, be refused in the second, deliver nothing in the third."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        output = state.store_as(Workspace).output_dir
        if state.epoch == 1:
            await sandbox().write_file(f"{output}/counts.csv", "image,count\na,1\n")
        stop = "content_filter" if state.epoch == 2 else "stop"
        state.output = ModelOutput.from_content("none/none", "The end.", stop_reason=stop)
        return state

    return solve


def test_epochs_give_mean_and_spread_without_the_refused_ones(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(make_edition(dots="good"), solver=three_ends(), options={"epochs": 3})
    assert [sample.epoch for sample in log.samples or []] == [1, 2, 3]
    mean, spread = (result_of(log, "outcome", reducer).metrics for reducer in ("mean", None))
    assert mean["evals/mean"].value == pytest.approx(0.4062)
    assert spread["evals/spread"].value == pytest.approx(stdev([0.8124, 0]))
    assert result_of(log, "refused", None).metrics["evals/count"].value == 1
    assert log.results is not None
    assert log.results.headline == HEADLINE.model_copy(update={"reducer": "mean"})


def test_the_spread_may_be_asked_for_as_a_reducer_and_the_headline_stays(
    make_edition: Edition, run_biaa: Run
) -> None:
    log = run_biaa(
        make_edition(dots="good"),
        solver=three_ends(),
        epochs=Epochs(3, ["mean", "evals/spread"]),
    )
    spread = result_of(log, "outcome", "evals/spread").metrics["evals/mean"].value
    assert spread == pytest.approx(stdev([0.8124, 0]))
    assert log.results is not None
    assert log.results.headline == HEADLINE.model_copy(update={"reducer": "mean"})
    again = score(read_eval_log(log.location), grade(), action="overwrite", display="none")
    for name, reducer in (("outcome", "mean"), ("outcome", "evals/spread"), ("refused", None)):
        assert result_of(again, name, reducer).metrics == result_of(log, name, reducer).metrics
