"""A submission judged apart from a run, to see how far a judge can be trusted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.errors import ModelFailedError
from evals.judging.judge import judge
from evals.judging.protocol import DEFAULTS, Judge
from scorers.rubric.arithmetic import checklist_score
from scorers.rubric.checks.combining import combine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evals.judging.case import Case
    from evals.judging.judge import Tally
    from evals.judging.protocol import Protocol
    from evals.judging.rubrics import ChosenChecklist
    from scorers.rubric.decisions import Decision
    from scorers.rubric.items import Item


@dataclass(frozen=True)
class Subject:
    """What is judged.

    Attributes:
        name: What it is called.
        case: What the judge gets to see.
        items: What it is asked.
        checked: What checks decide of it.
    """

    name: str
    case: Case
    items: tuple[Item, ...]
    checked: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What came of it.

    Attributes:
        decisions: Exactly one for each item, as the score counts them.
        score: The published score, None if nothing is decided.
        strict: The strict one.
        decided: Share of the weight that is decided.
        tally: What the calls came to.
    """

    decisions: tuple[Decision, ...]
    score: float | None
    strict: float | None
    decided: float
    tally: Tally

    @property
    def statuses(self) -> dict[str, str | None]:
        """The status of each item by its id."""
        return {decision.item_id: decision.status for decision in self.decisions}

    def to_json(self) -> dict[str, Any]:
        """Return the sums."""
        return {"score": self.score, "strict": self.strict, "decided": self.decided}


def named_judge(name: str) -> Judge:
    """Return the judge with a model's name, with the settings that a run gives it.

    Raises:
        ModelFailedError: There is no such model, or what it needs is missing.
    """
    from inspect_ai.model import get_model

    try:
        model = get_model(name, config=DEFAULTS)
    except Exception as error:  # Providers raise what they like.
        raise ModelFailedError(
            f"--model {name}: the judge's model cannot be used: {error} Mend: give "
            "PROVIDER/MODEL, with the provider's key in the environment."
        ) from error
    return Judge(str(model), model)


async def try_judge(
    who: Judge,
    subject: Subject,
    chosen: ChosenChecklist,
    protocol: Protocol,
    *,
    items: Sequence[Item] = (),
    hybrid: bool = False,
) -> Judged:
    """Judge a subject.

    Args:
        who: Who judges.
        subject: What.
        chosen: The checklist that the items are from.
        protocol: How the judge is asked.
        items: The items in another order.
        hybrid: Whether checks decide the items that they can decide.

    Raises:
        ModelFailedError: The judge answered nothing that is valid.
    """
    asked = items or subject.items
    judgement = await judge([who], subject.case, asked, protocol)
    if asked and all(decision.status is None for decision in judgement.decisions):
        raise ModelFailedError(
            f"The judge {who.name} gave no valid answer on {subject.name}: "
            f"{judgement.decisions[0].problem}. Mend: try the model with a single sample first."
        )
    combined = combine(subject.checked if hybrid else (), judgement.decisions)
    summed = checklist_score(asked, combined.decisions, chosen.checklist)
    return Judged(
        combined.decisions,
        summed.score,
        summed.strict,
        summed.share_decided,
        judgement.tallies[who.name],
    )


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on standard error; give what tells the next step and counts the last one."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        begun = False

        def step(name: str) -> None:
            nonlocal begun
            progress.update(task, advance=int(begun), description=f"{title}: {name}")
            begun = True

        yield step
        progress.update(task, completed=total, description=title)
