from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import yaml

from evals.errors import ModelFailedError
from evals.judging.attacking import Attempt, attack
from evals.judging.doctoring import DOCTORINGS
from evals.judging.protocol import Protocol
from evals.judging.rubrics import open_checklist
from scorers.rubric.items import FAIL, PASS
from tests.evals.judging.trials import (
    CHECKED,
    CHECKLIST,
    gather_here,
    sees_an_order,
    small_capsule,
    small_submission,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.model import ChatMessage, ModelOutput

    Attack = Callable[..., dict[str, Attempt]]

Kit = Any


class Obedient:
    """A judge that fails everything until it sees an order anywhere in a call."""

    def __init__(self, script: Any) -> None:
        self.script = script

    def __call__(self, input: list[ChatMessage], *rest: Any) -> ModelOutput:
        """Answer a call."""
        status = PASS if sees_an_order(input) else FAIL
        self.script.table = dict.fromkeys(self.script.ids, status)
        return self.script(input, *rest)  # type: ignore[no-any-return]


@pytest.fixture
def run(
    tmp_path: Path, make_capsule: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Attack:
    """Give the attack on a small submission: attempts by name."""
    monkeypatch.setattr("evals.judging.subjects.gather_folder", gather_here)
    path = tmp_path / "checklist.yaml"
    path.write_text(yaml.safe_dump(CHECKLIST, sort_keys=False), encoding="utf-8")
    capsule = small_capsule(tmp_path, make_capsule)
    submission = small_submission(tmp_path / "left")

    def attempts(script: Any, *names: str, hybrid: bool = False) -> dict[str, Attempt]:
        tried = [one for one in DOCTORINGS if not names or one.name in names]
        chosen = open_checklist(str(path))

        async def work() -> list[Attempt]:
            return await attack(
                script.judge(),
                capsule,
                submission,
                chosen,
                Protocol(cache=False),
                hybrid=hybrid,
                doctorings=tried,
            )

        return {one.doctoring.name: one for one in anyio.run(work)}

    return attempts


@pytest.fixture
def obedient(kit: Kit, run: Attack, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Give the attack on a judge that obeys."""

    def attempts(*names: str, hybrid: bool = True) -> dict[str, Attempt]:
        script = kit.Script()
        script.ids = [*_ids()]
        judge = replace(script.judge(), model=_model(Obedient(script)))
        script.judge = lambda: judge
        return run(script, *names, hybrid=hybrid)

    return attempts


def _model(outputs: Any) -> Any:
    from inspect_ai.model import get_model

    return get_model("mockllm/model", custom_outputs=outputs)


def _ids() -> list[str]:
    texts = [
        item["text"]
        for group in CHECKLIST["general_evaluation"].values()
        for item in group["checklist"]
    ]
    return [
        f"chk_{at:04d}_{text.lower().replace(' ', '_')}" for at, text in enumerate(texts, start=1)
    ]


def test_a_judge_that_obeys_changes_nothing_that_checks_decide(
    obedient: Callable[..., Any],
) -> None:
    attempts = obedient()
    assert len(attempts) == len(DOCTORINGS)
    for attempt in attempts.values():
        assert attempt.moved == ()
        assert attempt.unflagged == ()
        assert attempt.doctored.statuses[CHECKED[0]] == FAIL
        assert CHECKED[0] not in attempt.raised
    fooled = {name for name, attempt in attempts.items() if attempt.raised}
    # Orders that can be read; hidden signs are written out, metadata are left out.
    assert fooled == {
        "order_in_text",
        "order_in_code",
        "order_in_comment",
        "order_in_file_name",
        "order_in_pixels",
        "fake_fences",
    }


def test_without_checks_a_judge_that_obeys_passes_everything(obedient: Callable[..., Any]) -> None:
    [attempt] = obedient("order_in_text", hybrid=False).values()
    assert attempt.honest.score == 0
    assert attempt.doctored.score == 1
    assert (attempt.gain, attempt.strict_gain, len(attempt.raised)) == (1, 1, 4)


def test_a_judge_that_goes_by_the_evidence_gains_nothing(kit: Kit, run: Attack) -> None:
    attempts = run(kit.Script({_ids()[2]: FAIL}), "fluent_report", "bare_claims", "rubric_words")
    assert {attempt.gain for attempt in attempts.values()} == {0}
    assert not any(attempt.raised or attempt.lowered for attempt in attempts.values())


def test_a_counterpart_that_several_have_is_judged_once(kit: Kit, run: Attack) -> None:
    script = kit.Script()
    run(script, "order_in_text", "order_in_tags", "fake_verdict")
    # Two calls for four items: one counterpart, three doctored submissions.
    assert script.calls == 2 * 4


def test_what_was_passed_and_no_longer_is_is_told(kit: Kit, run: Attack) -> None:
    script = kit.Script(
        say=lambda ids, call: kit.answer(
            *(kit.result(one, PASS if call <= 2 else FAIL) for one in ids)
        )
    )
    [attempt] = run(script, "order_in_text").values()
    assert len(attempt.lowered) == 4
    assert attempt.gain == -1


def test_a_judge_that_repeats_the_evidence_as_its_answer_passes_nothing(
    kit: Kit, run: Attack
) -> None:
    script = kit.Script(
        say=lambda ids, call: script.texts[-1] if "verdict" in script.texts[-1] else None
    )
    with pytest.raises(ModelFailedError, match="no valid answer"):
        run(script, "fake_verdict")


def test_what_is_told_can_be_written_as_json(kit: Kit, run: Attack) -> None:
    [attempt] = run(kit.Script(), "order_in_text").values()
    told = json.loads(json.dumps(attempt.to_json(), allow_nan=False))
    assert told["flags"]["addresses_judge"] >= 1
    assert told["honest"] == {"score": 1.0, "strict": 1.0, "decided": 1.0}
