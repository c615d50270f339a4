"""What every BIAA sample says of itself, so that results can be grouped by it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

# pydantic looks these names up when the class is made.
from evals.data.recipe import Biology, Scale  # noqa: TC001

InstructionLevel = Literal["basic", "expert"]
SandboxKind = Literal["docker", "local"]
Difficulty = Literal["easy", "medium", "hard", "unrated"]


class BiaaMetadata(BaseModel):
    """Metadata of one sample. It goes into the log, so it names no place of this machine.

    Attributes:
        modality: Imaging modality in the specification's words.
        dimensions: Spatial dimensions of the input.
        temporal: Whether the input is a movie.
        family: The kind of grader.
        difficulty_label: How hard the task is held to be.
        difficulty: Setting of the simulator, 0 to 1; None where the data were not simulated.
        scale: Size of the simulated data; None where the data were not simulated.
        biology: Whether the simulated effects are the published ones; None likewise.
        salted: Whether the user's salt was mixed into the seed; None likewise.
        licence: Licence of the data.
        edition: "synthetic", a released revision, or the base name of the user's folder.
        seed: Seed of the simulator; None where the data were not simulated.
        data_hash: SHA-256 over the capsule's names and bytes.
        environment_hint: Whether the instruction tells of a GPU, which then is there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str
    modality: str
    dimensions: Literal["2D", "3D"]
    temporal: Literal["static", "time-lapse"]
    family: str
    difficulty_label: Difficulty
    difficulty: float | None
    scale: Scale | None
    biology: Biology | None
    salted: bool | None
    primary_task: str
    sub_tasks: tuple[str, ...]
    licence: str
    edition: str
    seed: int | None
    data_hash: str
    instruction_level: InstructionLevel
    sandbox: SandboxKind
    environment_hint: bool
