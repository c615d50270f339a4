"""The releases that `evals data` knows: where they are and how they are laid out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evals.data.places import data_root
from evals.errors import DataMissingError
from evals.names import unknown

if TYPE_CHECKING:
    from pathlib import Path

Layout = Literal["zips", "folders", "archive"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class Source:
    """One benchmark's release.

    Attributes:
        name: What the command calls it.
        repo: The data set's repository on the hub; None where none can be pulled.
        layout: `zips` (a manifest, and for each task an archive of its input and one of its
            reference), `folders` (a folder of loose files a task) or `archive` (all in one).
        revision: The revision that is meant if none is given.
        note: What a user has to know before pulling it.
    """

    name: str
    repo: str | None
    layout: Layout
    revision: str
    note: str = ""

    @property
    def home(self) -> Path:
        """The folder of its revisions. Those of BIABench are editions of `evals/biaa` by name."""
        return data_root() if self.layout == "zips" else data_root() / self.name

    def place(self, revision: str) -> Path:
        """Return the folder of one revision."""
        return self.home / plain("revision", revision)

    def needs_repo(self) -> str:
        """Return the repository.

        Raises:
            DataMissingError: There is none that could be pulled.
        """
        if self.repo is None:
            raise DataMissingError(
                f"{self.name}: expected a data set that can be pulled, got none. {self.note}"
            )
        return self.repo


SOURCES = {
    source.name: source
    for source in (
        Source("biaa", "BIABench/BIABench", "zips", "v1.0"),
        Source(
            "biomnibench_da",
            "phylobio/BiomniBench-DA",
            "folders",
            "main",
            "Gated: its terms have to be accepted first. About 79 GB, so choose with --task.",
        ),
        Source(
            "bioxarena",
            "mbzuai-ai4bio/BioXArena-Data-Public",
            "archive",
            "main",
            "Public parts only; the answers are not released.",
        ),
        Source(
            "automedbench",
            None,
            "folders",
            "main",
            "Its packages hold no data. Mend: get each data set from its owner under its own "
            "terms, and give the folder as the edition.",
        ),
    )
}


def source_of(name: str) -> Source:
    """Return the release of a name.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in SOURCES:
        raise unknown("data set", name, SOURCES)
    return SOURCES[name]


def plain(kind: str, name: str) -> str:
    """Return a name that is safe as that of a folder.

    Raises:
        DataMissingError: It is not.
    """
    reserved = kind == "revision" and (name in SOURCES or name == "synthetic")
    if reserved or not _NAME.fullmatch(name):
        raise DataMissingError(
            f"The {kind} {name!r} cannot be the name of a folder: expected letters, digits, dots, "
            "dashes. Mend: for a branch of another kind give the commit it stands at."
        )
    return name
