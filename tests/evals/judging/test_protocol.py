from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.model._model import init_model_roles

from evals.errors import EvalsError
from evals.judging.protocol import Protocol, is_bound, judges


@pytest.fixture
def bind() -> Any:
    """Give what binds the judge's role, and unbind it in the end."""

    def to(model: Model | list[Model]) -> None:
        init_model_roles({"grader": model})

    yield to
    init_model_roles({})


def mock(name: str = "mockllm/a", **settings: Any) -> Model:
    return get_model(name, config=GenerateConfig(**settings))


def test_the_defaults_are_the_published_ones(bind: Any) -> None:
    bind(mock())
    [judge] = judges()
    config = judge.model.config
    assert (config.temperature, config.max_tokens) == (0.1, 2048)
    assert (config.attempt_timeout, config.max_retries) == (45, 2)
    protocol = Protocol()
    assert (protocol.samples, protocol.items_per_call, protocol.images) == (1, 2, "plots")


def test_the_roles_own_settings_go_before_the_defaults(bind: Any) -> None:
    bind(mock(temperature=0.7))
    [judge] = judges()
    assert (judge.model.config.temperature, judge.model.config.max_tokens) == (0.7, 2048)


def test_all_models_of_the_role_judge(bind: Any) -> None:
    bind([mock("mockllm/a"), mock("mockllm/b", temperature=0.0), mock("mockllm/a")])
    found = judges()
    assert [judge.name for judge in found] == ["mockllm/a", "mockllm/b", "mockllm/a (2)"]
    assert [judge.model.config.temperature for judge in found] == [0.1, 0.0, 0.1]


def test_a_panel_goes_before_the_role_and_has_roles_of_its_own(bind: Any) -> None:
    bind(mock("mockllm/a"))
    found = judges(["mockllm/b", "mockllm/c"])
    assert [judge.name for judge in found] == ["mockllm/b", "mockllm/c"]
    assert [judge.model.role for judge in found] == ["grader-1", "grader-2"]


def test_without_a_judge_there_is_an_error_that_says_how_to_bind_one() -> None:
    assert not is_bound()
    with pytest.raises(EvalsError, match="--model-role grader="):
        judges()
