"""What the solvers share: the sample's place, its capsule, its Python and a closing word."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.util import store_as

from evals.edition import capsule_for
from evals.errors import CapsuleInvalidError
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

    from evals.capsule import Capsule
    from scorers.contract import Family


def python_of(workspace: Workspace) -> str:
    """Return the Python that has the imaging libraries.

    Without isolation it is the one that runs us: a shell may find none, or another one.
    """
    return sys.executable if workspace.kind == "local" else "python3"


def current_workspace() -> Workspace:
    """Return where the running sample's input and output lie."""
    return store_as(Workspace)


def capsule_of(state: TaskState) -> Capsule:
    """Return the capsule that a sample was made from."""
    data_hash = state.metadata.get("data_hash")
    if not isinstance(data_hash, str):
        raise CapsuleInvalidError(
            f"sample {state.sample_id}: its metadata have no 'data_hash', so its capsule cannot be"
            " found. This solver runs the tasks of `evals`, such as evals/biaa."
        )
    return capsule_for(data_hash)


def family_of(capsule: Capsule) -> Family:
    """Return the family of tasks that a capsule belongs to."""
    from scorers.graders import family_for

    return family_for(capsule.spec, capsule.rubric)


def conclude(state: TaskState, words: str) -> TaskState:
    """End a sample that no model worked on with a sentence of our own."""
    state.output = ModelOutput.from_content(model=str(state.model), content=words)
    state.messages.append(ChatMessageAssistant(content=words))
    state.completed = True
    return state
