"""From capsules to samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from inspect_ai.dataset import MemoryDataset, Sample

from evals.biaa.facts import facts_of
from evals.biaa.metadata import BiaaMetadata, InstructionLevel, SandboxKind
from evals.biaa.prompt import render_prompt
from evals.errors import CapsuleInvalidError
from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.biaa.compute import Compute
    from evals.capsule import Capsule


@dataclass(frozen=True)
class Setting:
    """What all samples of a run share.

    Attributes:
        edition: Label of the edition.
        seed: Seed of the edition, None where it was not simulated.
        difficulty: Difficulty of the edition, None where it was not simulated.
    """

    edition: str
    seed: int | None
    difficulty: float | None
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
    return Sample(
        id=capsule.task_id,
        input=render_prompt(capsule.spec, setting.level, setting.compute),
        metadata=metadata_of(capsule, setting).model_dump(mode="json"),
        sandbox=sandbox,
    )


def metadata_of(capsule: Capsule, setting: Setting) -> BiaaMetadata:
    """Return a sample's metadata, with a value for every key."""
    facts, logic, described = facts_of(capsule), capsule.spec.task_logic, capsule.spec.input
    return BiaaMetadata(
        task_id=capsule.task_id,
        modality=str(described.get("imaging_modality") or "not stated").strip(),
        dimensions=_dimensions(described.get("spatial_dimensions")),
        temporal=_temporal(described.get("temporal_dimension")),
        family=_family(capsule),
        difficulty_label=facts.difficulty,
        difficulty=setting.difficulty,
        primary_task=logic.primary_task or "not stated",
        sub_tasks=logic.sub_tasks,
        licence=facts.licence,
        edition=setting.edition,
        seed=setting.seed,
        data_hash=capsule.data_hash,
        instruction_level=setting.level,
        sandbox=setting.sandbox,
        environment_hint=bool(setting.compute.gpus),
    )


def _dimensions(stated: object) -> Literal["2D", "3D"]:
    # The released folders write "3D", "3D mosaic (8x8 tiles)" and the like.
    return "3D" if "3d" in str(stated or "").casefold() else "2D"


def _temporal(stated: object) -> Literal["static", "time-lapse"]:
    return "time-lapse" if "time" in str(stated or "").casefold() else "static"


def _family(capsule: Capsule) -> str:
    from scorers.graders import GRADER_OF_TASK, GRADERS, family_for

    name = capsule.rubric.grader or GRADER_OF_TASK.get(capsule.task_id, "")
    if name not in GRADERS:
        try:
            family_for(capsule.spec, capsule.rubric)
        except CapsuleFault as error:
            raise CapsuleInvalidError(f"{capsule.path}: {error}") from error
    return name
