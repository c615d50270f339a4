"""How a judge is asked: the settings of the published protocol, and who judges."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from evals import options
from evals.errors import ModelFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

Images = Literal["none", "plots", "all"]

ROLE = "grader"
ITEMS_PER_CALL = 2
REPAIRS = 2
# The role's own settings go before these.
DEFAULTS = GenerateConfig(temperature=0.1, max_tokens=2048, attempt_timeout=45, max_retries=2)


@dataclass(frozen=True)
class Protocol:
    """How often and how a judge is asked; the defaults are the published ones.

    Attributes:
        samples: Answers to each item from each judge, of which the majority counts.
        images: Which figures of the submission it sees.
        items_per_call: Items in one call.
        cache: Whether answers are kept on this machine and used again.
        repairs: How often it is asked again for what is missing or malformed.
        first_repeat: Number of the first sample. Those of other numbers are other answers, also
            in the cache.
    """

    samples: int = 1
    images: Images = "plots"
    items_per_call: int = ITEMS_PER_CALL
    cache: bool = True
    repairs: int = REPAIRS
    first_repeat: int = 0

    def __post_init__(self) -> None:
        """Check the settings, which come from a command line."""
        options.whole_number("samples", self.samples, least=1)
        options.whole_number("items_per_call", self.items_per_call, least=1)
        options.one_of("images", self.images, Images)
        options.flag("cache", self.cache)


@dataclass(frozen=True)
class Judge:
    """One judge of a panel: its name there, and its model."""

    name: str
    model: Model


def is_bound() -> bool:
    """Tell whether a model is bound to the judge's role; at the making of a task too."""
    return bool(model_roles().get(ROLE))


def judges(panel: Sequence[str] | None = None) -> list[Judge]:
    """Return who judges: the models of the panel, else those of the role `grader`.

    Raises:
        ModelFailedError: There is neither.
    """
    models = _of_panel(panel) if panel else _of_role()
    if not models:
        raise ModelFailedError(
            f"There is no judge: expected a model in the role {ROLE!r}, got none. Mend: bind one "
            f"with --model-role {ROLE}=PROVIDER/MODEL."
        )
    seen: dict[str, int] = {}
    found = []
    for model in models:
        name = str(model)
        seen[name] = seen.get(name, 0) + 1
        found.append(Judge(name if seen[name] == 1 else f"{name} ({seen[name]})", model))
    return found


def _of_role() -> list[Model]:
    bound = model_roles().get(ROLE)
    if bound is None:
        return []
    if not isinstance(bound, list):
        return [get_model(role=ROLE, required=True, config=DEFAULTS)]
    models = [copy(model) for model in bound]
    for model in models:
        model.config = DEFAULTS.merge(model.config)
    return models


def _of_panel(panel: Sequence[str]) -> list[Model]:
    # A bound role would go before the name, so each judge has a role of its own.
    return [
        get_model(name, role=f"{ROLE}-{number}", config=DEFAULTS)
        for number, name in enumerate(panel, start=1)
    ]
