"""The Inspect task `evals/biaa`: bioimage analysis by agents, scored by the field's own metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from inspect_ai import Task, task

from evals import options
from evals.biaa.compute import Compute, gpus_for_hint, host_cpus, host_memory
from evals.biaa.dataset import Setting, biaa_dataset
from evals.biaa.metadata import InstructionLevel, SandboxKind
from evals.data.recipe import Biology, Dims, Recipe, Scale
from evals.edition import SYNTHETIC, edition_label, open_edition

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.agent import Agent
    from inspect_ai.solver import Solver
    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.capsule import Capsule

    SandboxFor = Callable[[Capsule], SandboxEnvironmentSpec | None]

Keep = Literal["deliverables", "all", "none"]

VERSION = 1
DEFAULT_TIME_LIMIT_S = 3600


@task
def biaa(
    tasks: str | list[str] | None = None,
    edition: str = SYNTHETIC,
    seed: int = 0,
    difficulty: float = 0.5,
    dims: Dims | None = None,
    biology: Biology = "canonical",
    replicas: int = 1,
    scale: Scale = "quick",
    instruction_level: InstructionLevel = "basic",
    sandbox: SandboxKind = "docker",
    environment_hint: bool | None = None,
    submissions: str = "logs/submissions",
    keep: Keep = "deliverables",
    time_limit: int | None = DEFAULT_TIME_LIMIT_S,
    solver: Solver | Agent | None = None,
) -> Task:
    """BIAA: an agent analyses microscopy images on its own and leaves files that are scored.

    Args:
        tasks: Ids or glob patterns of the tasks to run, one, several with commas, or a list.
            None runs all of the edition.
        edition: `synthetic` (made on this machine, once), a released revision in the data
            folder, or the path of a folder of capsules.
        seed: Seed of the synthetic edition; others do not have one. A salt in `EVALS_SALT` or in
            the file `EVALS_SALT_FILE` is mixed into it.
        difficulty: Difficulty of the synthetic edition, 0 (easy) to 1 (hard). It moves imaging,
            never the effect that is to be found.
        dims: `2d`, `3d`, `2dt` or `3dt`: of the synthetic tasks those that have this sibling, cut
            from the same scene. By default each task as it is.
        biology: `canonical` (the published effects) or `randomised` (drawn from the seed: none,
            reversed, in one condition only), where knowing the paper earns nothing.
        replicas: Instances of each synthetic task, with the seeds `seed`, `seed + 1`, …
        scale: Size of the synthetic edition: `quick`, `standard`, or `paper` as released.
        instruction_level: `basic` states the question, `expert` also how to go about it.
        sandbox: `docker`, or `local`, which does not isolate and is meant for a first look.
        environment_hint: Whether the agent gets the GPU and its instruction tells of it. By
            default exactly if there is one; true where there is none is an error.
        submissions: Folder where submissions are kept, a subfolder a sample.
        keep: What is kept of a submission.
        time_limit: Seconds of wall-clock time for one sample, null for no limit. Scoring may
            take half of it, so it is at least twice the grader's own limit.
        solver: The harness; by default an agent with a shell, Python and a view of images.

    Raises:
        EvalsError: An option, the edition, a capsule or the sandbox is not as it should be; the
            message says what was expected, what was found and how to mend it.
    """
    from evals.harness.agent import agent
    from evals.scoring.outcome import grade, keep_verdict
    from evals.scoring.viewer import HEADLINE, outcome_viewer
    from evals.workspace.setup import prepare_workspace

    wanted = options.names("tasks", tasks, "he-nuinsseg-nuclear-segmentation")
    edition = options.text("edition", edition, SYNTHETIC)
    recipe = _checked_recipe(seed, difficulty, scale, dims, biology)
    replicas = options.whole_number("replicas", replicas, least=1)
    options.one_of("instruction_level", instruction_level, InstructionLevel)
    options.one_of("sandbox", sandbox, SandboxKind)
    options.one_of("keep", keep, Keep)
    submissions = options.text("submissions", submissions, "logs/submissions")
    _check_time_limit(time_limit)
    gpus = gpus_for_hint(options.flag("environment_hint", environment_hint), sandbox)

    simulated = edition == SYNTHETIC
    if not simulated:
        options.only_default("synthetic edition", dims=(dims, None), replicas=(replicas, 1))
        options.only_default(
            "synthetic edition", biology=(biology, "canonical"), scale=(scale, "quick")
        )
    capsules = open_edition(edition, tasks=wanted, recipe=recipe, replicas=replicas)
    compute, sandbox_for = _place(sandbox, gpus)
    setting = Setting(
        edition=edition_label(edition),
        recipe=recipe if simulated else None,
        replicas=replicas if simulated else 1,
        level=instruction_level,
        sandbox=sandbox,
        compute=replace(compute, time_limit_s=time_limit),
    )
    return Task(
        dataset=biaa_dataset(capsules, setting, sandbox_for),
        setup=prepare_workspace(),
        solver=solver or agent(),
        scorer=grade(submissions=submissions, keep=keep),
        cleanup=keep_verdict(submissions=submissions, keep=keep),
        sandbox=sandbox,
        time_limit=time_limit,
        # A sample that fails through our own fault must not end those of the others.
        fail_on_error=False,
        viewer=outcome_viewer(),
        headline_metric=HEADLINE,
        version=VERSION,
        display_name="BIAA",
        metadata=_facts_of_run(setting),
    )


def _checked_recipe(
    seed: int, difficulty: float, scale: Scale, dims: Dims | None, biology: Biology
) -> Recipe:
    """Return how to make the synthetic edition, its options checked."""
    return Recipe(
        options.whole_number("seed", seed),
        options.fraction("difficulty", difficulty),
        options.one_of("scale", scale, Scale),
        None if dims is None else options.one_of("dims", dims, Dims),
        options.one_of("biology", biology, Biology),
    )


def _check_time_limit(time_limit: int | None) -> None:
    from evals.scoring.run_grader import GRADER_TIMEOUT

    if time_limit is not None:
        # Inspect gives scorers half of a sample's time limit.
        options.whole_number("time_limit", time_limit, least=2 * GRADER_TIMEOUT)


def _place(sandbox: SandboxKind, gpus: tuple[str, ...]) -> tuple[Compute, SandboxFor]:
    """Return what the agent has to work with, and each sample's own sandbox."""
    if sandbox == "local":
        # Nothing shuts the network off here, so the instruction asks to work without it.
        here = Compute(cpus=host_cpus(), memory_bytes=host_memory(), gpus=gpus, network=True)
        return here, lambda capsule: None
    return _docker(gpus)


def _docker(gpus: tuple[str, ...]) -> tuple[Compute, SandboxFor]:
    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.workspace import docker
    from evals.workspace.compose import Resources, compose_for
    from evals.workspace.images import ensure_images

    images, resources = ensure_images(), Resources.of(docker.engine(), gpus=len(gpus))

    def sandbox_for(capsule: Capsule) -> SandboxEnvironmentSpec:
        config = compose_for(capsule.path, images=images, resources=resources)
        return SandboxEnvironmentSpec("docker", config)

    cpus, memory = resources.agent_cpus, resources.agent_memory
    return Compute(cpus=cpus, memory_bytes=memory, gpus=gpus), sandbox_for


def _facts_of_run(setting: Setting) -> dict[str, Any]:
    compute = setting.compute
    return {
        "suite": "biaa",
        "edition": setting.edition,
        "instruction_level": setting.level,
        "sandbox": setting.sandbox,
        "cpus": compute.cpus,
        "memory_bytes": compute.memory_bytes,
        "gpus": list(compute.gpus),
        "environment_hint": bool(compute.gpus),
    }
