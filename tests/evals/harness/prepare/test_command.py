from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from evals.cli import app

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = "@anthropic-ai/claude-code-linux-x64"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["harness", *arguments])


def test_preparing_tells_place_licence_and_how_to_run_it(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": b"program"})
    told = run("prepare", "claude_code", "--version", "9.8.7")
    assert told.exit_code == 0
    assert (
        "Licence: proprietary (Anthropic's terms). Run it: --solver evals/claude_code"
        in told.stdout
    )


def test_the_list_tells_what_is_prepared_and_how_to_prepare_the_others(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": b"program"})
    run("prepare", "claude_code", "--version", "9.8.7")
    text = run("list").stdout
    assert "    9.8.7  0 MB" in text
    assert "    not prepared: evals harness prepare codex_cli" in text
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)}
    assert [each["version"] for each in entries["claude_code"]["prepared"]] == ["9.8.7"]
    assert entries["codex_cli"]["prepared"] == []


def test_removing_tells_what_was_removed(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": b"program"})
    run("prepare", "claude_code", "--version", "9.8.7")
    assert run("rm", "claude_code").stdout == "removed claude_code 9.8.7\n"
    assert run("rm", "claude_code").stdout == "Nothing to remove.\n"


def test_a_fault_is_told_without_a_traceback(own_cache: Path) -> None:
    told = run("prepare", "claude")
    assert told.exit_code == 1
    assert "Mend: did you mean 'claude_code'?" in told.output
    assert "Traceback" not in told.output
