"""What a tool call executes, opens or looks up, cut into pieces; its prose is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from evals.telemetry.tools import PATH_ARGUMENTS, argument_name

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["tool", "shell", "code", "path", "url", "query"]

MOST_SIGNS = 100_000  # of one piece
MOST_OF_LINE = 500  # longer lines are cut into parts, so that no pattern takes long
_MOST_DOCUMENTS = 50
_SHELL = frozenset({"chars", "cmd", "command", "commands"})
_CODE = frozenset({"cell", "code", "new_source", "python", "script", "source"})
_URL = frozenset({"link", "uri", "url", "urls"})
_QUERY = frozenset({"q", "queries", "query", "search", "search_query", "search_term"})
# What is written to a file counts if the file is a program.
_CONTENT = frozenset({"content", "contents", "file_text", "new_str", "new_string", "text"})
_PATCH = frozenset({"input", "patch"})
_CODE_SUFFIXES = frozenset({".ipynb", ".jl", ".js", ".pl", ".py", ".r", ".sh"})
_PATCH_MARK = "*** Begin Patch"
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (.+)$", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!).*$", re.MULTILINE)
_HEREDOC = re.compile(
    # Bounded, or a long line full of such beginnings would take long.
    r"<<-?[ \t]{0,20}(?P<quote>['\"]?)(?P<mark>\w{1,80})(?P=quote)"
    rf"(?P<rest>[^\n]{{0,{MOST_OF_LINE}}})\n"
)
_NAMED_FILE = re.compile(r"[\w./~$-]+\.\w+")


@dataclass(frozen=True)
class Piece:
    """One text, and what is done with it."""

    kind: Kind
    text: str

    @property
    def lines(self) -> Iterator[str]:
        """The text's lines, long ones in parts."""
        for line in self.text.splitlines():
            for begin in range(0, len(line), MOST_OF_LINE):
                yield line[begin : begin + MOST_OF_LINE]


def pieces_of(name: str, arguments: dict[str, Any]) -> list[Piece]:
    """Return the pieces of a tool call; arguments of other names are taken for prose.

    Args:
        name: The tool's name.
        arguments: Its arguments.
    """
    plain = {argument_name(key): _text(value) for key, value in arguments.items()}
    found = [Piece("tool", name)]
    for key, text in plain.items():
        if text:
            found += _pieces(key, text[:MOST_SIGNS], plain)
    return found


def shell_piece(command: str) -> Piece:
    """Return a shell command without what it only writes down."""
    text = _without_documents(command[:MOST_SIGNS].replace("\\\n", " "))
    return Piece("shell", _COMMENT.sub("", text))


def code_piece(code: str) -> Piece:
    """Return a program without its comments."""
    return Piece("code", _COMMENT.sub("", code[:MOST_SIGNS]))


def _pieces(key: str, text: str, arguments: dict[str, str]) -> Iterator[Piece]:
    if key in _SHELL:
        yield shell_piece(text)
    elif key in _CODE:
        yield code_piece(text)
    elif key in _URL:
        yield Piece("url", text)
    elif key in _QUERY:
        yield Piece("query", text)
    elif key in PATH_ARGUMENTS:
        yield Piece("path", text)
    elif key in _CONTENT:
        names = [value for name, value in arguments.items() if name in PATH_ARGUMENTS]
        if any(is_program(name) for name in names):
            yield code_piece(text)
    elif key in _PATCH:
        yield from _patch(text)


def _patch(text: str) -> Iterator[Piece]:
    if _PATCH_MARK not in text:
        yield code_piece(text)
        return
    names = _PATCHED.findall(text)
    for name, body in zip(names, _PATCHED.split(text)[2::2], strict=True):
        yield Piece("path", name)
        if is_program(name):
            added = [line[1:] for line in body.splitlines() if line.startswith("+")]
            yield code_piece("\n".join(added))


def is_program(name: str) -> bool:
    """Tell whether a file of this name holds a program."""
    return PurePosixPath(name.strip()).suffix.lower() in _CODE_SUFFIXES


def _without_documents(command: str) -> str:
    """Leave out what a here-document writes into a file that is no program."""
    kept, place = [], 0
    for found in islice(_HEREDOC.finditer(command), _MOST_DOCUMENTS):
        if found.start() < place:
            continue
        end = re.compile(rf"^[ \t]*{found['mark']}[ \t]*$", re.MULTILINE).search(
            command, found.end()
        )
        line = command[command.rfind("\n", 0, found.start()) + 1 : found.start()] + found["rest"]
        line = line[-MOST_OF_LINE:]
        names = _NAMED_FILE.findall(line)
        if ">" in line and names and not any(map(is_program, names)):
            kept.append(command[place : found.end()])
            place = end.start() if end else len(command)
    return "".join([*kept, command[place:]])


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(part for part in value if isinstance(part, str))
    return ""
