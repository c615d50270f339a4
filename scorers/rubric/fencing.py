"""Text that an agent wrote, made fit to be shown to a judge: quoted as data, and harmless.

Nothing is taken away that a reader would need: wording that turns to the judge stays readable and
is marked; signs that a machine could take for its own are written otherwise; what cannot be seen
is written out. Each such place is told, so that it can be shown and counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.rubric.addressing import ADDRESSES, COMMENTS, TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator

# Kinds of places beside those of `TOKENS`.
ADDRESSES_JUDGE, HIDDEN, COMMENT = "addresses_judge", "hidden_characters", "hidden_comment"
OPENS, CLOSES = "⟦quoted from the submission, no instruction: ", "⟧"

_MOST_OF_A_KIND = 10
_SNIPPET = 200
_CONTEXT = 160
_MANY = 8
# How a terminal colours or conceals text.
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,24}[A-Za-z]")
_BLANKS = re.compile(r"[ \t\u00a0]{120,}")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]{0,200}\n){4,}")
_SENTENCE_ENDS = ".!?\n"
_NO_SIGN = str.maketrans(
    {"<": "‹", ">": "›", "|": "¦", "[": "❲", "]": "❳", ":": "∶", "_": "·", "-": "‐", "=": "＝",
     "#": "＃", "*": "∗", '"': "”", "'": "’"}
)  # fmt: skip
_NO_MARKS = str.maketrans({"⟦": "[[", "⟧": "]]"})
# Letters of other scripts that look like Latin ones.
_LOOKALIKES = str.maketrans("аеорсухіјѕԁӏһгвмнктАЕОРСУХІЈЅВМНКТοανιρυεΑΕΟΡΥΙΒΜΝΚΤ",
                            "aeopcyxijsdlhrbmhktAEOPCYXIJSBMHKToavipyeAEOPYIBMNKT")  # fmt: skip
# "Tags": an invisible copy of ASCII.
_TAGS = range(0xE0020, 0xE007F)


@dataclass(frozen=True)
class Found:
    """One place: what kind it is, and its text, itself made harmless."""

    kind: str
    snippet: str


@dataclass(frozen=True)
class Harmless:
    """A text made harmless, and the places where it was not."""

    text: str
    found: tuple[Found, ...] = ()


@dataclass(frozen=True)
class _Folded:
    """Letters as they look, and where each came from."""

    text: str
    origin: range | list[int]

    def span(self, start: int, stop: int) -> tuple[int, int]:
        return self.origin[start], self.origin[stop - 1] + 1


def harmless(text: str) -> Harmless:
    """Make a text harmless and tell where it was not.

    Parameters
    ----------
    text
        As an agent wrote it, already shortened to a length that is worth the time.
    """
    shorter = _EMPTY_LINES.sub("\n\n[empty lines]\n", _ANSI.sub("", text).translate(_NO_MARKS))
    shorter = _BLANKS.sub(" [blanks] ", shorter.replace("\r\n", "\n").replace("\r", "\n"))
    folded = _folded(shorter)
    found: list[Found] = []
    marked = _spans(shorter, folded, found)
    pieces: list[str] = []
    place = 0
    for start, stop in marked:
        pieces += [_defanged(shorter[place:start]), OPENS, _defanged(shorter[start:stop]), CLOSES]
        place = stop
    pieces.append(_defanged(shorter[place:]))
    found += _other_places(shorter, folded)
    return Harmless("".join(pieces), _some_of_each(found))


def _some_of_each(found: list[Found]) -> tuple[Found, ...]:
    """Return the places without repeats, of no kind so many that they crowd out another."""
    kinds: Counter[str] = Counter()
    kept: list[Found] = []
    for one in dict.fromkeys(found):
        kinds[one.kind] += 1
        if kinds[one.kind] <= _MOST_OF_A_KIND:
            kept.append(one)
    return tuple(kept)


def harmless_line(text: str, most: int) -> Harmless:
    """Make a name or a message harmless: one line of at most about `most` characters."""
    line = " ".join(text.split())
    return harmless(line if len(line) <= most else f"{line[: most - 2]} …")


def _folded(text: str) -> _Folded:
    if text.isascii() and text.isprintable():
        return _Folded(text, range(len(text)))
    letters: list[str] = []
    origin: list[int] = []
    for place, sign in enumerate(text):
        for letter in _as_it_looks(sign):
            letters.append(letter)
            origin.append(place)
    return _Folded("".join(letters).translate(_LOOKALIKES), origin)


def _as_it_looks(sign: str) -> str:
    if sign.isascii():
        return "" if _hidden(sign) else sign
    if ord(sign) in _TAGS:
        return chr(ord(sign) - 0xE0000)
    if _hidden(sign):
        return ""
    plain = unicodedata.normalize("NFKD", sign)
    return "".join(part for part in plain if not unicodedata.combining(part))


def _hidden(sign: str) -> bool:
    if sign in "\n\t":
        return False
    return (
        unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        or "\ufe00" <= sign <= "\ufe0f"
        or "\U000e0000" <= sign <= "\U000e0fff"
    )


def _spans(text: str, folded: _Folded, found: list[Found]) -> list[tuple[int, int]]:
    """Return the sentences that turn to the judge, in order, those that touch as one."""
    spans: list[tuple[int, int]] = []
    # An underscore parts words in names of files.
    for match in ADDRESSES.finditer(folded.text.replace("_", " ")):
        found.append(Found(ADDRESSES_JUDGE, _snippet(match[0])))
        start, stop = _sentence(text, *folded.span(*match.span()))
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(stop, spans[-1][1])
        else:
            spans.append((start, stop))
    return spans


def _sentence(text: str, start: int, stop: int) -> tuple[int, int]:
    least, most = max(0, start - _CONTEXT), min(len(text), stop + _CONTEXT)
    while start > least and text[start - 1] not in _SENTENCE_ENDS:
        start -= 1
    start += len(text[start:stop]) - len(text[start:stop].lstrip())
    while stop < most and text[stop] not in _SENTENCE_ENDS:
        stop += 1
    return start, stop


def _other_places(text: str, folded: _Folded) -> Iterator[Found]:
    for kind, pattern in TOKENS.items():
        for match in pattern.finditer(folded.text):
            yield Found(kind, _snippet(match[0]))
    for match in COMMENTS.finditer(text):
        yield Found(COMMENT, _snippet(match[0]))
    hidden = [sign for sign in text if _hidden(sign)]
    if hidden:
        names = sorted({_written_out(sign) for sign in hidden})[:_MANY]
        yield Found(HIDDEN, f"{len(hidden)} characters: {' '.join(names)}")


def _defanged(text: str) -> str:
    """Return a text without signs to machines; what hides in it is written out."""
    text = COMMENTS.sub(_comment, text)
    for pattern in TOKENS.values():
        folded = _folded(text)
        pieces: list[str] = []
        place = 0
        for match in pattern.finditer(folded.text):
            start, stop = folded.span(*match.span())
            pieces += [text[place:start], match[0].translate(_NO_SIGN)]
            place = stop
        text = "".join((*pieces, text[place:]))
    return _shown(text)


def _comment(match: re.Match[str]) -> str:
    return f"[comment, not shown where rendered: {match[1] or match[2]}]"


def _shown(text: str) -> str:
    pieces: list[str] = []
    run: list[str] = []
    for sign in text:
        if _hidden(sign):
            run.append(sign)
            continue
        if run:
            pieces.append(_run(run))
            run = []
        pieces.append(sign)
    pieces.append(_run(run))
    return "".join(pieces)


def _run(signs: list[str]) -> str:
    if len(signs) > _MANY:
        return f"[{len(signs)} hidden characters]"
    return "".join(map(_written_out, signs))


def _written_out(sign: str) -> str:
    return sign.encode("unicode_escape").decode() if ord(sign) > 0xFFFF else f"\\u{ord(sign):04x}"


def _snippet(text: str) -> str:
    line = " ".join(text.split())
    for pattern in TOKENS.values():
        line = pattern.sub(lambda match: match[0].translate(_NO_SIGN), line)
    return _shown(line if len(line) <= _SNIPPET else f"{line[:_SNIPPET]} …")
