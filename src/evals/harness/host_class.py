"""A class of the user's, as the options of `evals/adapter` name it, and what it tells."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, ValidationError

from evals.options import OptionInvalidError
from evals.scoring.verdict import printable

PROGRAM = Path(__file__).with_name("hosted.py")
_EXPECTED = "path/to/file.py@ClassName or package.module:ClassName"
_CHECK_S = 300
_SECRET = re.compile(r"(?i)key|token|secret|passw")
_SHORTEST_SECRET = 8
_MOST_OF_METADATA = 20_000

Text = Annotated[str, AfterValidator(printable)]


class Result(BaseModel):
    """What `run` returned, as far as it holds to the contract.

    Attributes:
        metadata: Whatever the class tells of its run: tokens, cost, model, trace.
    """

    model_config = ConfigDict(frozen=True)

    success: bool | None = None
    message_or_log: Text = ""
    error: Text = ""
    metadata: dict[str, JsonValue] = {}


class Answer(BaseModel):
    """What the program that runs the class tells of it."""

    model_config = ConfigDict(frozen=True)

    unfit: Text | None = None
    raised: Text | None = None
    agent_id: Text | None = None
    result: Result | None = None


@dataclass(frozen=True)
class HostClass:
    """A class, where it is looked for, what it is made with, and the Python that runs it."""

    module: str
    name: str
    file: str
    search: str
    init: dict[str, Any]
    python: str

    @property
    def command(self) -> list[str]:
        """The program that runs it."""
        return [self.python, str(PROGRAM)]

    def line(self, **task: str) -> bytes:
        """Return what that program reads: without a task it only looks at the class."""
        request = {
            "module": self.module,
            "name": self.name,
            "file": self.file,
            "search": self.search,
            "init": self.init,
            **task,
        }
        return json.dumps(request).encode() + b"\n"

    def check(self) -> None:
        """Look at the class in a process of its own.

        Raises:
            OptionInvalidError: It cannot be imported, lacks `run`, or does not take `init`.
        """
        try:
            done = subprocess.run(
                self.command,
                input=self.line(),
                env=_without_settings(),
                capture_output=True,
                timeout=_CHECK_S,
                check=False,
            )
        except OSError as error:
            raise OptionInvalidError(
                f"Option python: expected a Python that can be started, got {self.python!r}"
                f" ({error.strerror}). Mend: give its path, or leave the option out."
            ) from error
        except subprocess.TimeoutExpired as error:
            raise OptionInvalidError(
                f"Option cls: {self.module} cannot be imported within {_CHECK_S} s. Mend: move"
                " long work from its top level into run."
            ) from error
        answer = read_answer(done.stdout)
        if answer is None:
            said = done.stderr.decode("utf-8", "replace").strip()[-2000:]
            raise OptionInvalidError(
                f"Option cls: {self.module} ended the Python that looked at it, with code"
                f" {done.returncode}: {said}. Mend: let it be imported without doing anything."
            )
        if answer.unfit is not None:
            raise OptionInvalidError(
                f"Option cls: {answer.unfit}. Mend: `-S cls={_EXPECTED}`, a class with"
                " run(self, instruction, input_dir, output_dir) that writes its files to"
                " output_dir."
            )


def host_class(cls: str, init: object = None, python: str | None = None) -> HostClass:
    """Return the class that the options name, known to be fit.

    Raises:
        OptionInvalidError: One of the options is not as it should be.
    """
    module, name, file = _named(cls)
    found = HostClass(
        module=module,
        name=name,
        file=str(file) if file else "",
        search=str(file.parent if file else Path.cwd()),
        init=_arguments(init),
        python=python or sys.executable,
    )
    found.check()
    return found


def _named(cls: str) -> tuple[str, str, Path | None]:
    """Return module, class and file that the option names."""
    path, at, name = cls.rpartition("@")
    if at and name.isidentifier() and path.endswith(".py"):
        file = Path(path).expanduser().resolve()
        if file.is_file():
            return file.name, name, file
        raise OptionInvalidError(
            f"Option cls: expected a Python file before the @, got {str(file)!r}, which does not"
            " exist. Mend: give its path."
        )
    module, _, name = cls.partition(":")
    if name.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        return module, name, None
    raise OptionInvalidError(
        f"Option cls: expected {_EXPECTED}, got {cls!r}. Mend: write for example -S"
        " cls=my_agent.py@MyAgent."
    )


def _arguments(init: object) -> dict[str, Any]:
    """Return the constructor's arguments from a mapping, JSON text, or the path of a JSON file."""
    if init is None:
        return {}
    told = init
    try:
        if isinstance(told, str):
            text = told if told.lstrip().startswith("{") else Path(told).read_text("utf-8")
            told = json.loads(text)
        if isinstance(told, dict):
            return json.loads(json.dumps(told))  # type: ignore[no-any-return]  # a mapping again
        fault = f"got {type(told).__name__}"
    except (OSError, ValueError, TypeError) as error:
        fault = f"got {init!r} ({error})"
    raise OptionInvalidError(
        "Option init: expected the constructor's arguments as a JSON object, or the path of a file"
        f' with one, {fault}. Mend: write for example -S init=\'{{"model": "m"}}\'.'
    )


def read_answer(raw: bytes | bytearray) -> Answer | None:
    """Return what the program told; None if it told nothing that can be read."""
    try:
        return Answer.model_validate_json(bytes(raw))
    except (ValidationError, RecursionError):
        return None


def environment(scratch: Path) -> dict[str, str]:
    """Return our environment for the class, which needs its keys, without our own settings."""
    own = {"PWD": str(scratch), "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"}
    return _without_settings() | own


def _without_settings() -> dict[str, str]:
    # They may lead to where capsules lie, and hold the salt of their seeds.
    return {name: value for name, value in os.environ.items() if not name.startswith("EVALS_")}


def loggable(text: str) -> str:
    """Return text for the log: printable, and without the values of keys in our environment."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return printable(text)


def loggable_metadata(metadata: dict[str, JsonValue]) -> dict[str, str]:
    """Return metadata for the log as JSON texts, as much of it as fits."""
    kept: dict[str, str] = {}
    left = _MOST_OF_METADATA
    for name, value in metadata.items():
        text = loggable(json.dumps(value))
        left -= len(text) + len(name)
        if left < 0:
            return kept | {"…": "the rest is too large to keep"}
        kept[printable(name)] = text
    return kept
