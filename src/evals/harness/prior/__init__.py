"""What one would hand in who knows the field's publications and looks at no pixel.

Where such a submission scores, a score rewards knowing the answer. One small module a family
writes it from the names and metadata of the input, what the specification says, and numbers that
publications report; the reference is out of reach. Families without a module have nothing to
expect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evals.capsule import job_for
from evals.harness.prior import foci, golgi, npc, translocation, wound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.capsule import Capsule
    from scorers.contract import Job

# Each writes deliverables and returns whether it found what it needs to know in the input.
PRIORS: dict[str, Callable[[Job, Path], bool]] = {
    "foci": foci.write,
    "golgi": golgi.write,
    "npc": npc.write,
    "translocation": translocation.write,
    "wound": wound.write,
}


def write_prior(capsule: Capsule, folder: Path) -> bool:
    """Write what is to be expected into an empty folder; return whether there is anything."""
    from scorers.graders import family_for

    prior = PRIORS.get(family_for(capsule.spec, capsule.rubric).name)
    if prior is None:
        return False
    return prior(replace(job_for(capsule, folder), reference_dir=None), folder)
