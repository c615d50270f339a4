"""A class on the host as the harness, in the sandbox `local` and on Docker."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from inspect_ai import eval

from evals.biaa.task import biaa
from evals.harness.adapter import adapter
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

AGENTS = Path(__file__).parents[2] / "data" / "harness" / "host_agents.py"
COUNTING = "fluo-cell-counting-2d-cellfmcount"


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    deliverable = {
        "id": "centroids_per_image",
        "description": "Cells.",
        "filename_pattern": "*.csv",
    }
    folder: Path = make_capsule(tmp_path / "capsules", spec={"deliverables": [deliverable]})
    (folder / "evaluation" / "a.csv").write_text("X,Y\n10,10\n", encoding="utf-8")
    return folder


def named(name: str) -> str:
    return f"{AGENTS}@{name}"


def report_of(sample: EvalSample) -> Any:
    told = [event for event in sample.events if event.event == "info"]
    [report] = [each.data for each in told if each.source == "evals/adapter"]
    return report


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pids: list[int]) -> bool:
    end = time.monotonic() + 5
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(is_alive, pids))


def count_cells(place: Path, cls: str, **options: Any) -> EvalLog:
    task = biaa(tasks=COUNTING, solver=adapter(cls), submissions=str(place / "kept"), **options)
    [log] = eval(task, model="none/none", display="none", log_dir=str(place / "logs"))
    assert log.status == "success", log.error
    return log


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_class_solves_a_synthetic_task_from_its_input(tmp_path: Path) -> None:
    [sample] = count_cells(tmp_path, named("BlobCounter"), sandbox="local").samples or []
    score = (sample.scores or {})["grade"]
    assert score.value["outcome"] > 0.5
    assert (score.metadata or {})["status"] == "delivered"
    assert sample.output.completion.startswith("Found ")


def test_only_its_regular_files_reach_the_output(capsule: Path, run: Any) -> None:
    ran = run(capsule, adapter(named("Copier")))
    assert sorted(ran.files) == ["copy.txt", "told.txt"]
    assert ran.files["copy.txt"] == "input of dots"
    left = report_of(ran.sample)["left_out"]
    assert [line.partition(":")[0] for line in left] == ["link.txt", "pipe"]


def test_its_instruction_names_the_folders_that_it_gets(capsule: Path, run: Any) -> None:
    told = run(capsule, adapter(named("Copier"))).files["told.txt"]
    instruction, input_dir, output_dir = told.split("|")
    assert instruction == f"Input: {input_dir}. Output: {output_dir}."


def test_the_sample_says_that_nothing_was_isolated(capsule: Path, run: Any) -> None:
    sample = run(capsule, adapter(named("Copier"))).sample
    assert sample.metadata["isolated"] is False
    assert report_of(sample)["isolated"] is False


def test_the_console_is_told_once_that_nothing_is_isolated(
    capsule: Path, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = adapter(named("Copier"))
    with caplog.at_level(logging.WARNING, "evals.harness.adapter"):
        run(capsule, chosen)
        run(capsule, chosen)
    told = [each for each in caplog.records if each.name == "evals.harness.adapter"]
    assert len(told) == 1
    assert "NOT ISOLATED: evals/adapter runs Copier on this machine" in told[0].getMessage()


def test_no_reference_lies_near_the_input(
    capsule: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_SALT", "pepper")
    seen = run(capsule, adapter(named("Peeker"))).files["seen.txt"]
    # Root may write anything; that the copy is marked read-only is told elsewhere.
    assert seen.replace("'input can be written'", "") == "False [] []"


def test_a_class_that_raises_is_told_and_graded_on_what_it_left(
    capsule: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    ran = run(capsule, adapter(named("Raiser")))
    assert ran.files == {"half.txt": "half"}
    assert ran.sample.error is None
    assert "Raiser failed: ValueError: no cells" in ran.sample.output.completion
    assert "ValueError" in ran.sample.store["Workspace:failure"]
    assert "Traceback" in report_of(ran.sample)["printed"]


def test_the_values_of_keys_are_kept_out_of_the_log(
    capsule: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    sample = run(capsule, adapter(named("Raiser"))).sample
    assert "says [SOME_API_KEY]" in sample.output.completion
    assert "sk-very-secret" not in sample.model_dump_json()


def test_a_class_that_ends_its_process_is_told(capsule: Path, run: Any) -> None:
    ran = run(capsule, adapter(named("Quitter")))
    assert "Quitter ended with exit code 7" in ran.sample.output.completion


@pytest.mark.slow
def test_a_class_that_hangs_is_ended_with_all_that_it_started(
    capsule: Path, run: Any, tmp_path: Path
) -> None:
    note = tmp_path / "pids"
    ran = run(capsule, adapter(named("Sleeper"), init={"note": str(note)}, timeout=4))
    assert gone([int(pid) for pid in note.read_text(encoding="utf-8").split()])
    assert ran.files == {"half.txt": "half", "rescued.txt": "rescued"}
    assert ran.sample.limit.type == "time"


@pytest.mark.slow
def test_a_class_that_does_not_want_to_end_is_killed(
    capsule: Path, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.harness.hosting.GRACE_S", 1)
    note = tmp_path / "pids"
    chosen = adapter(named("Sleeper"), init={"note": str(note), "stubborn": True}, timeout=4)
    assert sorted(run(capsule, chosen).files) == ["half.txt", "rescued.txt"]
    assert gone([int(pid) for pid in note.read_text(encoding="utf-8").split()])


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_samples_own_time_limit_ends_it_and_keeps_what_it_left(
    capsule: Path, tmp_path: Path
) -> None:
    note = tmp_path / "pids"
    task = biaa(
        edition=str(capsule),
        sandbox="local",
        solver=adapter(named("Sleeper"), init={"note": str(note)}),
        submissions=str(tmp_path / "kept"),
    )
    # What is left is graded after the run, since graders get half of a sample's time.
    [log] = eval(
        task,
        model="none/none",
        display="none",
        log_dir=str(tmp_path / "logs"),
        time_limit=10,
        score=False,
    )
    [sample] = log.samples or []
    assert gone([int(pid) for pid in note.read_text(encoding="utf-8").split()])
    assert report_of(sample)["files"] == 2
    assert sample.store["Graded:status"] == "timed_out"


@pytest.mark.slow
def test_too_much_output_ends_it(capsule: Path, run: Any) -> None:
    ran = run(capsule, adapter(named("Filler"), output_limit_bytes=1_000_000))
    assert ran.sample.limit.type == "custom"
    assert ran.sample.store["Workspace:limit"] == "output"
    assert 0 < len(ran.files) <= 10


@pytest.mark.slow
def test_without_an_option_of_its_own_the_tasks_limit_of_output_counts(tmp_path: Path) -> None:
    task = biaa(
        tasks=COUNTING, sandbox="local", submissions=str(tmp_path / "kept"), output_limit="1MB"
    )
    [log] = eval(
        task,
        model="none/none",
        solver=adapter(named("Filler")),
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    [sample] = log.samples or []
    assert sample.scores is not None
    assert (sample.scores["grade"].metadata or {})["limit"] == "output"


def test_what_a_class_leaves_running_ends_with_it(capsule: Path, run: Any, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    ran = run(capsule, adapter(named("Backgrounder"), init={"note": str(note)}))
    assert ran.sample.output.completion == "left a child"
    assert gone([int(note.read_text(encoding="utf-8"))])


RUN_AND_DIE = """
import sys
from inspect_ai import eval
from evals.biaa.task import biaa
from evals.harness.adapter import adapter
edition, cls, note, logs = sys.argv[1:]
task = biaa(edition=edition, sandbox="local", solver=adapter(cls, init={"note": note}))
eval(task, model="none/none", display="none", log_dir=logs)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_class_does_not_outlive_the_run(how: int, capsule: Path, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    arguments = [str(capsule), named("Sleeper"), str(note), str(tmp_path / "logs")]
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_AND_DIE, *arguments],
        cwd=tmp_path,
        # A run that is killed leaves its temporary folders behind.
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while not (note.exists() and len(note.read_text().split()) == 3):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        pids = [int(pid) for pid in note.read_text(encoding="utf-8").split()]
        os.kill(process.pid, how)
        process.wait(60)
        # Who leaves the group outlives a run that is killed.
        assert gone(pids if how == signal.SIGINT else pids[:2])
    finally:
        process.kill()
        if note.exists():
            for pid in filter(is_alive, map(int, note.read_text(encoding="utf-8").split())):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_two_samples_at_once_have_folders_of_their_own(make_capsule: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_capsule(tmp_path / "edition", name)
    task = biaa(
        edition=str(tmp_path / "edition"),
        sandbox="local",
        solver=adapter(named("Copier")),
        submissions=str(tmp_path / "kept"),
        keep="all",
    )
    [log] = eval(task, model="none/none", display="none", log_dir=str(tmp_path / "logs"))
    copies = {
        str(sample.id): (tmp_path / "kept" / sample.store["Graded:kept"] / "copy.txt").read_text()
        for sample in log.samples or []
    }
    assert copies == {"one": "input of one", "two": "input of two"}


def test_what_its_result_tells_is_kept_in_the_transcript(capsule: Path, run: Any) -> None:
    report = report_of(run(capsule, adapter(named("BlobCounter"), init='{"sigma": 2.0}')).sample)
    assert report["agent_id"] == "blob_counter"
    assert report["success"] is True
    assert report["result_metadata"] == {"token_usage": '{"input_tokens": 12, "output_tokens": 3}'}


def test_arguments_may_come_from_a_file(capsule: Path, run: Any, tmp_path: Path) -> None:
    (tmp_path / "init.json").write_text('{"model": "m"}', encoding="utf-8")
    ran = run(capsule, adapter(named("Fussy"), init=str(tmp_path / "init.json")))
    assert ran.files["copy.txt"] == "input of dots"


def test_a_class_of_a_module_is_found_from_the_working_folder(
    capsule: Path, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "agents.py").write_bytes(AGENTS.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert "copy.txt" in run(capsule, adapter("mine.agents:Copier")).files


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (named("NoRun"), "expected a class with run.*got one without run"),
        (named("OtherRun"), r"OtherRun.run: expected .* got \(self, task\)"),
        (named("not_a_class"), "called not_a_class, got a function; its classes are"),
        (named("Missing"), "called Missing, got no such name; its classes are .*Copier"),
        (named("Fussy"), "expected it to take what init gives.*missing a required argument"),
        ("no_such_package.agents:Agent", "cannot be imported: ModuleNotFoundError"),
        ("nowhere.py@Agent", "which does not exist"),
        ("Agent", "expected path/to/file.py@ClassName or package.module:ClassName"),
    ],
)
def test_a_class_that_is_none_is_refused_before_anything_runs(cls: str, words: str) -> None:
    with pytest.raises(OptionInvalidError, match=words):
        adapter(cls)


@pytest.mark.parametrize("init", ["{", "[1]", "nowhere.json", 3, ["a"]])
def test_arguments_that_are_no_object_are_refused(init: Any) -> None:
    with pytest.raises(OptionInvalidError, match="Option init"):
        adapter(named("Copier"), init=init)


def test_a_python_that_is_none_is_refused() -> None:
    with pytest.raises(OptionInvalidError, match="Option python"):
        adapter(named("Copier"), python="/no/python")


def test_our_settings_are_not_handed_on_when_a_class_is_looked_at_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_SALT", "salt")
    file = tmp_path / "nosy.py"
    file.write_text("import os\nraise RuntimeError(os.environ.get('EVALS_SALT', 'nothing'))\n")
    with pytest.raises(OptionInvalidError, match="RuntimeError: nothing"):
        adapter(f"{file}@Nosy")


@pytest.mark.docker
@pytest.mark.slow
def test_a_class_on_the_host_hands_in_on_docker(capsule: Path, run_on_docker: Any) -> None:
    ran = run_on_docker(capsule, adapter(named("Copier")))
    assert sorted(ran.files) == ["copy.txt", "told.txt"]
    assert "/workspace/" in ran.files["told.txt"]
    assert ran.sample.metadata["isolated"] is False
