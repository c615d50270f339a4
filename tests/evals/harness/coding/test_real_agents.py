"""Real programs of coding agents on a real engine: no network, a scripted model, a scored task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import eval
from inspect_ai.event import ModelEvent
from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from evals.biaa.task import biaa
from evals.harness.coding import agents
from evals.harness.prepare.catalogue import harness_named
from evals.harness.prepare.store import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from inspect_ai.log import EvalSample

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    # Inspect passes it to a library that has renamed it.
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]

# In each program's own words, how a model runs a command; of several the one that is offered.
SHELLS: dict[str, dict[str, dict[str, Any]]] = {
    "claude_code": {"Bash": {"command": "{}", "description": "count", "timeout": 300_000}},
    "codex_cli": {"exec_command": {"cmd": "{}", "yield_time_ms": 30_000}},
    "gemini_cli": {"run_shell_command": {"command": "{}", "description": "count"}},
    "opencode": {"bash": {"command": "{}", "description": "count", "timeout": 300_000}},
}
WEB = {"WebSearch", "WebFetch", "web_search", "google_web_search", "web_fetch", "webfetch"}

# Counts cells as a beginner would, leaves its mark, and looks for marks of others for a while.
WORK = """\
cat > /tmp/count.py <<'END'
import glob, pathlib, time, uuid
import numpy as np, tifffile
from scipy import ndimage

for path in pathlib.Path("/workspace/input").glob("*.tif*"):
    image = ndimage.gaussian_filter(tifffile.imread(path).astype(np.float32), 2.5)
    image -= ndimage.minimum_filter(image, 61)
    peaks = (image == ndimage.maximum_filter(image, 9)) & (image > 0.35 * image.max())
    rows = [f"{x},{y}" for y, x in np.argwhere(peaks)]
    table = pathlib.Path("/workspace/output", path.stem + ".csv")
    table.write_text("\\n".join(["X,Y", *rows, ""]))
places = ["/tmp", "/var/tmp", str(pathlib.Path.home()), "/workspace/output"]
for place in places:
    pathlib.Path(place, f"mark-{uuid.uuid4()}").touch()
time.sleep(5)
marks = [mark for place in places for mark in glob.glob(f"{place}/mark-*")]
print("marks", len(marks))
END
python3 /tmp/count.py && id -un
"""


def commanding(name: str, line: str) -> Model:
    """Return a model that has each sample run one command, then says that it is done."""

    def answer(messages: Sequence[Any], tools: Sequence[Any], *rest: Any) -> ModelOutput:
        [(shell, words)] = SHELLS[name].items()
        offered = {tool.name for tool in tools}
        if shell in offered and not any(message.role == "tool" for message in messages):
            filled = {key: line if value == "{}" else value for key, value in words.items()}
            output = ModelOutput.for_tool_call("mockllm/model", shell, filled)
        else:
            output = ModelOutput.from_content("mockllm/model", "All files are in place.")
        # Without it the tokens are counted with a file from the network.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer)


def sit(
    name: str, line: str, folder: Path, *, epochs: int = 1, **settings: Any
) -> list[EvalSample]:
    """Run one synthetic task of `evals/biaa` with a coding agent, all epochs at once."""
    task = biaa(
        tasks="fluo-cell-counting-2d-cellfmcount",
        solver=getattr(agents, name)(),
        submissions=str(folder / "submissions"),
        epochs=epochs,
        **settings,
    )
    [log] = eval(
        task,
        model=commanding(name, line),
        log_dir=str(folder / "logs"),
        display="none",
        max_samples=epochs,
        max_sandboxes=epochs,
    )
    assert log.status == "success", log.error
    return [resolve_sample_attachments(sample, "full") for sample in log.samples or []]


def check_worked(name: str, sample: EvalSample) -> None:
    """Check that a sample's commands ran in its sandbox, and that its files were scored."""
    assert sample.error is None
    assert sample.scores is not None
    score = sample.scores["grade"]
    assert isinstance(score.value, dict)
    assert float(score.value["outcome"]) > 0.5, score.explanation
    said = " ".join(message.text for message in sample.messages if message.role == "tool")
    assert "agent" in said
    calls = [event for event in sample.events if isinstance(event, ModelEvent)]
    offered = {tool.name for call in calls for tool in call.tools}
    assert offered >= set(SHELLS[name])
    assert not offered & WEB
    check_told(name, score.metadata or {})


