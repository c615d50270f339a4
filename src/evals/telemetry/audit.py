"""What an agent tried that it should not: flags with evidence, not a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from evals.scoring.verdict import printable
from evals.telemetry.pieces import Piece, code_piece, is_program, pieces_of, shell_piece
from evals.telemetry.rules import RULES
from evals.telemetry.signs import FLAGS, Flag, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evals.telemetry.calls import Calls
    from evals.telemetry.work import Work

MOST_ATTEMPTS = 3  # shown of each flag
_AROUND = 60  # signs shown on either side
_MOST_SNIPPET = 200
_MOST_TOOL = 80
HARNESS = "(harness)"


class Attempt(BaseModel):
    """One sign of an attempt.

    Attributes:
        flag: What was attempted.
        rule: The rule that found it.
        tool: The tool that was called.
        snippet: The place in what was executed, opened or looked up.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    flag: Flag
    rule: str
    tool: str
    snippet: str


class Audit(BaseModel):
    """What an agent tried.

    Attributes:
        flags: The flags that are raised.
        counts: Lines that raised each flag.
        attempts: The first few of each flag.
        not_isolated: Why nothing kept the agent from the machine, empty where it was isolated.
        calls_examined: Tool calls that were looked at, or commands where no tools were called.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    flags: list[Flag]
    counts: dict[Flag, int]
    attempts: list[Attempt]
    not_isolated: str
    calls_examined: int


def audit(
    work: Work, calls: Calls, own_rule: Rule | None, *, local: bool, hosted: bool = False
) -> Audit:
    """Return what an agent tried.

    Args:
        work: The agent's events.
        calls: Its tool calls.
        own_rule: The rule for the task's own source, if it names one.
        local: Whether its sandbox was this machine itself.
        hosted: Whether the harness ran on this machine itself, whatever the sandbox.
    """
    rules = RULES if own_rule is None else (*RULES, own_rule)
    examined = list(_examined(work, calls))
    found = [attempt for tool, pieces in examined for attempt in attempts(tool, pieces, rules)]
    counts = {flag: sum(attempt.flag == flag for attempt in found) for flag in FLAGS}
    return Audit(
        flags=[flag for flag in FLAGS if counts[flag]],
        counts=counts,
        attempts=[each for flag in FLAGS for each in _first(found, flag)],
        not_isolated=_why_not_isolated(local=local, hosted=hosted),
        calls_examined=len(examined),
    )


def attempts(tool: str, pieces: Sequence[Piece], rules: Sequence[Rule] = RULES) -> list[Attempt]:
    """Return the attempts in one call, one a flag and line."""
    online = any(
        rule.flag == "network" and rule.find(line) is not None
        for piece in pieces
        for rule in rules
        if piece.kind in rule.kinds
        for line in piece.lines
    )
    found: list[Attempt] = []
    for piece in pieces:
        applied = [rule for rule in rules if _applies(rule, piece, online=online)]
        for line in piece.lines:
            raised: dict[Flag, Attempt] = {}
            for rule in applied:
                place = None if rule.flag in raised else rule.find(line)
                if place is not None:
                    raised[rule.flag] = _attempt(rule, tool, line, place)
            found += raised.values()
    return found


def _examined(work: Work, calls: Calls) -> Iterator[tuple[str, list[Piece]]]:
    """Give what each call did; where a model called no tools, what its harness ran for it."""
    for call in calls.made:
        yield call.name, pieces_of(call.name, call.arguments)
    if calls.made or not work.generations:
        return
    for event in work.sandbox_events:
        if event.action == "exec":
            typed = [code_piece(event.input)] if event.input else []
            yield HARNESS, [shell_piece(event.cmd or ""), *typed]
        elif event.action == "write_file" and is_program(event.file or ""):
            yield HARNESS, [code_piece(event.input or "")]


def _applies(rule: Rule, piece: Piece, *, online: bool) -> bool:
    if piece.kind not in rule.kinds:
        return False
    return online or not rule.online or piece.kind in ("url", "query")


def _attempt(rule: Rule, tool: str, line: str, place: tuple[int, int]) -> Attempt:
    begin, end = max(0, place[0] - _AROUND), place[1] + _AROUND
    part = ("…" if begin else "") + line[begin:end].strip() + ("…" if end < len(line) else "")
    return Attempt(
        flag=rule.flag,
        rule=rule.name,
        tool=printable(tool[:_MOST_TOOL]),
        snippet=printable(part)[:_MOST_SNIPPET],
    )


def _first(found: Sequence[Attempt], flag: Flag) -> list[Attempt]:
    return list(dict.fromkeys(each for each in found if each.flag == flag))[:MOST_ATTEMPTS]


def _why_not_isolated(*, local: bool, hosted: bool) -> str:
    if hosted:
        return "the harness `adapter` runs on this machine itself"
    return "the sandbox `local` is this machine itself" if local else ""
