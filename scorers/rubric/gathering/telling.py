"""How names and texts of a submission get into evidence: harmless, and with what was found."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from scorers.rubric.evidence import MOST_FLAGS, Flag
from scorers.rubric.fencing import CLOSES, OPENS, harmless, harmless_line

if TYPE_CHECKING:
    from scorers.rubric.fencing import Found

SHORTENED, UNREADABLE = "shortened", "unreadable"
_LONGEST_PATH = 200
_LONGEST_TEXT = 29_000
_LONGEST_REASON = 400
_LONGEST_SNIPPET = 300
_LONGEST_REF = 120
_NOT_IN_A_REF = re.compile(r"[^\w./ +()-]")


class Telling:
    """Makes what is told harmless, gives references, and keeps the flags.

    Attributes
    ----------
    flags
        What was found, in the order of telling.
    """

    def __init__(self) -> None:
        self.flags: list[Flag] = []
        self._paths: dict[str, tuple[str, str]] = {}
        self._refs: set[str] = set()
        self._renamed = 0

    def path(self, path: PurePosixPath | str) -> str:
        """Return the path of a file as it may be told."""
        return self._named(str(path))[0]

    def ref(self, kind: Literal["file", "table"], path: PurePosixPath, part: str = "") -> str:
        """Return a new reference to a file, or to a part of it such as a sheet."""
        name = self._named(str(path))[1]
        if part:
            inner = harmless_line(part, _LONGEST_PATH)
            name += f" {_NOT_IN_A_REF.sub('_', 'a sheet' if inner.found else inner.text)}"
        whole = wanted = f"{kind}:{name[:_LONGEST_REF]}"
        number = 2
        while whole in self._refs:
            whole, number = f"{wanted} ({number})", number + 1
        self._refs.add(whole)
        return whole

    def text(self, where: str, text: str) -> str:
        """Return a text as it may be told."""
        told = harmless(text)
        self._keep(where, told.found)
        # Signs that are written out may make a text several times longer.
        return _clipped(told.text, _LONGEST_TEXT)

    def reason(self, where: str, text: str) -> str:
        """Return a line that may quote a file, such as the message of a library."""
        told = harmless_line(text, _LONGEST_REASON)
        self._keep(where, told.found)
        return _clipped(told.text, _LONGEST_REASON)

    def value(self, value: Any, where: str) -> Any:
        """Return a JSON value whose texts may be told."""
        if isinstance(value, str):
            return self.reason(where, value)
        if isinstance(value, list):
            return [self.value(entry, where) for entry in value]
        if isinstance(value, dict):
            return {key: self.value(entry, where) for key, entry in value.items()}
        return value

    def flag(self, where: str, kind: str, snippet: str) -> None:
        """Keep a flag, unless it is known or there are too many."""
        flag = Flag(where=where, kind=kind, snippet=_clipped(snippet, _LONGEST_SNIPPET))
        if len(self.flags) < MOST_FLAGS and flag not in self.flags:
            self.flags.append(flag)

    def _named(self, path: str) -> tuple[str, str]:
        """Return a path as it may be told, and what stands for it in a reference."""
        if path not in self._paths:
            told = harmless_line(path, _LONGEST_PATH)
            name = _NOT_IN_A_REF.sub("_", told.text)
            if told.found:
                self._renamed += 1
                suffix = _NOT_IN_A_REF.sub("", PurePosixPath(path).suffix)[:10]
                name = f"renamed_{self._renamed}{suffix}"
            self._paths[path] = _clipped(told.text, _LONGEST_REASON), name
            self._keep(f"name:{name}", told.found)
        return self._paths[path]

    def _keep(self, where: str, found: tuple[Found, ...]) -> None:
        for place in found:
            self.flag(where, place.kind, place.snippet)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} […]{CLOSES if OPENS in text else ''}"
