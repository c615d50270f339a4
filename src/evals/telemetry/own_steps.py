"""A harness's own small steps in the sandbox, such as making a folder: no work of the agent's."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from inspect_ai.util import span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OWN_STEP = "own_step"


@asynccontextmanager
async def own_step() -> AsyncIterator[None]:
    """Mark what runs in the block as a step of the harness itself, which telemetry leaves out."""
    async with span("step of the harness", type=OWN_STEP):
        yield
