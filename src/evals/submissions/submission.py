"""One submission: where it lies, what it is for, and how it is brought out of there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evals.submissions.claims import Manifest, RunMetrics, read_metrics
from evals.submissions.zips import Zip
from evals.workspace.compose import DEFAULT_OUTPUT_LIMIT
from evals.workspace.export import take_folder
from evals.workspace.take import Exported, Taker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

METRICS_BYTES = 1 << 20
# The exporter puts it with all that is no deliverable; some put it beside them.
_METRICS = ("artifacts/run_metrics.json", "artifacts/supporting/run_metrics.json")


@dataclass(frozen=True)
class Submission:
    """One submission, still where it lies.

    Attributes
    ----------
    name
        Where it lies, below the path that was given.
    task_ids
        Tasks that it may be for: what its manifest says, else what its folder or zip is called.
    place
        Its folder, or the archive that holds it.
    inside
        Its folder in the archive; empty where the archive is the submission.
    manifest, faults
        What it says of itself, and where that breaks the schema.
    """

    name: str
    task_ids: tuple[str, ...]
    place: Path | Zip
    inside: str = ""
    manifest: Manifest = field(default_factory=Manifest)
    faults: tuple[str, ...] = ()

    @property
    def agent(self) -> str:
        """Who made it, as it says: `agent`, or `agent/model`; empty where it says nothing."""
        told = (self.manifest.agent_name, self.manifest.model_name)
        return "/".join(name for name in told if name)

    def take(self, dest: Path, cap_bytes: int = DEFAULT_OUTPUT_LIMIT) -> Exported:
        """Copy its regular files to an empty folder, and tell what stayed behind.

        Raises:
            SubmissionRefused: Its archive is broken.
        """
        taker = Taker(dest, None, cap_bytes)
        if isinstance(self.place, Zip):
            self.place.take(self.inside, taker)
        else:
            take_folder(self.place, taker)
        return taker.done()


def metrics_in(folder: Path, files: Iterable[str]) -> RunMetrics:
    """Return what a submission that was taken out tells of its run, as far as it does."""
    present = set(files)
    for name in _METRICS:
        path = folder / name
        if name in present and path.stat().st_size <= METRICS_BYTES:
            return read_metrics(path.read_bytes())
    return RunMetrics()
