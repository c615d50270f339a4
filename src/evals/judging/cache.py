"""Answers of judges kept on this machine, so that none is paid for twice.

An entry is one call: the texts that the judge answered, read anew each time. Only calls in which
every item got a valid answer are kept, each as soon as it is complete, so that an interrupted run
goes on where it stopped and one that failed is asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.data.places import cache_root

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.model import Model

# Raised when what is asked or kept changes its meaning.
_FORMAT = 1
# Settings that do not change what a model answers.
_NEUTRAL = frozenset({
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt",
    "fail_on_refusal", "max_connections", "max_retries", "stream_idle_timeout", "timeout",
})  # fmt: skip


class Kept(BaseModel):
    """One complete call: the judge's texts, and whether it had to do without its figures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: list[str]
    without_figures: bool = False


@dataclass(frozen=True)
class AnswerCache:
    """A folder of kept calls."""

    folder: Path

    @classmethod
    def on_this_machine(cls) -> AnswerCache:
        """Return the cache in the user's cache folder (`EVALS_CACHE`)."""
        return cls(cache_root() / "judge")

    def get(self, key: str) -> Kept | None:
        """Return a kept call; None where there is none that can be read."""
        try:
            return Kept.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, kept: Kept) -> None:
        """Keep a call; other processes see it whole or not at all."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(kept.model_dump_json().encode())
        os.replace(file.name, path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def call_key(model: Model, asked: str, *, judge: str, repeat: int) -> str:
    """Return what a call is kept under.

    Args:
        model: The judge's model with its settings.
        asked: Digest of what it is asked, figures included.
        judge: Its name in the panel, which keeps two judges of one model apart.
        repeat: Number of the repeat; a repeat is a call of its own.
    """
    settings = model.config.model_dump(mode="json", exclude_none=True, exclude=set(_NEUTRAL))
    told = [_FORMAT, str(model), model.api.base_url, settings, asked, judge, repeat]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
