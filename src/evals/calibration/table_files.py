"""Tables of a submission damaged row by row, over all of its files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from evals.calibration.submission_files import found, read_table, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from evals.calibration.doses import Pick
    from evals.calibration.tables import Change, Form

_FILE = " file"  # no column's own name begins with a blank


def rows(folder: Path, pick: Pick, form: Form, change: Change) -> int:
    """Change rows, chosen among those of all tables; return how many there were to choose from."""
    paths = found(folder, form.pattern)
    tables = [read_table(path, form.separator) for path in paths]
    names = list(tables[0].columns)
    # An empty table says nothing of the types of its columns, and none of its rows can be hit.
    parts = {at: table for at, table in enumerate(tables) if len(table)}
    whole = pd.concat([part.assign(**{_FILE: at}) for at, part in parts.items()])
    whole.columns = pd.Index([str(name).lower() for name in whole.columns])
    # A flat sibling of a task has an axis less.
    own_form = replace(form, place=tuple(name for name in form.place if name in whole))
    changed = change(whole.reset_index(drop=True), own_form, pick)
    for at in parts:
        own = changed.loc[changed[_FILE] == at].drop(columns=_FILE)
        write_table(paths[at], own.set_axis(names, axis=1), form.separator)
    return len(whole)
