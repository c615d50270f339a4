"""Who hands something in: the reference agents, and the reference damaged in every way."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.calibration.perturbations import perturb, perturbations
from evals.calibration.solving import solve

if TYPE_CHECKING:
    from evals.capsule import Capsule

ORACLE, BASELINE, NAIVE, PERTURBED = "oracle", "baseline", "naive", "perturbed"


@dataclass(frozen=True)
class Agent:
    """One who hands something in.

    Attributes
    ----------
    name
        `oracle`, `baseline`, `naive` or `perturbed`.
    kind
        Of the naive agent or of the damage.
    dose
        Of the damage.
    """

    name: str
    kind: str = ""
    dose: float | None = None


@dataclass(frozen=True)
class Piece:
    """One submission to make and to grade.

    Attributes
    ----------
    seed
        Decides what is damaged.
    workshop
        Folder for what is made; everything in it is removed afterwards.
    seconds
        How long a solution may take.
    """

    capsule: Capsule
    agent: Agent
    seed: int
    workshop: Path
    seconds: float


@dataclass(frozen=True)
class Scored:
    """What became of it: scores, seconds of making it, and what there is to say of it."""

    outcome: float | None
    strict: float | None
    seconds: float
    note: str = ""


def agents_for(capsule: Capsule, *, damaged: bool = True) -> list[Agent]:
    """Return who hands in something for a capsule, with or without damaged references."""
    from evals.harness.floor import KINDS
    from scorers.graders import family_for

    agents = [Agent(ORACLE), *(Agent(NAIVE, kind) for kind in KINDS)]
    if capsule.solution_dir is not None:
        agents.append(Agent(BASELINE))
    if damaged:
        family = family_for(capsule.spec, capsule.rubric).name
        agents += [
            Agent(PERTURBED, entry.kind, dose)
            for entry in perturbations(family)
            for dose in entry.doses
        ]
    return agents


def score(piece: Piece) -> Scored:
    """Make a submission and grade it; what goes wrong with us is told, not raised."""
    import shutil
    import tempfile
    import traceback

    from scorers.grading import grade

    # Ctrl-C is the parent's, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    place = Path(tempfile.mkdtemp(dir=piece.workshop))
    begun = time.monotonic()
    try:
        folder = place / "submission"
        folder.mkdir()
        note = _hand_in(piece, folder)
        took = time.monotonic() - begun
        verdict = grade(piece.capsule.path, folder, draws=False)
        return Scored(verdict.outcome, verdict.strict, took, note or verdict.error or "")
    except Exception as fault:
        traceback.print_exc()
        told = f"{type(fault).__name__}: {fault}"
        return Scored(None, None, time.monotonic() - begun, told)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _hand_in(piece: Piece, folder: Path) -> str:
    """Fill the folder of a submission; return a word on what went wrong."""
    from evals.capsule import job_for
    from evals.harness.floor import leave
    from scorers.graders import family_for

    capsule, agent = piece.capsule, piece.agent
    if agent.name == NAIVE:
        leave(agent.kind, capsule, folder)
        return ""
    if agent.name == BASELINE:
        return solve(capsule, folder, piece.workshop, piece.seconds)
    family = family_for(capsule.spec, capsule.rubric)
    family.perfect(job_for(capsule, folder), folder)
    if agent.dose is not None:
        perturb(folder, family.name, agent.kind, agent.dose, piece.seed)
    return ""
