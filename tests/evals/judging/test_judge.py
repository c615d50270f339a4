from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from inspect_ai.model import ModelOutput, ModelUsage

from evals.judging.asking import REFUSED
from evals.judging.cache import AnswerCache, Kept, call_key
from evals.judging.judge import NO_ACCESS, Judgement, judge
from evals.judging.protocol import Judge, Protocol
from scorers.rubric.answers import MISSING, NOT_JSON

if TYPE_CHECKING:
    from pathlib import Path

    from evals.judging.case import Case

Kit = Any


class ProviderError(Exception):
    """An error as providers raise them."""

    def __init__(self, words: str, status_code: int | None = None) -> None:
        super().__init__(words)
        self.status_code = status_code


def run(judges: list[Judge], case: Case, items: Any, **settings: Any) -> Judgement:
    return anyio.run(judge, judges, case, items, Protocol(**settings))


def statuses(judgement: Judgement) -> list[str | None]:
    return [decision.status for decision in judgement.decisions]


def test_every_item_is_asked_once_two_in_a_call(kit: Kit, case: Case) -> None:
    script, items = kit.Script({"chk_0002_q": "fail", "chk_0003_q": "unknown"}), kit.items(5)
    judgement = run([script.judge()], case, items)
    assert statuses(judgement) == ["pass", "fail", "unknown", "pass", "pass"]
    assert sorted(map(len, script.asked)) == [1, 2, 2]
    assert sorted(each for ids in script.asked for each in ids) == [item.id for item in items]


def test_items_in_a_call_can_be_set(kit: Kit, case: Case) -> None:
    script = kit.Script()
    run([script.judge()], case, kit.items(5), items_per_call=5)
    assert script.calls == 1


def test_what_is_malformed_is_asked_again(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: "I think it is fine." if call == 1 else None)
    judgement = run([script.judge()], case, kit.items(2))
    assert statuses(judgement) == ["pass", "pass"]
    assert script.asked == [["chk_0001_q", "chk_0002_q"]] * 2


def test_only_what_is_missing_is_asked_again(kit: Kit, case: Case) -> None:
    def say(ids: list[str], call: int) -> str | None:
        return kit.answer(kit.result(ids[0], "fail")) if call == 1 else None

    script = kit.Script(say=say)
    judgement = run([script.judge()], case, kit.items(2))
    assert statuses(judgement) == ["fail", "pass"]
    assert script.asked[1] == ["chk_0002_q"]


def test_repair_is_bounded_and_what_stays_missing_is_unscored(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: kit.answer(kit.result("chk_0001_q")))
    judgement = run([script.judge()], case, kit.items(2), repairs=2)
    assert statuses(judgement) == ["pass", None]
    assert judgement.decisions[1].problem == MISSING
    assert script.calls == 3


def test_a_judge_that_never_answers_in_form_leaves_all_unscored(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: "{")
    judgement = run([script.judge()], case, kit.items(2), repairs=1)
    assert statuses(judgement) == [None, None]
    assert {decision.problem for decision in judgement.decisions} == {NOT_JSON}


def test_results_for_items_nobody_asked_for_are_dropped_and_counted(kit: Kit, case: Case) -> None:
    def say(ids: list[str], call: int) -> str:
        return kit.answer(*map(kit.result, ids), kit.result("chk_9999_z", "fail"))

    judgement = run([kit.Script(say=say).judge()], case, kit.items(4))
    assert statuses(judgement) == ["pass"] * 4
    assert judgement.tallies["mockllm/model"].extra == 2


@pytest.mark.parametrize("failing", ["exception", "refusal", "nothing"])
def test_one_failed_call_does_not_lose_the_others(kit: Kit, case: Case, failing: str) -> None:
    failures = {
        "exception": RuntimeError("connection reset"),
        "refusal": ModelOutput.from_content("mockllm/model", "", stop_reason="content_filter"),
        "nothing": ModelOutput(model="mockllm/model", choices=[]),
    }

    def say(ids: list[str], call: int) -> Any:
        return failures[failing] if "chk_0003_q" in ids else None

    judgement = run([kit.Script(say=say).judge()], case, kit.items(6))
    assert statuses(judgement) == ["pass", "pass", None, None, "pass", "pass"]
    assert all(judgement.decisions[at].problem for at in (2, 3))


def test_a_refusal_is_told_as_such_and_not_repaired(kit: Kit, case: Case) -> None:
    refusal = ModelOutput.from_content("mockllm/model", "No.", stop_reason="content_filter")
    script = kit.Script(say=lambda ids, call: refusal)
    judgement = run([script.judge()], case, kit.items(2))
    assert [decision.problem for decision in judgement.decisions] == [REFUSED] * 2
    assert script.calls == 1


def test_the_error_of_a_provider_is_told_without_the_request(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: RuntimeError("server down"))
    judgement = run([script.judge()], case, kit.items(1))
    [decision] = judgement.decisions
    assert "server down" in decision.problem
    assert "Count the dots" not in decision.problem


