"""Evidence, items and judges that answer from a table, as the tests need them."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai.model import ContentImage, Model, ModelOutput, ModelUsage, get_model

from evals.judging.case import Case
from evals.judging.protocol import Judge
from scorers.rubric.evidence import Evidence
from scorers.rubric.items import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from inspect_ai.model import ChatMessage

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 16).decode()
ASKED = re.compile(r"^id: (\S+)$", re.MULTILINE)
OPEN = re.compile(r"^- (\S+): .*; allowed: ", re.MULTILINE)


def figure(ref: str, kind: str = "plot") -> dict[str, Any]:
    """Return a figure of the evidence."""
    facts = {"format": "PNG", "vector": False, "width": 4.0, "height": 4.0, "dpi": None, "pages": 1}
    return {
        "ref": ref,
        "path": f"{ref[7:]}.png",
        "kind": kind,
        "caption": "",
        "media_type": "image/png",
        "width": 4,
        "height": 4,
        "facts": facts,
        "data": PNG,
    }


def evidence_dict(**changes: Any) -> dict[str, Any]:
    """Return evidence as it is printed."""
    told: dict[str, Any] = {
        "task_id": "dots",
        "deliverables": {"found": {"counts": ["counts.csv"]}, "rejected": [], "missing": []},
        "files": [{"path": "counts.csv", "bytes": 20}, {"path": "count.py", "bytes": 9}],
        "files_total": 2,
        "documents": [
            {
                "ref": "file:count.py",
                "path": "count.py",
                "bucket": "code",
                "text": "count = 1",
                "chars": 9,
                "shortened": False,
            }
        ],
        "tables": [],
        "figures": [figure("figure:1"), figure("figure:2", "image")],
    }
    return told | changes


def make_evidence(**changes: Any) -> Evidence:
    """Return checked evidence."""
    return Evidence.model_validate(evidence_dict(**changes))


def make_items(count: int = 4) -> list[Item]:
    """Return items of changing severity."""
    severities = ("critical", "major", "minor")
    weights = {"critical": 3.0, "major": 2.0, "minor": 1.0}
    return [
        Item(
            id=f"chk_{number:04d}_q",
            text=f"Question {number}.",
            severity=severities[number % 3],
            weight=weights[severities[number % 3]],
            section="general_evaluation",
            subsection="tool_use",
        )
        for number in range(1, count + 1)
    ]


def result(item_id: str, status: str = "pass", **changes: Any) -> dict[str, Any]:
    """Return one result of an answer."""
    return {
        "item_id": item_id,
        "status": status,
        "confidence": 0.9,
        "rationale": f"because of {item_id}",
        "evidence_refs": ["file:count.py"],
        "unknown_reason": "ambiguous_evidence" if status == "unknown" else None,
    } | changes


def answer(*results: dict[str, Any]) -> str:
    """Return an answer of the wanted form."""
    return json.dumps({"results": list(results)})


@dataclass
class Script:
    """A judge that answers from a table, and what it was asked.

    Attributes:
        table: Status by item id; `pass` for the rest.
        say: What it says in place of that: gets the ids it is asked for and the number of the
            call; None answers from the table.
    """

    table: dict[str, str] = field(default_factory=dict)
    say: Callable[[list[str], int], Any] = lambda ids, call: None
    asked: list[list[str]] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __call__(self, input: list[ChatMessage], *_: Any) -> ModelOutput:
        """Answer a call."""
        last = input[-1].text
        ids = OPEN.findall(last) or ASKED.findall(last)
        self.asked.append(ids)
        self.texts.append("\n".join(message.text for message in input))
        parts = [part for each in input if isinstance(each.content, list) for part in each.content]
        self.images.append(sum(isinstance(part, ContentImage) for part in parts))
        said = self.say(ids, len(self.asked))
        if isinstance(said, BaseException):
            raise said
        if said is None:
            said = answer(*(result(each, self.table.get(each, "pass")) for each in ids))
        if isinstance(said, str):
            said = ModelOutput.from_content("mockllm/model", said)
        # Without it Inspect counts tokens with a file from the internet.
        said.usage = said.usage or ModelUsage(
            input_tokens=1000, output_tokens=100, total_tokens=1100
        )
        return said  # type: ignore[no-any-return]

    @property
    def calls(self) -> int:
        """Number of calls."""
        return len(self.asked)

    def model(self) -> Model:
        """Return a model that plays the script."""
        return get_model("mockllm/model", custom_outputs=self)

    def judge(self, name: str = "mockllm/model") -> Judge:
        """Return the judge of a panel who plays the script."""
        return Judge(name, self.model())


@pytest.fixture
def kit() -> SimpleNamespace:
    """Give the makers above."""
    return SimpleNamespace(
        Script=Script,
        answer=answer,
        evidence=make_evidence,
        evidence_dict=evidence_dict,
        figure=figure,
        items=make_items,
        result=result,
    )


@pytest.fixture
def case() -> Case:
    evidence = make_evidence()
    return Case(
        "Count the dots.", evidence, "[turn 1] I count.", {"turns": 1}, evidence.figures[:1]
    )


@pytest.fixture(autouse=True)
def _own_cache(own_cache: Path) -> None:
    """Keep answers in a folder of the test."""


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Stand in for what reads a submission; the ids of the samples it was asked for."""
    asked: list[str] = []

    async def gather_evidence(state: Any, workspace: Any) -> Evidence:
        asked.append(str(state.sample_id))
        checks = [
            {"check": "input_untouched", "verdict": "fail", "says": "An input file is other."}
        ]
        return make_evidence(task_id=str(state.metadata["task_id"]), checks=checks)

    monkeypatch.setattr("evals.judging.dossier.gather_evidence", gather_evidence)
    return asked


