from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import eval
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi

from evals.harness.naive import naive
from evals.scoring.epochs import epochs_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalLog


def test_a_task_called_without_any_model_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    assert epochs_for(None) == 1
    assert epochs_for(2) == 2


@modelapi(name="pretend")
class Pretend(ModelAPI):
    """A provider that passes for a real one and is never asked."""

    async def generate(self, *_: Any, **__: Any) -> ModelOutput:
        """Fail: no test asks."""
        raise NotImplementedError

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())


@pytest.fixture
def run(
    set_grader: Callable[[float], None], make_edition: Callable[..., Path], tmp_path: Path
) -> Callable[..., EvalLog]:
    """Give the runner of `evals/biaa` by its name, as the command does it."""
    set_grader(0.5)
    edition = make_edition(dots="good")

    def go(model: str, options: dict[str, Any] | None = None, **settings: Any) -> EvalLog:
        told = {"edition": str(edition), "sandbox": "local", "keep": "none", **(options or {})}
        [log] = eval(
            "evals/biaa",
            task_args=told,
            model=model,
            solver=naive(),
            log_dir=str(tmp_path / "logs"),
            display="none",
            **settings,
        )
        assert log.status == "success", log.error
        return log

    return go


def test_a_real_model_runs_three_times(run: Any) -> None:
    assert len(run("pretend/model").samples) == 3


@pytest.mark.parametrize("model", ["none/none", "mockllm/model"])
def test_a_model_that_is_none_runs_once(run: Any, model: str) -> None:
    assert len(run(model).samples) == 1


def test_the_number_of_epochs_may_be_told_to_the_task(run: Any) -> None:
    assert len(run("none/none", {"epochs": 2}).samples) == 2


def test_inspects_own_epochs_count_more_than_the_tasks(run: Any) -> None:
    assert len(run("pretend/model", {"epochs": 4}, epochs=2).samples) == 2
