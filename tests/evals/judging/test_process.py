from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai import eval, score
from inspect_ai.event import InfoEvent, ModelEvent
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from evals.biaa.task import biaa
from evals.errors import EvalsError
from evals.harness.react import react
from evals.judging.account import FIGURE_SOURCE
from evals.judging.dossier import Dossier
from evals.judging.process import process
from evals.telemetry.work import JUDGE

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import Model
    from inspect_ai.scorer import Score

Kit = Any
DIVISIONS, PARAMETERS, FAILING, VERSIONS = (
    "chk_0001_divisions_are_found",
    "chk_0003_parameters_were_chosen_by_looking",
    "chk_0004_an_image_that_fails_is_told",
    "chk_0005_versions_are_told",
)
pytestmark = pytest.mark.usefixtures("gathered")


def agent() -> Model:
    """Return an agent that writes its file and says so."""
    write = "echo written"
    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": write}),
        ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "done"}),
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return get_model("mockllm/model", custom_outputs=outputs)


class Runs:
    """Runs of the task with a judge that plays a script."""

    def __init__(self, folder: Path, edition: Path, checklist: Path) -> None:
        self.folder, self.edition, self.checklist = folder, edition, checklist

    def __call__(self, *scripts: Any, model: Any = None, **options: Any) -> EvalLog:
        """Run the task; each script is a judge."""
        given = {
            "edition": str(self.edition),
            "sandbox": "local",
            "checklist": str(self.checklist),
            "process": True,
            "submissions": str(self.folder / "submissions"),
            **options,
        }
        models = [script.model() for script in scripts]
        roles = {"grader": models if len(models) > 1 else models[0]} if models else None
        [log] = eval(
            biaa(**given),
            model=model or agent(),
            solver=react(),
            model_roles=roles,
            log_dir=str(self.folder / "logs"),
            display="none",
        )
        return log

    def judge_again(self, log: EvalLog, script: Any, **options: Any) -> EvalLog:
        """Judge a log that lies on disk."""
        scorer = process(checklist=str(self.checklist), **options)
        roles = {"grader": script.model()}
        return score(read_eval_log(log.location), scorer, model_roles=roles, display="none")


@pytest.fixture
def runs(tmp_path: Path, edition: Path, checklist: Path) -> Runs:
    return Runs(tmp_path, edition, checklist)


def sample_of(log: EvalLog) -> EvalSample:
    assert log.status == "success", log.error
    assert log.samples
    return log.samples[0]


def score_of(log: EvalLog, name: str = "process") -> Score:
    sample = sample_of(log)
    assert sample.scores, sample.error and sample.error.traceback
    return sample.scores[name]


def test_the_score_is_the_published_one_with_a_strict_one_beside_it(runs: Runs, kit: Kit) -> None:
    script = kit.Script({PARAMETERS: "fail", FAILING: "unknown"})
    told = score_of(runs(script))
    # Weights: 3 and 1 passed, 2 failed, 1 unknown.
    assert told.value == {
        "checklist": round(4 / 6, 4),
        "checklist_strict": round(4 / 7, 4),
        "decided": round(6 / 7, 4),
    }
    assert script.calls == 2


def test_the_outcome_is_scored_beside_it_and_never_told_to_the_judge(runs: Runs, kit: Kit) -> None:
    script = kit.Script()
    log = runs(script)
    assert score_of(log, "grade").value is not None
    said = "\n".join(script.texts)
    for private in ("4711", "4712", "secret radius", "outcome", "result_score", "strict"):
        assert private not in said


def test_every_decision_is_in_the_metadata(runs: Runs, kit: Kit) -> None:
    told = score_of(runs(kit.Script({DIVISIONS: "fail", VERSIONS: "unknown"}))).metadata
    assert told is not None
    rows = {row["item_id"]: row for row in told["decisions"]}
    assert list(rows) == [DIVISIONS, PARAMETERS, FAILING, VERSIONS]
    assert rows[DIVISIONS]["status"] == "fail"
    assert rows[DIVISIONS]["refs"] == ["file:count.py"]
    assert rows[VERSIONS]["unknown_reason"] == "ambiguous_evidence"
    assert told["failed_criticals"] == [DIVISIONS]
    assert told["checklist"]["name"] == "checklist.yaml"
    assert told["protocol"]["samples"] == 1


