"""How often each sample is run."""

from __future__ import annotations

from inspect_ai.model import get_model

DEFAULT_EPOCHS = 3  # as published
_NOT_REAL = ("none/", "mockllm/")


def epochs_for(told: int | None) -> int:
    """Return how often a sample is run: as told, else three times if a real model is to run it."""
    return told or (DEFAULT_EPOCHS if has_real_model() else 1)


def has_real_model() -> bool:
    """Tell whether Inspect is about to run a model whose answers vary."""
    try:
        # The active one: Inspect sets it before it asks for the task.
        model = str(get_model())
    except ValueError:
        return False  # The task was called from Python, and no model is set.
    return not model.startswith(_NOT_REAL)
