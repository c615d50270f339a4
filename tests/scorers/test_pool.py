import os
import signal
import time

from scorers.pool import Lost, run_many


def _work(item: str) -> str:
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "hang":
        time.sleep(60)
    return item.upper()


def test_each_item_has_its_result() -> None:
    items = [f"item {number}" for number in range(6)]

    results = dict(run_many(_work, items, processes=2, seconds=60))

    assert results == {at: item.upper() for at, item in enumerate(items)}


def test_an_item_that_kills_its_process_is_lost_alone() -> None:
    results = dict(run_many(_work, ["a", "die", "b", "c"], processes=1, seconds=60))

    assert results[1] == Lost("the grading process ended with exit code -9")
    assert [results[at] for at in (0, 2, 3)] == ["A", "B", "C"]


def test_an_item_that_takes_too_long_is_lost_alone() -> None:
    results = dict(run_many(_work, ["hang", "a"], processes=2, seconds=5))

    assert results[0] == Lost("grading took longer than 5 s")
    assert results[1] == "A"


def test_no_items_start_no_process() -> None:
    assert list(run_many(_work, [], processes=2, seconds=1)) == []