@pytest.mark.parametrize(
    "too_large",
    [
        ProviderError("messages.0.content.1.image: image exceeds 5 MB maximum", 400),
        ProviderError("Request Entity Too Large", 413),
        ModelOutput.from_content("mockllm/model", "", stop_reason="model_length"),
    ],
)
def test_figures_too_large_for_the_model_are_left_out_with_a_note(
    kit: Kit, case: Case, too_large: Any
) -> None:
    script = kit.Script(say=lambda ids, call: too_large if call == 1 else None)
    judgement = run([script.judge()], case, kit.items(2))
    assert statuses(judgement) == ["pass", "pass"]
    assert script.images == [1, 0]
    assert "too large to be attached" in script.texts[1]
    assert judgement.tallies["mockllm/model"].without_figures == 1


def test_a_call_without_figures_is_repeated_once_only(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: ProviderError("image too large", 400))
    judgement = run([script.judge()], case, kit.items(2))
    assert statuses(judgement) == [None, None]
    assert script.calls == 2


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("overloaded", 529),
        ProviderError("Rate limit exceeded"),
        ProviderError("RESOURCE_EXHAUSTED: quota exceeded", 429),
    ],
)
def test_an_error_that_is_not_of_size_is_not_repeated(
    kit: Kit, case: Case, error: ProviderError
) -> None:
    script = kit.Script(say=lambda ids, call: error)
    run([script.judge()], case, kit.items(2))
    assert script.calls == 1


def test_codes_are_read_under_the_name_that_googles_errors_give_them(kit: Kit, case: Case) -> None:
    class GoogleError(Exception):
        code = 403

    script = kit.Script(say=lambda ids, call: GoogleError("denied"))
    run([script.judge()], case, kit.items(6))
    assert script.calls == 1


def test_where_the_model_lets_nobody_in_the_other_calls_are_not_made(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: ProviderError("invalid key", 401))
    judgement = run([script.judge()], case, kit.items(6))
    assert script.calls == 1
    assert [decision.problem for decision in judgement.decisions][2:] == [NO_ACCESS] * 4


def test_nothing_is_paid_twice(kit: Kit, case: Case) -> None:
    first, second, items = kit.Script({"chk_0001_q": "fail"}), kit.Script(), kit.items(6)
    before = run([first.judge()], case, items)
    after = run([second.judge()], case, items)
    assert (first.calls, second.calls) == (3, 0)
    assert after.decisions == before.decisions
    tally = after.tallies["mockllm/model"]
    assert (tally.calls, tally.cache_hits, tally.usage.total_tokens) == (0, 3, 0)


def test_an_interrupted_run_goes_on_where_it_stopped(kit: Kit, case: Case) -> None:
    class Interrupted(BaseException):
        """As Ctrl-C, which no handler of errors catches."""

    items = kit.items(6)
    stopped = kit.Script(say=lambda ids, call: Interrupted() if call == 3 else None)
    with pytest.raises((Interrupted, BaseExceptionGroup)):
        run([stopped.judge()], case, items)
    resumed = kit.Script()
    assert statuses(run([resumed.judge()], case, items)) == ["pass"] * 6
    assert resumed.asked == [stopped.asked[2]]


def test_a_repaired_call_is_kept_with_its_repair(kit: Kit, case: Case) -> None:
    script = kit.Script(say=lambda ids, call: "{" if call == 1 else None)
    before = run([script.judge()], case, kit.items(2))
    again = kit.Script()
    assert run([again.judge()], case, kit.items(2)).decisions == before.decisions
    assert (script.calls, again.calls) == (2, 0)


def test_what_failed_is_asked_again_the_next_time(kit: Kit, case: Case) -> None:
    broken = kit.Script(say=lambda ids, call: "{" if "chk_0003_q" in ids else None)
    run([broken.judge()], case, kit.items(4), repairs=0)
    again = kit.Script()
    assert statuses(run([again.judge()], case, kit.items(4))) == ["pass"] * 4
    assert again.asked == [["chk_0003_q", "chk_0004_q"]]


def test_samples_are_answers_of_their_own_and_the_majority_counts(kit: Kit, case: Case) -> None:
    def say(ids: list[str], call: int) -> str:
        return kit.answer(*(kit.result(each, "fail" if call == 1 else "pass") for each in ids))

    script = kit.Script(say=say)
    judgement = run([script.judge()], case, kit.items(2), samples=3)
    assert script.calls == 3
    assert statuses(judgement) == ["pass", "pass"]
    assert judgement.decisions[0].votes == {"fail": 1, "pass": 2}


def test_samples_are_kept_apart_in_the_cache_too(kit: Kit, case: Case) -> None:
    run([kit.Script({"chk_0001_q": "fail"}).judge()], case, kit.items(2))
    more = kit.Script()
    judgement = run([more.judge()], case, kit.items(2), samples=3)
    assert more.calls == 2
    assert judgement.decisions[0].votes == {"fail": 1, "pass": 2}


