"""The form in which every harness's work is told."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Tokens(BaseModel):
    """Tokens as the provider counted them.

    Attributes:
        input: Read at the full rate, without those of the cache.
        cache_read: Read from the provider's cache.
        cache_write: Written to the provider's cache.
        output: Put out, reasoning among them.
        reasoning: Of the output, those that went into reasoning, where the provider tells them.
        total: The provider's total.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    total: int = 0


class FileWritten(BaseModel):
    """One file of the output; times are the file's own, which an agent can set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    size_bytes: int
    after_s: float


class Telemetry(BaseModel):
    """How an agent worked. Setup, scoring and judges are not in it.

    Attributes:
        started: When the harness began (ISO 8601, UTC); None where none ran.
        agent_time_s: Clock time from the harness's start to its end.
        model_time_s: Clock time in which a model was generating; parallel calls count once.
        model_working_s: Sum of the calls' own times, without waiting for rate limits.
        tool_time_s: Clock time in which tools or commands ran, as far as Inspect ran them; None
            where the harness runs its tools itself.
        turns: Answers of models.
        model_errors: Calls of models that failed or were cancelled.
        tool_calls: Tool calls, each once.
        tool_calls_by_name: The same by name; of many names the rarest are summed as `(others)`.
        repeated_calls: Calls with the name and arguments of an earlier one.
        errors: Tool calls known to have failed; where no tools were called, failed commands.
        code_executions: Calls of tools that run programs; where no tools were called, commands
            that the harness ran in the sandbox, its own small steps among them.
        failed_executions: Those of them known to have failed.
        images_viewed: Pictures that came back to the model, or calls that open an image file,
            whichever is more.
        tokens: Tokens of all answers.
        turns_without_usage: Answers whose tokens nobody told.
        cost_usd: Cost as Inspect knows it, or None.
        files_total: Files in the output at the end; None where they could not be listed.
        files_bytes: Their sizes together.
        files: Up to 100 of them in order of their last change.
        output_growth: Pairs of seconds after the start and bytes on disk, as the watchdog saw them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    started: str | None
    agent_time_s: float | None
    model_time_s: float
    model_working_s: float
    tool_time_s: float | None
    turns: int
    model_errors: int
    tool_calls: int
    tool_calls_by_name: dict[str, int]
    repeated_calls: int
    errors: int
    code_executions: int
    failed_executions: int
    images_viewed: int
    tokens: Tokens
    turns_without_usage: int
    cost_usd: float | None
    files_total: int | None
    files_bytes: int | None
    files: list[FileWritten]
    output_growth: list[tuple[float, int]]
