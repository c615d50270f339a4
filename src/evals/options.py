"""Options of tasks (`-T name=value`): Inspect passes on whatever YAML made of the text."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar, get_args

from evals.errors import EvalsError
from evals.names import unknown

Choice = TypeVar("Choice", bound=str)

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class OptionInvalidError(EvalsError, ValueError):
    """An option whose value is of the wrong kind or out of range."""


def one_of(name: str, value: Choice, literal: Any) -> Choice:
    """Return `value` if it is one of the values of a `Literal` type."""
    choices: tuple[str, ...] = get_args(literal)
    if value not in choices:
        raise unknown(f"value of {name}", value, choices)
    return value


def whole_number(name: str, value: object, *, least: int = 0) -> int:
    """Return `value` if it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _invalid(name, f"a whole number of at least {least}", value, least)
    return value


def fraction(name: str, value: object) -> float:
    """Return `value` as a float if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _invalid(name, "a number from 0 to 1", value, 0.5)
    return float(value)


def positive(name: str, value: object) -> float:
    """Return `value` as a float if it is a number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise _invalid(name, "a number above 0", value, 2.5)
    return float(value)


def size(name: str, value: object, *, least: int = 0) -> int:
    """Return the bytes that a number or a text such as `20GiB` or `500 MB` stands for."""
    found = _SIZE.fullmatch(str(value).strip())
    if isinstance(value, bool) or found is None:
        raise _invalid(name, "bytes, as a number or with a unit", value, "20GiB")
    number, prefix, binary = found.groups()
    counted = int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])
    if counted < least:
        raise _invalid(name, f"at least {least:,} bytes", value, "20GiB")
    return counted


def text(name: str, value: object, example: str) -> str:
    """Return `value` if it is text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        mend = "quotes inside quotes keep text that looks like a number"
        raise _invalid(name, "text", value, example, mend)
    return value.strip()


def flag(name: str, value: object) -> bool | None:
    """Return `value` if it is true, false or null."""
    if value is not None and not isinstance(value, bool):
        raise _invalid(name, "true, false or null", value, "false")
    return value


def names(name: str, value: object, example: str) -> list[str] | None:
    """Return a list of texts from one text (commas part it), a list, or None."""
    if value is None:
        return None
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
        raise _invalid(name, "one or more ids or patterns", value, example)
    return [part.strip() for item in values for part in item.split(",") if part.strip()]


def only_default(where: str, **given: tuple[object, object]) -> None:
    """Refuse options that have a meaning in one place only, if they are not at their default.

    Args:
        where: Where they have a meaning.
        **given: By name, the value and the default.
    """
    for name, (value, default) in given.items():
        if value != default:
            raise OptionInvalidError(
                f"Option {name}: expected {default!r} outside the {where}, got {value!r}. Mend: "
                "leave the option out."
            )


def _invalid(
    name: str, expected: str, value: object, example: object, mend: str = ""
) -> OptionInvalidError:
    extra = f"; {mend}" if mend else ""
    return OptionInvalidError(
        f"Option {name}: expected {expected}, got {value!r} ({type(value).__name__}). "
        f"Mend: write for example -T {name}={example}{extra}."
    )