def check_told(name: str, facts: dict[str, Any]) -> None:
    """Check that the one command of a sample is told in the form of all harnesses."""
    telemetry, audit = facts["telemetry"], facts["audit"]
    [shell] = SHELLS[name]
    assert telemetry["tool_calls_by_name"] == {shell: 1}
    assert (telemetry["code_executions"], telemetry["errors"]) == (1, 0)
    assert telemetry["tool_time_s"] is None
    assert telemetry["turns"] >= 2
    assert telemetry["tokens"]["total"] == 2 * telemetry["turns"]
    assert telemetry["files_total"] >= 2
    assert (audit["calls_examined"], audit["flags"]) == (1, [])


@pytest.mark.parametrize("name", ["claude_code", "codex_cli"])
def test_two_samples_of_an_agent_at_once_are_scored_and_see_nothing_of_each_other(
    name: str, have_prepared: Callable[[str], Path], tmp_path: Path
) -> None:
    have_prepared(name)
    samples = sit(name, WORK, tmp_path, epochs=2)
    assert [sample.epoch for sample in samples] == [1, 2]
    for sample in samples:
        check_worked(name, sample)
        said = " ".join(message.text for message in sample.messages if message.role == "tool")
        assert "marks 4" in said
    assert max(str(s.started_at) for s in samples) < min(str(s.completed_at) for s in samples)


@pytest.mark.parametrize("name", ["gemini_cli", "opencode"])
def test_an_agent_works_without_a_network_and_is_scored(
    name: str, have_prepared: Callable[[str], Path], tmp_path: Path
) -> None:
    have_prepared(name)
    [sample] = sit(name, WORK, tmp_path)
    check_worked(name, sample)


def test_an_agent_that_is_not_there_is_told_before_it_starts(
    engine: None, own_cache: Path, tmp_path: Path
) -> None:
    [sample] = sit("claude_code", WORK, tmp_path)
    assert sample.error is not None
    assert "`evals harness prepare claude_code`" in sample.error.message
    assert not any(isinstance(event, ModelEvent) for event in sample.events)


CALL_ONCE = """\
#!/usr/bin/env python3
import json, os, sys, time, urllib.request
body = {"model": "x", "max_tokens": 9, "messages": []}
body["messages"].append({"role": "user", "content": sys.argv[-1]})
url = os.environ["ANTHROPIC_BASE_URL"].removesuffix("/v1") + "/v1/messages"
told = {"Content-Type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "x"}
request = urllib.request.Request(url, json.dumps(body).encode(), told)
for _ in range(300):
    try:
        urllib.request.urlopen(request).read()
        break
    except OSError:
        time.sleep(0.2)
open("/workspace/output/left.txt", "w").write("this")
raise SystemExit("I fail")
"""
SEARCH = CALL_ONCE.replace('"messages": []', '"messages": [], "tools": [TOOL]').replace(
    "body = {",
    'TOOL = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}\nbody = {',
)
FAIL_AT_ONCE = "#!/bin/sh\necho no settings >&2\nexit 3\n"


def put_program(text: str, name: str = "claude_code") -> None:
    """Prepare a program that stands for all those of a coding agent."""
    harness = harness_named(name)

    def fill(bench: Path) -> str:
        (bench / "bin").mkdir()
        for program in harness.programs:
            (bench / "bin" / program).write_text(text, encoding="utf-8")
            (bench / "bin" / program).chmod(0o755)
        return "a test"

    settle(harness, "0.0", fill)


def test_a_program_that_fails_at_its_work_is_graded_on_what_it_left(
    engine: None, own_cache: Path, tmp_path: Path
) -> None:
    put_program(CALL_ONCE)
    [sample] = sit("claude_code", WORK, tmp_path, keep="all")
    assert sample.error is None
    assert "The agent's program failed; what it left is graded" in sample.output.completion
    assert sample.scores is not None
    [left] = (tmp_path / "submissions").rglob("left.txt")
    assert left.read_text(encoding="utf-8") == "this"


def test_a_program_that_fails_before_it_calls_the_model_is_an_error(
    engine: None, own_cache: Path, tmp_path: Path
) -> None:
    put_program(FAIL_AT_ONCE)
    [sample] = sit("claude_code", WORK, tmp_path)
    assert sample.error is not None
    assert "no settings" in sample.error.message
    assert not sample.scores


@pytest.mark.parametrize("name", ["claude_code", "opencode"])
def test_no_program_of_the_sandbox_gets_a_search_of_the_web_from_the_provider(
    name: str, engine: None, own_cache: Path, tmp_path: Path
) -> None:
    put_program(SEARCH, name)
    [sample] = sit(name, WORK, tmp_path)
    calls = [event for event in sample.events if isinstance(event, ModelEvent)]
    assert calls
    assert not any(tool.name in WEB for call in calls for tool in call.tools)
