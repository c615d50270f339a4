from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from scorers.linting.editions import check_manifest

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = "0a" * 32
ENTRY = {"input": {"zip_sha256": DIGEST}, "evaluation": {"zip_sha256": DIGEST}}


@pytest.fixture
def edition(sound: Path) -> Path:
    """A folder with one sound capsule and its manifest."""
    write(sound.parent, {"canary": "x", "tasks": {"my-cells": ENTRY | {"licence": "CC0"}}})
    return sound.parent


def write(root: Path, manifest: Any) -> None:
    (root / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_nothing_is_wrong_with_a_manifest_that_says_more(edition: Path) -> None:
    assert check_manifest(edition) == []


def test_a_folder_without_manifest_needs_none(sound: Path) -> None:
    assert check_manifest(sound.parent) == []


@pytest.mark.parametrize(
    ("manifest", "where", "mend"),
    [
        ({"task": {}}, "manifest.json", "did you mean 'task'?"),
        ([], "manifest.json", "fetch it again"),
        ({"tasks": {"my-cells": 1}}, "tasks.my-cells", "write an object"),
        ({"tasks": {"my-cells": {"inputs": {}}}}, "tasks.my-cells", "did you mean 'input'?"),
        ({"tasks": {"my-cells": {}}}, "tasks.my-cells", "no input is fetched"),
        ({"tasks": {"my-cells": {"input": "a.zip"}}}, "tasks.my-cells.input", "zip_sha256"),
        (
            {"tasks": {"my-cells": {"input": {"zip_sha256": "abc"}}}},
            "tasks.my-cells.input.zip_sha256",
            "what sha256sum tells",
        ),
        ({"tasks": {"my-cells": ENTRY, "my-cell": ENTRY}}, "my-cell/", "did you mean 'my-cells'?"),
        ({"tasks": {}}, "my-cells/", "add it to manifest.json"),
    ],
)
def test_a_fault_of_the_manifest_is_told_with_its_mend(
    edition: Path, manifest: Any, where: str, mend: str
) -> None:
    write(edition, manifest)
    found = check_manifest(edition)
    assert any(where in each.where and mend in each.mend for each in found), found


def test_a_manifest_that_is_no_json_is_told(edition: Path) -> None:
    (edition / "manifest.json").write_text("{", encoding="utf-8")
    assert [finding.expected for finding in check_manifest(edition)] == ["JSON in UTF-8"]