def test_repeats_of_other_numbers_are_not_answered_from_the_cache(kit: Kit, case: Case) -> None:
    script = kit.Script()
    for repeat in range(3):
        run([script.judge()], case, kit.items(2), first_repeat=repeat)
    assert script.calls == 3


def test_without_the_cache_each_call_is_made(kit: Kit, case: Case) -> None:
    script = kit.Script()
    run([script.judge()], case, kit.items(2), cache=False)
    run([script.judge()], case, kit.items(2), cache=False)
    assert script.calls == 2


def test_other_evidence_or_settings_are_other_calls(kit: Kit, case: Case) -> None:
    script, [item] = kit.Script(), kit.items(1)
    judge_ = script.judge()
    keys = {
        call_key(judge_.model, each.digest([item]), judge="a", repeat=0)
        for each in (
            case,
            replace(case, instruction="Count."),
            replace(case, transcript=""),
            case.without_figures(),
            replace(case, anchors=("Be strict.",)),
        )
    }
    warm = script.judge()
    warm.model.config.temperature = 0.9
    keys.add(call_key(warm.model, case.digest([item]), judge="a", repeat=0))
    assert len(keys) == 6


def test_settings_that_change_no_answer_make_no_other_call(kit: Kit, case: Case) -> None:
    [item] = kit.items(1)
    plain, patient = kit.Script().judge(), kit.Script().judge()
    patient.model.config.timeout = 900
    patient.model.config.max_connections = 3
    assert len({call_key(each.model, case.digest([item]), judge="a", repeat=0)
                for each in (plain, patient)}) == 1  # fmt: skip


def test_a_broken_entry_of_the_cache_is_no_answer(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.put("ab12", Kept(texts=["{}"]))
    assert cache.get("ab12") == Kept(texts=["{}"])
    [file] = tmp_path.rglob("*.json")
    file.write_text("{")
    assert cache.get("ab12") is None


def test_calls_of_a_sample_run_side_by_side(kit: Kit, case: Case) -> None:
    running: list[int] = []
    most = 0

    class Slow(kit.Script):  # type: ignore[misc]
        def model(self) -> Any:
            from inspect_ai.model import get_model

            return get_model("mockllm/model", custom_outputs=self.slowly)

        async def slowly(self, *given: Any) -> ModelOutput:
            nonlocal most
            running.append(1)
            most = max(most, len(running))
            await anyio.sleep(0.05)
            running.pop()
            return self(*given)  # type: ignore[no-any-return]

    run([Slow().judge()], case, kit.items(8))
    assert most == 3  # one of four goes ahead


def test_a_panel_decides_by_majority_and_tells_its_agreement(kit: Kit, case: Case) -> None:
    scripts = [kit.Script(), kit.Script({"chk_0001_q": "fail"}), kit.Script({"chk_0002_q": "fail"})]
    judges = [script.judge(f"judge-{at}") for at, script in enumerate(scripts)]
    judgement = run(judges, case, kit.items(2))
    assert statuses(judgement) == ["pass", "pass"]
    assert judgement.decisions[0].votes == {"pass": 2, "fail": 1}
    assert judgement.agreement == pytest.approx(1 / 3)
    assert judgement.by_judge["judge-1"][0].status == "fail"


def test_a_judge_of_a_panel_that_fails_leaves_the_others(kit: Kit, case: Case) -> None:
    broken = kit.Script(say=lambda ids, call: ProviderError("no", 401))
    judges = [broken.judge("a"), kit.Script().judge("b"), kit.Script().judge("c")]
    judgement = run(judges, case, kit.items(4))
    assert statuses(judgement) == ["pass"] * 4
    assert judgement.agreement == 1.0


def test_two_judges_of_one_model_are_not_answered_from_each_others_cache(
    kit: Kit, case: Case
) -> None:
    script = kit.Script()
    run([script.judge("m"), script.judge("m (2)")], case, kit.items(2))
    assert script.calls == 2


def test_usage_and_cost_of_all_calls_are_summed(kit: Kit, case: Case) -> None:
    def say(ids: list[str], call: int) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", kit.answer(*map(kit.result, ids)))
        output.usage = ModelUsage(
            input_tokens=10, output_tokens=2, total_tokens=12, total_cost=0.25
        )
        return output

    judgement = run([kit.Script(say=say).judge()], case, kit.items(4))
    told = judgement.tallies["mockllm/model"].to_json()
    assert (told["calls"], told["usage"]["total_tokens"], told["cost_usd"]) == (2, 24, 0.5)


def test_a_judge_that_obeys_the_evidence_can_still_only_answer_what_is_asked(
    kit: Kit, case: Case
) -> None:
    def say(ids: list[str], call: int) -> str:
        return kit.answer(
            *(kit.result(each, "excellent") for each in ids), kit.result("all", "pass")
        )

    judgement = run([kit.Script(say=say).judge()], case, kit.items(2), repairs=0)
    assert statuses(judgement) == [None, None]