def test_tokens_of_the_judge_are_kept_apart_from_the_agents(runs: Runs, kit: Kit) -> None:
    log = runs(kit.Script())
    sample = sample_of(log)
    telemetry = (score_of(log, "grade").metadata or {})["telemetry"]
    assert telemetry["tokens"]["total"] == 30
    tally = (score_of(log).metadata or {})["judges"]["mockllm/model"]
    assert (tally["calls"], tally["usage"]["total_tokens"]) == (2, 2200)
    assert sample.role_usage[JUDGE].total_tokens == 2200


def test_the_account_has_critical_failures_first(runs: Runs, kit: Kit) -> None:
    script = kit.Script({DIVISIONS: "fail", PARAMETERS: "fail", FAILING: "unknown"})
    told = score_of(runs(script)).explanation
    assert told is not None
    head, _, *lines = [line for line in told.splitlines() if line.startswith("|")]
    assert head == "| Item | Decision | Why | Evidence |"
    assert [line.split()[1] for line in lines] == ["Divisions", "Parameters", "An", "Versions"]
    assert "**1 critical failed**" in told
    assert "file:count.py" in lines[0]


def test_figures_that_the_judge_saw_are_in_the_scoring_span(runs: Runs, kit: Kit) -> None:
    script = kit.Script()
    events = sample_of(runs(script)).events
    shown = [each for each in events if isinstance(each, InfoEvent) if each.source == FIGURE_SOURCE]
    assert len(shown) == 1  # the plot, not the image
    assert script.images == [1, 1]
    spans = {event.id: event for event in events if event.event == "span_begin"}
    assert shown[0].span_id is not None
    assert spans[shown[0].span_id].name == "process"


@pytest.mark.parametrize(("images", "count"), [("none", 0), ("all", 2)])
def test_which_figures_it_sees_can_be_set(runs: Runs, kit: Kit, images: str, count: int) -> None:
    script = kit.Script()
    runs(script, judge_images=images)
    assert script.images == [count, count]


def test_the_evidence_is_kept_and_judged_again_without_a_sandbox(
    runs: Runs, kit: Kit, gathered: list[str]
) -> None:
    log = runs(kit.Script())
    again = runs.judge_again(log, kit.Script({DIVISIONS: "fail"}), cache=False)
    scores = sample_of(again).scores or {}
    before, after = scores["process"], scores["process1"]
    assert isinstance(before.value, dict)
    assert isinstance(after.value, dict)
    assert (before.value["checklist"], after.value["checklist"]) == (1.0, round(4 / 7, 4))
    assert gathered == ["dots"]


def test_judging_again_costs_nothing(runs: Runs, kit: Kit) -> None:
    log = runs(kit.Script())
    script = kit.Script()
    again = runs.judge_again(log, script)
    assert script.calls == 0
    tally = ((sample_of(again).scores or {})["process1"].metadata or {})["judges"]["mockllm/model"]
    assert (tally["calls"], tally["cache_hits"]) == (0, 2)


def test_the_same_run_once_more_is_answered_from_the_cache(runs: Runs, kit: Kit) -> None:
    runs(kit.Script())
    script = kit.Script()
    runs(script)
    assert script.calls == 0


def test_a_log_whose_evidence_was_kept_without_a_judge_can_be_judged(runs: Runs, kit: Kit) -> None:
    log = runs(process=False, evidence=True, checklist=None)
    assert set(sample_of(log).scores or {}) == {"grade"}
    again = runs.judge_again(log, kit.Script())
    assert (sample_of(again).scores or {})["process"].value == {
        "checklist": 1.0,
        "checklist_strict": 1.0,
        "decided": 1.0,
    }


