"""From capsules to samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspect_ai.dataset import MemoryDataset, Sample

from evals.biaa.facts import facts_of
from evals.biaa.metadata import BiaaMetadata, InstructionLevel, SandboxKind
from evals.biaa.prompt import render_prompt
from evals.data.siblings import natural_dims
from evals.errors import CapsuleInvalidError
from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.biaa.compute import Compute
    from evals.capsule import Capsule
    from evals.data.recipe import Recipe


@dataclass(frozen=True)
class Setting:
    """What all samples of a run share.

    Attributes:
        edition: Label of the edition.
        recipe: How the edition was simulated (its seed is the first instance's), None where it
            was not.
        replicas: Instances of each task.
    """

    edition: str
    recipe: Recipe | None
    replicas: int
    level: InstructionLevel
    sandbox: SandboxKind
    compute: Compute


def biaa_dataset(
    capsules: Sequence[Capsule],
    setting: Setting,
    sandbox_for: Callable[[Capsule], SandboxEnvironmentSpec | None],
) -> MemoryDataset:
    """Return one sample a capsule.

    Args:
        capsules: The capsules, in the order of the samples.
        setting: What all samples share.
        sandbox_for: Gives a sample's own sandbox, or None to use the task's.
    """
    samples = [capsule_sample(capsule, setting, sandbox_for(capsule)) for capsule in capsules]
    return MemoryDataset(samples, name="biaa")


def capsule_sample(
    capsule: Capsule, setting: Setting, sandbox: SandboxEnvironmentSpec | None = None
) -> Sample:
    """Return the sample of one capsule; nothing of its private part goes in."""
    name = capsule.task_id if setting.replicas == 1 else f"{capsule.task_id}-s{capsule.seed}"
    return Sample(
        id=name,
        input=render_prompt(capsule.spec, setting.level, setting.compute),
        metadata=metadata_of(capsule, setting).model_dump(mode="json"),
        sandbox=sandbox,
    )


def metadata_of(capsule: Capsule, setting: Setting) -> BiaaMetadata:
    """Return a sample's metadata, with a value for every key."""
    facts, logic, described = facts_of(capsule), capsule.spec.task_logic, capsule.spec.input
    dims, recipe = natural_dims(capsule.spec), setting.recipe
    return BiaaMetadata(
        task_id=capsule.task_id,
        modality=str(described.get("imaging_modality") or "not stated").strip(),
        dimensions="3D" if dims.startswith("3d") else "2D",
        temporal="time-lapse" if dims.endswith("t") else "static",
        family=_family(capsule),
        difficulty_label=facts.difficulty,
        difficulty=recipe.difficulty if recipe else None,
        scale=recipe.scale if recipe else None,
        biology=recipe.biology if recipe else None,
        salted=bool(recipe.salt) if recipe else None,
        primary_task=logic.primary_task or "not stated",
        sub_tasks=logic.sub_tasks,
        licence=facts.licence,
        edition=setting.edition,
        seed=capsule.seed,
        data_hash=capsule.data_hash,
        instruction_level=setting.level,
        sandbox=setting.sandbox,
        environment_hint=bool(setting.compute.gpus),
    )


def _family(capsule: Capsule) -> str:
    from scorers.graders import GRADER_OF_TASK, GRADERS, family_for

    name = capsule.rubric.grader or GRADER_OF_TASK.get(capsule.task_id, "")
    if name not in GRADERS:
        try:
            family_for(capsule.spec, capsule.rubric)
        except CapsuleFault as error:
            raise CapsuleInvalidError(f"{capsule.path}: {error}") from error
    return name
