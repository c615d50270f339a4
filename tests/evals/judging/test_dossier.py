from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.util import Store

from evals.assets import assets
from evals.errors import CapsuleInvalidError
from evals.judging.dossier import Dossier, evidence_of, take_evidence
from evals.judging.rubrics import anchors_for, open_checklist, selection_of
from scorers.rubric.checklist import load_checklist, select
from scorers.specification import load_rubric

if TYPE_CHECKING:
    from pathlib import Path

Kit = Any
TASKS = sorted(path.parent for path in (assets() / "tasks" / "biaa").glob("*/task_spec.yaml"))


def test_evidence_comes_back_from_the_store_as_it_was(kit: Kit) -> None:
    evidence = kit.evidence()
    dossier = Dossier(store=Store())
    take_evidence(dossier, evidence)
    assert evidence_of(dossier) == evidence
    assert dossier.pictures["figure:1"].startswith("data:image/png;base64,")
    assert all(not figure["data"] for figure in (dossier.evidence or {})["figures"])


def test_evidence_that_was_edited_out_of_form_is_not_taken(kit: Kit) -> None:
    dossier = Dossier(store=Store())
    take_evidence(dossier, kit.evidence())
    dossier.pictures = {"figure:1": "data:image/png;base64,AAAA"}
    with pytest.raises(ValueError, match="figure data"):
        evidence_of(dossier)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_is_kept_of_a_rubric_selects_the_same_items(task: Path) -> None:
    rubric, chosen = load_rubric(task), open_checklist(None)
    kept = selection_of(rubric)
    assert chosen.items_for(kept) == select(chosen.checklist, rubric)
    assert set(kept) <= {"checklist_filter", "visualization_level"}
    assert set(kept["checklist_filter"]) <= {"include_keywords", "visualization_level"}


def test_anchors_of_a_task_that_ships_are_known_in_another_process() -> None:
    golgi = next(task for task in TASKS if "golgi" in task.name)
    metadata = {"task_id": golgi.name, "data_hash": "of a process that is gone"}
    assert anchors_for(metadata) == load_rubric(golgi).vlm_anchors
    assert anchors_for({"task_id": "../../etc", "data_hash": ""}) == ()


def test_a_checklist_of_ones_own_is_named_by_its_hash(checklist: Path) -> None:
    chosen = open_checklist(str(checklist))
    assert chosen.name == "checklist.yaml"
    assert len(chosen.sha256) == 64
    assert chosen.checklist == load_checklist(checklist)


def test_a_checklist_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "checklist.yaml"
    path.write_text("general_evaluation: {}\n", encoding="utf-8")
    with pytest.raises(CapsuleInvalidError, match="expected items"):
        open_checklist(str(path))
