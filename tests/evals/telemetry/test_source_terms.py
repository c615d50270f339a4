from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals.assets import assets
from evals.telemetry.source_terms import rule_for, source_terms
from scorers.specification import load_spec

if TYPE_CHECKING:
    from scorers.specification import TaskSpec

TRANSLOCATION = "cytoplasm-nucleus-translocation-bbbc014"


def spec_of(task: str) -> TaskSpec:
    return load_spec(assets() / "tasks" / "biaa" / task)


def test_a_task_is_found_by_its_doi_and_record() -> None:
    assert source_terms(spec_of(TRANSLOCATION)) == {"10.1038/nmeth.2083", "BBBC014"}


@pytest.mark.parametrize("line", ["see bbbc014", "https://doi.org/10.1038/nmeth.2083"])
def test_lines_that_name_the_source_are_found(line: str) -> None:
    rule = rule_for(spec_of(TRANSLOCATION))
    assert rule is not None
    assert rule.find(line) is not None


@pytest.mark.parametrize("line", ["BBBC0145", "10.1038/nmeth.20831", "translocation of NFkB"])
def test_lines_that_come_near_are_not(line: str) -> None:
    rule = rule_for(spec_of(TRANSLOCATION))
    assert rule is not None
    assert rule.find(line) is None


def test_every_task_that_ships_names_a_source() -> None:
    tasks = [path.parent.name for path in assets().glob("tasks/biaa/*/task_spec.yaml")]
    assert tasks
    assert [task for task in tasks if rule_for(spec_of(task)) is None] == []
