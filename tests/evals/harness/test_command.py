"""Any program as a harness, with the model served to it where it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.model import ModelOutput, get_model

from evals.errors import DataMissingError, UnknownNameError
from evals.harness.command import command, fill
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

# Inspect passes it to a library that has renamed it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

TINY = Path(__file__).parents[2] / "data" / "harness" / "tiny_agent.py"
CALL = "python3 tiny_agent.py {instruction_file} {input_dir} {output_dir}"
COPY = """Here it is:

```python
import pathlib, sys
text = (pathlib.Path(sys.argv[1]) / "a.txt").read_text()
(pathlib.Path(sys.argv[2]) / "copy.txt").write_text(text)
```
"""


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    folder: Path = make_capsule(tmp_path)
    return folder


def events(sample: EvalSample, kind: str) -> list[Any]:
    return [event for event in sample.events if event.event == kind]


def report_of(sample: EvalSample) -> Any:
    [report] = [each.data for each in events(sample, "info") if each.source == "evals/command"]
    return report


@pytest.mark.slow
def test_a_program_works_with_the_served_model(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, command(CALL, files=str(TINY)), scripted(COPY))
    assert ran.sample.error is None
    assert ran.files == {"copy.txt": "input of dots"}
    assert report_of(ran.sample)["exit_code"] == 0


@pytest.mark.slow
def test_the_models_calls_are_events_of_the_sample(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, command(CALL, files=str(TINY)), scripted(COPY))
    [call] = events(ran.sample, "model")
    assert call.output.usage.total_tokens == 15
    assert "Input: " in call.input[0].text
    assert ran.sample.messages[-1].text == COPY
    assert ran.sample.output.completion == COPY


def test_values_are_quoted_for_the_shell() -> None:
    line = fill("go {input_dir} ${HOME} '{print $1}'", {"input_dir": "/a b/$c"})
    assert line == "go '/a b/$c' ${HOME} '{print $1}'"


def test_an_unknown_placeholder_is_refused_with_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'instruction_file'"):
        command("go {instruction_fil}")


@pytest.mark.slow
def test_a_template_that_inspect_parted_at_its_commas_is_put_together(
    capsule: Path, run: Any
) -> None:
    ran = run(capsule, command(["echo a", "b > {output_dir}/said"]))
    assert ran.files == {"said": "a,b\n"}


@pytest.mark.parametrize("wrong", ["", 3, None])
def test_a_template_that_is_no_text_is_refused(wrong: Any) -> None:
    with pytest.raises(OptionInvalidError, match="Option template"):
        command(wrong)


def test_missing_files_are_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=re.escape(str(tmp_path / "no.py"))):
        command("go", files=str(tmp_path / "no.py"))


def test_a_missing_sdk_is_told_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.harness.bridge._SDKS", ("openai", "no-such-package"))
    with pytest.raises(DataMissingError, match=r"no-such-package.*install evals\[harness\]"):
        command("go")


@pytest.mark.slow
def test_a_folder_is_carried_with_its_rights(capsule: Path, run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "deep").mkdir(parents=True)
    script = folder / "deep" / "go.sh"
    script.write_text('#!/bin/sh\ncat "$1" > "$2/task"\npwd > "$2/where"\n', encoding="utf-8")
    script.chmod(0o755)
    ran = run(capsule, command("deep/go.sh {instruction_file} {output_dir}", files=str(folder)))
    assert ran.files["task"].startswith("Input: /")
    assert "output" not in ran.files["where"]
    assert ran.sample.output.completion == "The command ran to its end."


@pytest.mark.slow
def test_a_failing_command_is_told_and_graded_on_what_it_left(capsule: Path, run: Any) -> None:
    ran = run(capsule, command("touch {output_dir}/half; echo no cells >&2; exit 3"))
    assert sorted(ran.files) == ["half"]
    assert ran.sample.error is None
    assert "failed with exit code 3: no cells" in ran.sample.output.completion
    assert report_of(ran.sample)["stderr"] == "no cells\n"
    assert "exit code 3" in ran.sample.store["Workspace:failure"]


@pytest.mark.slow
def test_a_command_that_does_not_end_is_stopped_and_graded(capsule: Path, run: Any) -> None:
    ran = run(capsule, command("touch {output_dir}/half; sleep 600", timeout=2))
    assert sorted(ran.files) == ["half"]
    assert report_of(ran.sample)["timed_out"] is True
    assert ran.sample.store["Workspace:limit"] == "time"


@pytest.mark.slow
def test_what_is_kept_of_a_commands_talk_is_bounded(capsule: Path, run: Any) -> None:
    report = report_of(run(capsule, command("yes | head -c 9000000")).sample)
    assert report["exit_code"] == 0
    assert len(report["stdout"]) == 4000


@pytest.mark.slow
def test_a_model_that_cannot_be_reached_is_an_error_and_no_zero(capsule: Path, run: Any) -> None:
    def unreachable(*_: Any) -> ModelOutput:
        raise PermissionError("the key is wrong")

    model = get_model("mockllm/model", custom_outputs=unreachable)
    ran = run(capsule, command(CALL, files=str(TINY)), model)
    assert "None of 1 calls of the model succeeded" in ran.sample.error.message
    assert "the key is wrong" in ran.sample.error.message
