"""The Inspect task `evals/biaa`: bioimage analysis by agents, scored by the field's own metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from inspect_ai import Task, task

from evals import options
from evals.biaa.compute import Compute, gpus_for_hint, host_cpus, host_memory
from evals.biaa.dataset import Setting, biaa_dataset
from evals.biaa.limits import DEFAULT_TIME_LIMIT_S, checked_limits
from evals.biaa.metadata import InstructionLevel, SandboxKind
from evals.data.recipe import Biology, Dims, Recipe, Scale
from evals.edition import SYNTHETIC, edition_facts, edition_label, open_edition
from evals.judging.protocol import ITEMS_PER_CALL, Images
from evals.workspace.compose import DEFAULT_OUTPUT_LIMIT
from evals.workspace.images import DEFAULT_IMAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_ai.agent import Agent
    from inspect_ai.solver import Solver
    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.capsule import Capsule

    SandboxFor = Callable[[Capsule], SandboxEnvironmentSpec | None]

Keep = Literal["deliverables", "all", "none"]

VERSION = 1


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
    image: str = DEFAULT_IMAGE,
    environment_hint: bool | None = None,
    submissions: str = "logs/submissions",
    keep: Keep = "deliverables",
    time_limit: int | None = DEFAULT_TIME_LIMIT_S,
    token_limit: int | None = None,
    cost_limit: float | None = None,
    message_limit: int | None = None,
    output_limit: int | str = DEFAULT_OUTPUT_LIMIT,
    epochs: int | None = None,
    process: bool | None = None,
    evidence: bool | None = None,
    checklist: str | None = None,
    panel: str | list[str] | None = None,
    hybrid: bool = False,
    judge_samples: int = 1,
    judge_images: Images = "plots",
    judge_items_per_call: int = ITEMS_PER_CALL,
    judge_cache: bool = True,
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
        image: The agent's image, by the name of its recipe: `bioimage`, or `bioimage-agents`,
            which brings the programs of coding agents.
        environment_hint: Whether the agent gets the GPU and its instruction tells of it. By
            default exactly if there is one; true where there is none is an error.
        submissions: Folder where submissions are kept, a subfolder a sample.
        keep: What is kept of a submission.
        time_limit: Seconds of wall-clock time for one sample, null for no limit. Scoring may
            take half of it, so it is at least twice the grader's own limit.
        token_limit: Tokens that the model may read and write in one sample, null for no limit.
        cost_limit: US dollars that the model may cost in one sample, null for no limit. Inspect
            needs the model's prices (`--model-cost-config`).
        message_limit: Messages of one sample's conversation, null for no limit.
        output_limit: Size of one sample's output folder, in bytes or like `20GiB`.
        epochs: How often each sample is run. By default three times if a real model was given,
            else once. Of several the mean counts, and a spread stands beside it.
        process: Whether there is a process score. By default exactly if there is a judge: a model
            in the role `grader` (`--model-role grader=…`), or a panel. Say true where the role is
            given to `eval()` and the task is made before.
        evidence: Whether the log keeps the evidence without a judge, so that it can be judged
            later. By default if a real model was given.
        checklist: Path of a checklist in BIABench's form, by default the one that ships.
        panel: Models that judge together, in place of the role's; the majority of them counts.
        hybrid: Whether code decides the checklist's items that it can decide.
        judge_samples: Answers to each item from each judge, of which the majority counts.
        judge_images: Figures that the judge sees: `none`, `plots`, or `all`.
        judge_items_per_call: Items that one call of the judge asks for.
        judge_cache: Whether the judge's answers are kept on this machine and used again.
        solver: The harness; by default an agent with a shell, Python and a view of images.

    Raises:
        EvalsError: An option, the edition, a capsule or the sandbox is not as it should be; the
            message says what was expected, what was found and how to mend it.
    """
    from evals.harness.react import react
    from evals.judging.run import Asked, judging_for
    from evals.scoring.epochs import epochs_for
    from evals.scoring.outcome import grade, keep_verdict
    from evals.scoring.viewer import HEADLINE, outcome_viewer
    from evals.workspace.setup import prepare_workspace

    wanted = options.names("tasks", tasks, "he-nuinsseg-nuclear-segmentation")
    edition = options.text("edition", edition, SYNTHETIC)
    recipe = _checked_recipe(seed, difficulty, scale, dims, biology)
    replicas = options.whole_number("replicas", replicas, least=1)
    options.one_of("instruction_level", instruction_level, InstructionLevel)
    options.one_of("sandbox", sandbox, SandboxKind)
    if sandbox == "local":
        options.only_default("docker sandbox", image=(image, DEFAULT_IMAGE))
    options.one_of("keep", keep, Keep)
    submissions = options.text("submissions", submissions, "logs/submissions")
    limits = checked_limits(time_limit, token_limit, cost_limit, message_limit, output_limit)
    if epochs is not None:
        options.whole_number("epochs", epochs, least=1)
    judging = judging_for(
        Asked(
            process=process,
            evidence=evidence,
            checklist=checklist,
            panel=panel,
            samples=judge_samples,
            images=judge_images,
            items_per_call=judge_items_per_call,
            hybrid=hybrid,
            cache=judge_cache,
        )
    )
    gpus = gpus_for_hint(options.flag("environment_hint", environment_hint), sandbox)

    simulated = edition == SYNTHETIC
    if not simulated:
        options.only_default("synthetic edition", dims=(dims, None), replicas=(replicas, 1))
        options.only_default(
            "synthetic edition", biology=(biology, "canonical"), scale=(scale, "quick")
        )
    capsules = open_edition(edition, tasks=wanted, recipe=recipe, replicas=replicas)
    compute, sandbox_for = _place(sandbox, gpus, limits.output_bytes, image)
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
        setup=prepare_workspace(output_limit_bytes=limits.output_bytes),
        solver=solver or react(),
        scorer=[grade(submissions=submissions, keep=keep), *judging.scorers],
        cleanup=judging.cleanup(keep_verdict(submissions=submissions, keep=keep)),
        sandbox=sandbox,
        **limits.inspect,
        epochs=epochs_for(epochs),
        # A sample that fails through our own fault must not end those of the others.
        fail_on_error=False,
        viewer=outcome_viewer(judged=bool(judging.scorers)),
        headline_metric=HEADLINE,
        version=VERSION,
        display_name="BIAA",
        metadata=_facts_of_run(setting)
        | {"data": edition_facts(edition)}
        | {"output_limit_bytes": limits.output_bytes}
        | judging.facts,
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


def _place(
    sandbox: SandboxKind, gpus: tuple[str, ...], output_limit: int, image: str
) -> tuple[Compute, SandboxFor]:
    """Return what the agent has to work with, and each sample's own sandbox."""
    if sandbox == "local":
        # Nothing shuts the network off here, so the instruction asks to work without it.
        here = Compute(cpus=host_cpus(), memory_bytes=host_memory(), gpus=gpus, network=True)
        return here, lambda capsule: None
    return _docker(gpus, output_limit, image)


def _docker(gpus: tuple[str, ...], output_limit: int, image: str) -> tuple[Compute, SandboxFor]:
    from inspect_ai.util import SandboxEnvironmentSpec

    from evals.workspace import docker
    from evals.workspace.compose import Resources, compose_for
    from evals.workspace.images import ensure_images

    images, resources = ensure_images(image), Resources.of(docker.engine(), gpus=len(gpus))

    def sandbox_for(capsule: Capsule) -> SandboxEnvironmentSpec:
        config = compose_for(
            capsule.path, images=images, resources=resources, output_limit_bytes=output_limit
        )
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
