from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from evals.judging.protocol import Protocol
from evals.judging.repeating import Repeats, repeat
from evals.judging.rubrics import ChosenChecklist, open_checklist
from evals.judging.trial import Subject
from scorers.rubric.items import FAIL, PASS

if TYPE_CHECKING:
    from collections.abc import Callable

    from evals.judging.case import Case

    Again = Callable[..., Repeats]

Kit = Any
# Four items, two in a call.
CALLS = 2


@pytest.fixture(scope="module")
def chosen() -> ChosenChecklist:
    return open_checklist(None)


@pytest.fixture
def again(kit: Kit, case: Case, chosen: ChosenChecklist) -> Again:
    """Give the repeated judging of four items."""

    def run(script: Any, times: int, *, protocol: Protocol | None = None, **more: Any) -> Repeats:
        async def work() -> Repeats:
            subject = Subject("dots", case, tuple(kit.items(4)))
            told = protocol or Protocol()
            return await repeat(script.judge(), subject, chosen, told, times, **more)

        return anyio.run(work)

    return run


def test_no_repeat_is_answered_by_the_cache(kit: Kit, again: Again) -> None:
    script = kit.Script()
    found = again(script, 3)
    assert script.calls == 3 * CALLS
    assert (found.calls, found.cache_hits) == (script.calls, 0)


@pytest.mark.parametrize("items_per_call", [1, 4])
def test_no_shuffled_repeat_is_answered_by_a_plain_one(
    kit: Kit, again: Again, items_per_call: int
) -> None:
    script = kit.Script()
    again(script, 2, protocol=Protocol(items_per_call=items_per_call), shuffle=True)
    assert script.calls == 4 * (4 // items_per_call)


def test_repeats_of_several_samples_share_no_call(kit: Kit, again: Again) -> None:
    script = kit.Script()
    again(script, 2, protocol=Protocol(samples=3))
    assert script.calls == 2 * 3 * CALLS


def test_the_same_command_again_pays_nothing(kit: Kit, again: Again) -> None:
    again(kit.Script(), 3, shuffle=True)
    script = kit.Script()
    found = again(script, 3, shuffle=True)
    assert script.calls == 0
    assert found.cache_hits == 6 * CALLS


def test_more_repeats_pay_for_the_new_ones_alone(kit: Kit, again: Again) -> None:
    again(kit.Script(), 2)
    script = kit.Script()
    again(script, 3)
    assert script.calls == CALLS


def test_without_the_cache_every_repeat_is_paid_again(kit: Kit, again: Again) -> None:
    for _ in range(2):
        script = kit.Script()
        again(script, 2, protocol=Protocol(cache=False))
        assert script.calls == 2 * CALLS


def test_what_was_judged_before_an_interruption_is_kept(kit: Kit, again: Again) -> None:
    def step(name: str) -> None:
        if name == "repeat 3":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        again(kit.Script(), 3, step=step)
    script = kit.Script()
    again(script, 3)
    assert script.calls == CALLS


def test_answers_that_change_come_first_with_their_shares_and_flips(kit: Kit, again: Again) -> None:
    def say(ids: list[str], call: int) -> str | None:
        wavering = FAIL if (call - 1) // CALLS == 1 else PASS
        return kit.answer(  # type: ignore[no-any-return]
            *(kit.result(one, wavering if one == "chk_0003_q" else PASS) for one in ids)
        )

    found = again(kit.Script(say=say), 3).plain
    first = found.items[0]
    assert (first.item_id, first.statuses) == ("chk_0003_q", (PASS, FAIL, PASS))
    assert (first.modal, round(first.modal_share or 0, 3), first.flips) == (PASS, 0.667, 2)
    assert found.never_changing == 0.75
    assert (found.score.low, found.score.high) == (0.625, 1)


def test_items_are_asked_in_other_orders_that_the_seed_decides(kit: Kit, again: Again) -> None:
    orders = []
    for seed in (0, 0, 1):
        script = kit.Script()
        again(script, 2, protocol=Protocol(items_per_call=4, cache=False), shuffle=True, seed=seed)
        orders.append(script.asked)
    plain = [item.id for item in kit.items(4)]
    assert orders[0][:2] == [plain, plain]
    assert all(sorted(each) == plain for each in orders[0])
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_what_the_order_changes_is_told(kit: Kit, again: Again) -> None:
    def say(ids: list[str], call: int) -> str:
        # This judge passes what it is asked first.
        return kit.answer(  # type: ignore[no-any-return]
            *(kit.result(one, PASS if at == 0 else FAIL) for at, one in enumerate(ids))
        )

    found = again(kit.Script(say=say), 2, protocol=Protocol(items_per_call=4), shuffle=True)
    assert found.order is not None
    assert found.order.compared == 4
    assert "chk_0001_q" in found.order.moved
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["plain"]["items"][0]["severity"] in {"critical", "major", "minor"}
    assert len(told["shuffled"]["items"]) == 4