@pytest.fixture
def edition(tmp_path: Path, make_capsule: Callable[..., Path]) -> Path:
    """Give an edition of one small task that selects two groups of the checklist."""
    centres = {
        "id": "centroids_per_image",
        "description": "One CSV file an image.",
        "filename_pattern": "*.csv",
    }
    folder = make_capsule(tmp_path / "edition", "dots", {"deliverables": [centres]})
    (folder / "evaluation" / "a.csv").write_text("X,Y\n4711,4712\n", encoding="utf-8")
    rubric = folder / "evaluation_rubric.yaml"
    told = yaml.safe_load(rubric.read_text(encoding="utf-8"))
    told["checklist_filter"] = {"include_keywords": ["tool_use", "tracking"]}
    told["vlm_anchors"] = ["Only whole dots count."]
    told["metric_config"]["comparison_logic"] = "Dots are matched within the secret radius."
    rubric.write_text(yaml.safe_dump(told), encoding="utf-8")
    return tmp_path / "edition"


CHECKLIST = {
    "scoring": {"critical_auto_fail": False, "pass_threshold": 0.75},
    "task_specific": {
        "tracking": {"checklist": [{"text": "Divisions are found", "severity": "critical"}]},
        "stitching": {"checklist": [{"text": "Seams are gone", "severity": "critical"}]},
    },
    "general_evaluation": {
        "tool_use": {
            "checklist": [
                {"text": "Parameters were chosen by looking", "severity": "major"},
                {"text": "An image that fails is told", "severity": "minor"},
                {"text": "Versions are told"},
            ]
        }
    },
}
IDS = (
    "chk_0001_divisions_are_found",
    "chk_0003_parameters_were_chosen_by_looking",
    "chk_0004_an_image_that_fails_is_told",
    "chk_0005_versions_are_told",
)


@pytest.fixture
def checklist(tmp_path: Path) -> Path:
    """Give a checklist of five items, of which the task selects four: weights 3, 2, 1, 1."""
    path = tmp_path / "checklist.yaml"
    path.write_text(yaml.safe_dump(CHECKLIST, sort_keys=False), encoding="utf-8")
    return path
