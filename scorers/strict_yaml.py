"""YAML files read strictly: what does not fit is told with file, field, want, find and mend."""

from __future__ import annotations

import difflib
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError
from pydantic_core import PydanticCustomError

from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)

_KINDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
}
_MENDS = {
    "string_type": "put the value in quotes",
    "bool_type": "write true or false without quotes",
    "tuple_type": "write one item a line, each after '- '",
    "dict_type": "indent its keys below it",
    "model_type": "indent its keys below it",
}


def unfit(expected: str, mend: str, got: str | None = None) -> PydanticCustomError:
    """Return the error that a validator raises; `got` is by default the value it looked at."""
    context = {"expected": expected, "mend": mend, "got": got}
    return PydanticCustomError("unfit", "{expected}", context)


def _not_blank(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise unfit("text that is not empty", "write it")
    return stripped


def _as_tuple(value: Any) -> Any:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else value


Text = Annotated[str, AfterValidator(_not_blank)]
"""Text that holds more than blanks; blanks round it are taken off."""

Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
"""A list of texts; null is the empty list."""

AsTuple = BeforeValidator(_as_tuple)


# Of many submissions to one task it is read once.
_loaded = lru_cache(maxsize=64)(yaml.safe_load)


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file whose top level is a mapping, or raise `CapsuleFault`."""
    try:
        value = deepcopy(_loaded(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        present = sorted(entry.name for entry in path.parent.glob("*.y*ml"))
        found = f"only {', '.join(present)}" if present else "no YAML file"
        raise CapsuleFault(
            f"{path}: expected this file, got {found} in {path.parent}. "
            f"Mend: a task folder needs a {path.name}; check the folder's path or add the file."
        ) from None
    except OSError as error:
        raise CapsuleFault(
            f"{path}: expected a readable file, got {error.strerror}. Mend: check its kind and "
            "permissions (chmod u+r)."
        ) from error
    except UnicodeDecodeError as error:
        raise CapsuleFault(
            f"{path}: expected UTF-8 text, got byte {error.object[error.start]:#04x} at offset "
            f"{error.start}. Mend: save the file as UTF-8."
        ) from error
    except yaml.YAMLError as error:
        raise CapsuleFault(_yaml_complaint(path, error)) from error
    if not isinstance(value, dict):
        raise CapsuleFault(
            f"{path}: expected a mapping (key: value) at the top level, got {shown(value)}. "
            "Mend: start each top-level key at the first column, as in 'task_id: my-task'."
        )
    return {str(key): item for key, item in value.items()}


def parse(model: type[Model], value: dict[str, Any], path: Path) -> Model:
    """Return `value` as `model`; each thing that does not fit is a line of one `CapsuleFault`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        lines = [_complaint(path, detail) for detail in error.errors(include_url=False)]
        raise CapsuleFault("\n".join(lines)) from error


def shown(value: Any) -> str:
    """Return a short description of a value found in a file."""
    if value is None:
        return "nothing (null)"
    text = repr(value)
    kind = {"dict": "mapping", "str": "text"}.get(type(value).__name__, type(value).__name__)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"


def near(name: str, known: Sequence[str]) -> str:
    """Return a hint at the known name nearest to `name`, or an empty string."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _yaml_complaint(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = getattr(error, "problem", None) or str(error)
    return (
        f"{path}: {where}expected valid YAML, got: {problem}. Mend: check indentation, and "
        "quote text that holds ': ' or starts with a sign such as * or @."
    )


def _complaint(path: Path, detail: ErrorDetails) -> str:
    field = _dotted(detail["loc"])
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return f"{path}: {field}: expected this key, got nothing. Mend: add '{_last(detail)}:'."
    expected = context.get("expected") or _KINDS.get(kind) or detail["msg"]
    mend = context.get("mend") or _MENDS.get(kind, "correct the value")
    got = context.get("got") or shown(detail["input"])
    return f"{path}: {field}: expected {expected}, got {got}. Mend: {mend}."


def _dotted(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".") or "top level"


def _last(detail: ErrorDetails) -> str:
    return str(detail["loc"][-1])