def test_a_log_without_evidence_is_unscored_with_a_reason(runs: Runs, kit: Kit) -> None:
    log = runs(process=False, evidence=False, checklist=None)
    told = (sample_of(runs.judge_again(log, kit.Script())).scores or {})["process"]
    assert isinstance(told.value, float)
    assert math.isnan(told.value)
    assert "keeps no evidence" in (told.explanation or "")


def test_no_rubric_is_in_a_log_without_a_judge(runs: Runs) -> None:
    log = runs(process=False, evidence=True, checklist=None)
    told = sample_of(log).model_dump_json()
    assert "Only whole dots count" not in told
    assert "secret radius" not in told


def test_a_judge_that_fails_wholly_leaves_the_sample_unscored(runs: Runs, kit: Kit) -> None:
    log = runs(kit.Script(say=lambda ids, call: RuntimeError("down")))
    told = score_of(log)
    assert isinstance(told.value, float)
    assert math.isnan(told.value)
    assert told.reason == "grader_failed"
    assert "down" in (told.explanation or "")
    assert isinstance(score_of(log, "grade").value, dict)


def test_a_refused_run_without_work_is_left_out_and_not_judged(runs: Runs, kit: Kit) -> None:
    def refuse(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", "No.", stop_reason="content_filter")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    script = kit.Script()
    log = runs(script, model=get_model("mockllm/model", custom_outputs=refuse))
    told = score_of(log)
    assert isinstance(told.value, dict)
    assert all(math.isnan(float(value or 0)) for value in told.value.values())
    assert (told.reason, script.calls) == ("refusal", 0)


def test_where_all_is_unknown_there_is_no_score_but_a_share(runs: Runs, kit: Kit) -> None:
    statuses = dict.fromkeys((DIVISIONS, PARAMETERS, FAILING, VERSIONS), "unknown")
    value = score_of(runs(kit.Script(statuses))).value
    assert isinstance(value, dict)
    assert math.isnan(float(value["checklist"] or 0))
    assert value["decided"] == 0.0


def test_a_list_of_models_in_the_role_is_a_panel(runs: Runs, kit: Kit) -> None:
    scripts = [kit.Script({VERSIONS: "fail"}), kit.Script({VERSIONS: "fail"}), kit.Script()]
    told = score_of(runs(*scripts))
    assert isinstance(told.value, dict)
    assert told.value["checklist"] == round(6 / 7, 4)
    metadata = told.metadata or {}
    assert metadata["agreement"] == pytest.approx((3 + 1 / 3) / 4)
    [row] = [row for row in metadata["decisions"] if row["item_id"] == VERSIONS]
    assert row["votes"] == {"fail": 2, "pass": 1}
    assert len(row["by_judge"]) == 3


def test_anchors_of_the_task_are_rules_for_the_judge(runs: Runs, kit: Kit) -> None:
    script = kit.Script()
    runs(script)
    assert all("Only whole dots count." in text for text in script.texts)


@pytest.fixture
def checked(runs: Runs) -> str:
    """Add an item that a check decides, and return its id."""
    told = yaml.safe_load(runs.checklist.read_text(encoding="utf-8"))
    group = {"checklist": [{"text": "Input files are the same", "severity": "critical"}]}
    told["general_evaluation"]["input_understanding"] = group
    runs.checklist.write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    rubric = runs.edition / "dots" / "evaluation_rubric.yaml"
    rubric.write_text(rubric.read_text().replace("tool_use", "input_understanding"))
    return "chk_0006_input_files_are_the_same"


def test_a_judge_that_obeys_all_it_reads_moves_no_item_that_a_check_decides(
    runs: Runs, kit: Kit, checked: str
) -> None:
    told = score_of(runs(kit.Script(), hybrid=True))
    assert isinstance(told.value, dict)
    assert told.value["checklist"] == 0.5
    metadata = told.metadata or {}
    [row] = [row for row in metadata["decisions"] if row["item_id"] == checked]
    assert (row["status"], row["by"], row["judge_status"]) == ("fail", "check", "pass")
    [apart] = metadata["disagreements"]
    assert apart["item_id"] == checked
    assert "on 1 the judge says otherwise" in (told.explanation or "")


def test_checks_decide_nothing_unless_asked(runs: Runs, kit: Kit, checked: str) -> None:
    told = score_of(runs(kit.Script()))
    assert isinstance(told.value, dict)
    assert told.value["checklist"] == 1.0


def test_the_run_that_the_judge_reads_is_the_agents(runs: Runs, kit: Kit) -> None:
    script = kit.Script()
    log = runs(script)
    assert "calls bash: echo written" in script.texts[0]
    assert "got: written" in script.texts[0]
    store = sample_of(log).store
    assert str(runs.folder) not in str(store[f"{Dossier.__name__}:transcript"])


def test_the_judge_works_on_where_the_agent_was_ended_by_its_tokens(runs: Runs, kit: Kit) -> None:
    log = runs(kit.Script(), token_limit=20)
    assert sample_of(log).limit is not None
    value = score_of(log).value
    assert isinstance(value, dict)
    assert value["checklist"] == 1.0


def test_calls_of_the_judge_are_marked_as_such_in_the_log(runs: Runs, kit: Kit) -> None:
    events = sample_of(runs(kit.Script())).events
    roles = [event.role for event in events if isinstance(event, ModelEvent)]
    assert roles.count(JUDGE) == 2


def test_evidence_that_cannot_be_gathered_costs_no_outcome(
    runs: Runs, kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise EvalsError("the reader broke")

    monkeypatch.setattr("evals.judging.dossier.gather_evidence", fail)
    log = runs(kit.Script())
    assert isinstance(score_of(log, "grade").value, dict)
    assert "the reader broke" in (score_of(log).explanation or "")


def test_the_judge_comes_by_itself_where_its_role_is_bound(
    runs: Runs, kit: Kit, tmp_path: Path
) -> None:
    [log] = eval(
        "evals/biaa",
        task_args={
            "edition": str(runs.edition),
            "sandbox": "local",
            "checklist": str(runs.checklist),
            "submissions": str(tmp_path / "submissions"),
        },
        model=agent(),
        solver=react(),
        model_roles={"grader": kit.Script().model()},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert set(sample_of(log).scores or {}) == {"grade", "process"}
    assert (log.eval.metadata or {})["process"] == "scored"
    assert log.results is not None
    assert {each.name for each in log.results.scores} >= {
        "checklist",
        "checklist_strict",
        "decided",
    }


def test_without_a_judge_the_run_says_so(runs: Runs) -> None:
    log = runs(process=None, checklist=None)
    assert set(sample_of(log).scores or {}) == {"grade"}
    assert (log.eval.metadata or {})["process"] == "not scored: no model in the role grader"


def test_without_a_judge_the_console_says_so_once(runs: Runs) -> None:
    make = f"biaa(edition={str(runs.edition)!r}, sandbox='local')"
    code = f"from evals.biaa.task import biaa\nfor _ in 'ab': {make}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    said = " ".join(done.stderr.split())
    assert said.count("no judge is bound") == 1
    assert "--model-role grader=" in said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hybrid": True}, "Option hybrid: expected False outside the runs with a judge"),
        ({"process": True, "judge_images": "some"}, "Unknown value of images 'some'"),
        ({"process": True, "judge_samples": 0}, "Option samples: expected a whole number"),
        ({"process": True, "checklist": "nowhere.yaml"}, "expected a checklist, got no such file"),
        ({"process": "yes"}, "Option process: expected true, false or null"),
    ],
)
def test_a_wrong_option_is_told(runs: Runs, options: dict[str, Any], expected: str) -> None:
    with pytest.raises(EvalsError) as caught:
        biaa(edition=str(runs.edition), sandbox="local", **options)
    assert expected in str(caught.value)
