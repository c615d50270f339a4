"""The user's salt: a secret that makes the instances of a ranked run impossible to make ahead."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from evals.errors import DataMissingError

VARIABLE = "EVALS_SALT"
FILE_VARIABLE = "EVALS_SALT_FILE"


@cache
def user_salt() -> str:
    """Return the salt that `EVALS_SALT` or the file `EVALS_SALT_FILE` holds, else nothing.

    It is read once. Both variables are then taken out of this process's environment, which
    processes in a local sandbox would inherit.

    Raises:
        DataMissingError: The file cannot be read, or the salt is empty.
    """
    named = os.environ.pop(FILE_VARIABLE, None)
    given = os.environ.pop(VARIABLE, None)
    if given is None and named is None:
        return ""
    salt = given if named is None else _read(Path(named).expanduser())
    if not (salt or "").strip():
        raise DataMissingError(
            f"The salt in {FILE_VARIABLE if named else VARIABLE} is empty. Mend: put a long random "
            "text there, or unset the variable to run without a salt."
        )
    return str(salt).strip()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataMissingError(
            f"{FILE_VARIABLE}: expected a readable text file, got {path}: {error}. Mend: give the "
            "path of the file that holds your salt."
        ) from error
