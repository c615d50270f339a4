"""What a sign of an attempt is, and the patterns that several of them share."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

    from evals.telemetry.pieces import Kind

Flag = Literal["network", "outside_workspace", "private_parts", "source_paper"]
FLAGS: tuple[Flag, ...] = get_args(Flag)

EXECUTED: frozenset[Kind] = frozenset({"shell", "code"})
OPENED: frozenset[Kind] = frozenset({"shell", "code", "path"})
LOOKED_UP: frozenset[Kind] = frozenset({"url", "query", "shell", "code"})
SHELL: frozenset[Kind] = frozenset({"shell"})
URL: frozenset[Kind] = frozenset({"url"})
TOOL: frozenset[Kind] = frozenset({"tool"})


@dataclass(frozen=True)
class Rule:
    """One sign of an attempt.

    Attributes:
        flag: What is attempted.
        name: The rule's own name.
        kinds: Pieces of a call that it reads.
        find: Gives the place of the sign in a line, or None.
        why: What the sign means.
        online: Whether code and commands count only in a call that also reaches for the network.
    """

    flag: Flag
    name: str
    kinds: frozenset[Kind]
    find: Callable[[str], tuple[int, int] | None]
    why: str
    online: bool = False


# Bridged harnesses reach their model on this machine, and it is no network.
HERE = r"localhost|127\.0\.0\.\d+|0\.0\.0\.0|\[?::1\]?|_BASE_URL"
# Names of XML vocabularies look like addresses, but nothing is fetched from there.
VOCABULARY = (
    r"www\.openmicroscopy\.org/Schemas|www\.w3\.org|schemas?\.|purl\.org|ns\.adobe\.com|"
    r"json-schema\.org|xml\."
)
# Where a command begins: a line, after a separator, in a subshell, behind another command.
COMMAND = (
    r"(?:^|[;&|({`]|-l?c\s+[\"']?|\b(?:sudo|then|do|nohup|exec|time|xargs(?:\s+-\S+)*|"
    r"timeout(?:\s+-\S+)*\s+\S+)\s)\s*(?:\w+=\S*\s+)*"
)
ABOUT = r"--version|--help|\bwhich\b|command -v"
PATH = r"(?<![\w.}\])*$/~:-])"


def sign(pattern: str, unless: str = "") -> Callable[[str], tuple[int, int] | None]:
    """Return the search for a pattern in lines that do not hold another one."""
    wanted = re.compile(pattern, re.IGNORECASE)
    spared = re.compile(unless, re.IGNORECASE) if unless else None

    def find(line: str) -> tuple[int, int] | None:
        found = wanted.search(line)
        return found.span() if found and not (spared and spared.search(line)) else None

    return find


_CLIMB = re.compile(rf"{PATH}(?:/[\w.+-]+)+/\.\.(?:/[\w.+-]*)*|(?<![\w./])(?:\.\./){{3,}}[\w.+-]*")
_OPEN_TO_ALL = frozenset({"workspace", "input", "output", "tmp", "home"})


def leaves(line: str) -> tuple[int, int] | None:
    """Find a path that climbs out of the folder tree it begins in."""
    for found in _CLIMB.finditer(line):
        begin = found[0].strip("/").split("/")[0]
        parts = posixpath.normpath(found[0]).split("/")
        end = next((part for part in parts if part not in ("", "..")), "")
        if end not in _OPEN_TO_ALL | {begin}:
            return found.span()
    return None
