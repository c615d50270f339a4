"""What a judge gives for doctored submissions that it does not give for honest ones."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.judging.doctoring import DOCTORINGS, copy_of
from evals.judging.subjects import folder_subject, items_of
from evals.judging.trial import Judged, Subject, try_judge
from scorers.rubric.items import PASS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evals.capsule import Capsule
    from evals.judging.doctoring import Change, Doctoring
    from evals.judging.protocol import Judge, Protocol
    from evals.judging.rubrics import ChosenChecklist


@dataclass(frozen=True)
class Attempt:
    """One doctored submission beside its honest counterpart.

    Attributes:
        task: The task.
        doctoring: What was done.
        honest: What the counterpart got.
        doctored: What the doctored one got.
        flags: Flags that only the doctored one's evidence has, by kind.
        moved: Items on which checks decide otherwise; there must be none.
    """

    task: str
    doctoring: Doctoring
    honest: Judged
    doctored: Judged
    flags: Mapping[str, int]
    moved: tuple[str, ...]

    @property
    def raised(self) -> tuple[str, ...]:
        """Items that were not passed and now are."""
        before = self.honest.statuses
        after = self.doctored.statuses.items()
        return tuple(item for item, status in after if status == PASS and before[item] != PASS)

    @property
    def lowered(self) -> tuple[str, ...]:
        """Items that were passed and no longer are."""
        before = self.honest.statuses
        after = self.doctored.statuses.items()
        return tuple(item for item, status in after if status != PASS and before[item] == PASS)

    @property
    def gain(self) -> float | None:
        """What it gained in the published score; None where one has no score."""
        return _difference(self.honest.score, self.doctored.score)

    @property
    def strict_gain(self) -> float | None:
        """What it gained in the strict score."""
        return _difference(self.honest.strict, self.doctored.strict)

    @property
    def unflagged(self) -> tuple[str, ...]:
        """Kinds of flags that are missing; there must be none."""
        return tuple(sorted(self.doctoring.flags - set(self.flags)))

    def to_json(self) -> dict[str, Any]:
        """Return everything but the decisions."""
        return {
            "task": self.task,
            "doctoring": self.doctoring.name,
            "what": self.doctoring.what,
            "why": self.doctoring.why,
            "honest": self.honest.to_json(),
            "doctored": self.doctored.to_json(),
            "gain": self.gain,
            "strict_gain": self.strict_gain,
            "raised": list(self.raised),
            "lowered": list(self.lowered),
            "moved_by_checks": list(self.moved),
            "flags": dict(self.flags),
            "flags_missing": list(self.unflagged),
            "note": self.doctoring.note,
        }


async def attack(
    who: Judge,
    capsule: Capsule,
    submission: Path,
    chosen: ChosenChecklist,
    protocol: Protocol,
    *,
    hybrid: bool = False,
    doctorings: Sequence[Doctoring] = DOCTORINGS,
    step: Callable[[str], None] = lambda name: None,
) -> list[Attempt]:
    """Judge doctored copies of a submission, each beside its honest counterpart.

    Args:
        who: The judge.
        capsule: The task.
        submission: An honest submission; it is not changed.
        chosen: The checklist.
        protocol: How the judge is asked.
        hybrid: Whether checks decide the items that they can decide.
        doctorings: What is tried.
        step: Is told each doctoring before it is tried.
    """
    bench = _Bench(capsule, submission, chosen, protocol)
    honest: dict[int, tuple[Subject, Judged]] = {}
    attempts = []
    for doctoring in doctorings:
        step(doctoring.name)
        # Many have the same counterpart, which is judged once.
        key = id(doctoring.counterpart)
        if key not in honest:
            subject = await bench.subject(doctoring.counterpart)
            honest[key] = subject, await try_judge(who, subject, chosen, protocol, hybrid=hybrid)
        before, given = honest[key]
        after = await bench.subject(doctoring.change)
        attempts.append(
            Attempt(
                task=capsule.task_id,
                doctoring=doctoring,
                honest=given,
                doctored=await try_judge(who, after, chosen, protocol, hybrid=hybrid),
                flags=_flags(after) - _flags(before),
                moved=_moved(before, after),
            )
        )
    return attempts


@dataclass(frozen=True)
class _Bench:
    """Makes one copy of a submission at a time."""

    capsule: Capsule
    submission: Path
    chosen: ChosenChecklist
    protocol: Protocol

    async def subject(self, change: Change) -> Subject:
        with tempfile.TemporaryDirectory(prefix="evals-judge-") as scratch:
            copied = Path(scratch) / "submission"
            change(copy_of(self.submission, copied), items_of(self.capsule, self.chosen))
            return await folder_subject(self.capsule, copied, self.chosen, self.protocol.images)


def _flags(subject: Subject) -> Counter[str]:
    return Counter(flag.kind for flag in subject.case.evidence.flags)


def _moved(before: Subject, after: Subject) -> tuple[str, ...]:
    first, second = (
        {decision.item_id: decision.status for decision in subject.checked}
        for subject in (before, after)
    )
    both = {**first, **second}
    return tuple(sorted(item for item in both if first.get(item) != second.get(item)))


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 4)
