"""The task `evals/biaa`: options, samples, and errors as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from evals.assets import assets
from evals.biaa import biaa
from evals.biaa.compute import Compute
from evals.biaa.dataset import Setting, metadata_of
from evals.biaa.facts import RELEASED, facts_of
from evals.biaa.metadata import BiaaMetadata
from evals.capsule import load_capsule
from evals.errors import CapsuleInvalidError, EvalsError, SandboxError, UnknownNameError
from scorers.specification import load_spec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")


def inspect_eval(*options: str) -> subprocess.CompletedProcess[str]:
    """Run `inspect eval evals/biaa` with the local sandbox, as a user does."""
    command = [sys.executable, "-m", "inspect_ai", "eval", "evals/biaa", "--model", "none/none"]
    settings = [part for option in ("sandbox=local", *options) for part in ("-T", option)]
    return subprocess.run(
        [*command, "--display", "plain", *settings], capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path, make_capsule: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an edition of two capsules in a working directory of the test."""
    make_capsule(tmp_path / "mine", "dots", {"metadata": {"difficulty": "easy", "licence": "CC0"}})
    make_capsule(
        tmp_path / "mine",
        "lines",
        {"input": {"spatial_dimensions": "3D mosaic", "temporal_dimension": "time-lapse (1 min)"}},
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mine"


def test_the_task_states_its_settings(folder: Path) -> None:
    made = biaa(edition="mine", sandbox="local")
    assert made.version == 1
    assert made.fail_on_error is False
    assert made.time_limit == 3600
    assert [sample.id for sample in made.dataset] == ["dots", "lines"]


def test_every_sample_has_every_key_of_the_metadata(folder: Path) -> None:
    dots, lines = (
        BiaaMetadata.model_validate_json(json.dumps(sample.metadata))
        for sample in biaa(edition="mine", sandbox="local", instruction_level="expert").dataset
    )
    assert (dots.modality, dots.dimensions, dots.temporal) == ("fluorescence", "2D", "static")
    assert (lines.modality, lines.dimensions, lines.temporal) == ("not stated", "3D", "time-lapse")
    assert (dots.difficulty_label, dots.licence) == ("easy", "CC0")
    assert (lines.difficulty_label, lines.licence) == ("unrated", "not stated")
    assert (dots.edition, dots.seed, dots.difficulty) == ("mine", None, None)
    assert (dots.instruction_level, dots.sandbox, dots.family) == ("expert", "local", "counting")
    assert dots.data_hash != lines.data_hash


def test_no_sample_names_a_place_of_this_machine_or_holds_the_reference(folder: Path) -> None:
    for sample in biaa(edition="mine", sandbox="local").dataset:
        text = sample.model_dump_json()
        assert str(folder.parent) not in text
        assert "evaluation" not in text
        assert "metric_config" not in text


def test_tasks_are_chosen_by_patterns(folder: Path) -> None:
    made = biaa(edition="mine", sandbox="local", tasks=["l*", "lines"])
    assert [sample.id for sample in made.dataset] == ["lines"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"seed": "abc"}, "Option seed: expected a whole number of at least 0, got 'abc' (str)"),
        ({"seed": True}, "Option seed: expected a whole number"),
        ({"seed": -1}, "Option seed: expected a whole number"),
        ({"difficulty": 2}, "Option difficulty: expected a number from 0 to 1, got 2"),
        ({"difficulty": "hard"}, "Option difficulty: expected a number"),
        ({"edition": 1.0}, "Option edition: expected text, got 1.0 (float)"),
        ({"instruction_level": "brief"}, "Unknown value of instruction_level 'brief'"),
        ({"sandbox": "dockr"}, "did you mean 'docker'"),
        ({"dims": "4d"}, "Unknown value of dims '4d'"),
        ({"dims": "2d"}, "Option dims: expected None outside the synthetic edition"),
        ({"biology": "canon"}, "did you mean 'canonical'"),
        ({"scale": "paper"}, "Option scale: expected 'quick' outside the synthetic edition"),
        ({"replicas": 0}, "Option replicas: expected a whole number of at least 1"),
        ({"replicas": 2}, "Option replicas: expected 1 outside the synthetic edition"),
        ({"keep": "some"}, "Unknown value of keep 'some'"),
        ({"environment_hint": "yes"}, "Option environment_hint: expected true, false or null"),
        ({"submissions": ""}, "Option submissions: expected text"),
        ({"tasks": 5}, "Option tasks: expected one or more ids or patterns"),
        ({"tasks": "dot"}, "did you mean 'dots'"),
        ({"tasks": []}, "Unknown task id"),
        ({"time_limit": 1799}, "Option time_limit: expected a whole number of at least 1800"),
        ({"epochs": 0}, "Option epochs: expected a whole number of at least 1"),
    ],
)
def test_a_wrong_option_is_told_with_what_was_expected(
    folder: Path, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(EvalsError) as caught:
        biaa(**{"edition": "mine", "sandbox": "local", **options})
    assert expected in str(caught.value)
    assert "Mend:" in str(caught.value)


def test_limits_reach_inspect_and_the_watchdog(folder: Path) -> None:
    made = biaa(
        edition="mine",
        sandbox="local",
        token_limit=500_000,
        cost_limit=2,
        message_limit=80,
        output_limit="1GiB",
    )
    assert (made.token_limit, made.cost_limit, made.message_limit) == (500_000, 2.0, 80)
    assert made.metadata is not None
    assert made.metadata["output_limit_bytes"] == 2**30


def test_no_time_limit_may_be_asked_for(folder: Path) -> None:
    made = biaa(edition="mine", sandbox="local", time_limit=None)
    assert made.time_limit is None
    assert "wall-clock" not in str(made.dataset[0].input)


def test_a_hint_at_a_gpu_that_is_not_there_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(SandboxError, match="expected a CUDA GPU"):
        biaa(edition="mine", sandbox="local", environment_hint=True)


def test_a_capsule_that_names_no_grader_is_told_at_once(folder: Path) -> None:
    (folder / "dots" / "evaluation_rubric.yaml").write_text("metric_config: {}", encoding="utf-8")
    with pytest.raises(CapsuleInvalidError, match="no grader is known for the task id 'dots'"):
        biaa(edition="mine", sandbox="local")


@pytest.mark.parametrize(
    ("metadata", "field"),
    [({"difficulty": "tough"}, "difficulty"), ({"licence": 4}, "licence"), (["a"], "")],
)
def test_a_wrong_fact_of_a_capsule_is_told(
    tmp_path: Path, make_capsule: Any, metadata: Any, field: str
) -> None:
    capsule = load_capsule(make_capsule(tmp_path, spec={"metadata": metadata}))
    with pytest.raises(CapsuleInvalidError, match=rf"task_spec\.yaml: metadata\.?{field}: expec"):
        facts_of(capsule)


def test_a_released_task_has_its_facts_from_the_table(tmp_path: Path, make_capsule: Any) -> None:
    capsule = load_capsule(make_capsule(tmp_path, "he-nuinsseg-nuclear-segmentation"))
    assert facts_of(capsule) == RELEASED[capsule.task_id]


@pytest.mark.parametrize("named", [True, False])
def test_the_grader_is_the_rubrics_else_the_known_one_of_the_id(
    tmp_path: Path, make_capsule: Any, named: bool
) -> None:
    folder = make_capsule(tmp_path, "he-nuinsseg-nuclear-segmentation")
    if not named:
        (folder / "evaluation_rubric.yaml").write_text("metric_config: {}", encoding="utf-8")
    compute = Compute(cpus=1, memory_bytes=None)
    setting = Setting("e", None, None, level="basic", sandbox="local", compute=compute)
    assert metadata_of(load_capsule(folder), setting).family == (
        "counting" if named else "instance"
    )


@pytest.fixture
def bad_editions(folder: Path, make_capsule: Any) -> Path:
    """Give a working directory with editions that each have another fault."""
    root = folder.parent
    (root / "empty").mkdir()
    broken, blind, torn = (make_capsule(root, name) for name in ("broken", "blind", "torn"))
    (broken / "task_spec.yaml").write_text("{", encoding="utf-8")
    (blind / "evaluation" / "a.csv").unlink()
    (torn / "input" / "a.txt").unlink()
    (torn / "input" / "a.txt").symlink_to(root / "gone.txt")
    return root


@pytest.mark.parametrize(
    ("edition", "expected"),
    [
        ("nothing", "Unknown edition 'nothing'"),
        ("empty", "is no edition: expected a folder that holds task_spec.yaml"),
        ("broken", "task_spec.yaml: line 1, column 2: expected valid YAML"),
        ("blind", "evaluation: expected the reference, got an empty folder"),
        ("torn", "a.txt: expected a file, got a link to"),
    ],
)
def test_bad_input_is_told_with_its_mend(bad_editions: Path, edition: str, expected: str) -> None:
    with pytest.raises(EvalsError) as caught:
        biaa(edition=edition, sandbox="local")
    assert expected in str(caught.value)
    assert "Mend:" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["edition=mine", "tasks=dotz"], "Unknown task id 'dotz'"),
        (["edition=torn"], "a.txt: expected a file, got a link to"),
    ],
)
def test_inspect_eval_tells_bad_input_without_a_traceback(
    bad_editions: Path, options: list[str], expected: str
) -> None:
    done = inspect_eval(*options)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    assert expected in said
    assert "Mend:" in said
    assert "Traceback" not in said


def test_importing_the_registry_loads_no_heavy_library() -> None:
    code = (
        "import sys, evals._registry; "
        "heavy = {'numpy', 'scipy', 'skimage', 'pandas', 'matplotlib', 'PIL', 'tifffile'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "[]"


def test_an_unknown_edition_names_the_ones_there_are(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'synthetic'"):
        biaa(edition="syntetic", sandbox="local")


def test_every_task_that_ships_states_difficulty_and_licence() -> None:
    folders = sorted((assets() / "tasks" / "biaa").glob("*/task_spec.yaml"))
    assert folders
    for path in folders:
        stated = load_spec(path.parent).extra["metadata"]
        assert stated["difficulty"] == RELEASED[path.parent.name].difficulty
        assert stated["licence"].startswith("CC0")
