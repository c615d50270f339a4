"""The licences of released data."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evals.biaa.facts import RELEASED
from evals.data.hub.licences import released_terms

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]


def test_every_released_task_has_a_licence_and_somebody_to_name() -> None:
    terms = released_terms("biaa")
    assert {one.task for one in terms} == set(RELEASED)
    assert all(one.licence != "not stated" and one.attribution != "not stated" for one in terms)


def test_data_that_must_not_be_passed_on_are_marked(data: Data) -> None:
    told = json.loads(data("licenses", "biaa", "--json"))
    assert {one["task"] for one in told if one["restricted"]} == {
        "smlm-localization-dnapaint",
        "fluo-dna-repair-foci-colocalization-sbsst227",
        "5D-npc-assembly-kinetics-idr0115",
    }
    assert "EMBL-EBI terms of use  RESTRICTED" in data("licenses")


def test_all_releases_are_told(data: Data) -> None:
    told = {one["task"] for one in json.loads(data("licenses", "--json"))}
    assert told > {"biomnibench_da", "bioxarena", "automedbench"}


def test_an_editions_capsules_tell_their_own(data: Data, make_capsule: Any, tmp_path: Path) -> None:
    make_capsule(tmp_path / "mine", "dots", {"metadata": {"licence": "CC0-1.0"}})
    make_capsule(tmp_path / "mine", "lines")
    make_capsule(tmp_path / "mine", "he-nuinsseg-nuclear-segmentation")
    told = json.loads(data("licenses", "--edition", str(tmp_path / "mine"), "--json"))
    assert {one["task"]: one["licence"] for one in told} == {
        "dots": "CC0-1.0",
        "lines": "not stated",
        "he-nuinsseg-nuclear-segmentation": "CC BY 4.0",
    }
