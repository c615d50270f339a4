from __future__ import annotations

import pytest

from evals.errors import SandboxError
from evals.harness.coding.finding import choose
from evals.harness.prepare.catalogue import HARNESSES

KNOWN = HARNESSES["claude_code"].version
PLACE = "path /usr/bin:/bin\nhome /home/agent\n"


def folders(name: str, *versions: str) -> str:
    return "".join(f"folder /opt/harness/{name}/{version}\n" for version in versions)


def test_the_prepared_version_is_taken_with_its_programs() -> None:
    found = choose("claude_code", None, PLACE + folders("claude_code", KNOWN))
    assert found.programs == {"claude": f"/opt/harness/claude_code/{KNOWN}/bin/claude"}
    assert (found.version, found.path, found.home) == (KNOWN, "/usr/bin:/bin", "/home/agent")


def test_what_the_image_brings_comes_before_what_is_prepared() -> None:
    printed = PLACE + "program claude /usr/local/bin/claude\n" + folders("claude_code", KNOWN)
    found = choose("claude_code", None, printed)
    assert found.programs == {"claude": "/usr/local/bin/claude"}


def test_a_version_that_is_asked_for_comes_before_the_images() -> None:
    printed = PLACE + "program claude /usr/local/bin/claude\n" + folders("claude_code", "1.0")
    assert choose("claude_code", "1.0", printed).version == "1.0"


def test_of_several_versions_the_known_one_is_taken() -> None:
    printed = PLACE + folders("claude_code", "0.1", KNOWN, "9.9")
    assert choose("claude_code", None, printed).version == KNOWN


def test_a_single_other_version_is_taken() -> None:
    assert choose("claude_code", None, PLACE + folders("claude_code", "0.1")).version == "0.1"


def test_several_other_versions_are_a_question() -> None:
    with pytest.raises(SandboxError, match=r"which of .* 0\.1, 0\.2\?.*-S version=0\.2"):
        choose("claude_code", None, PLACE + folders("claude_code", "0.1", "0.2"))


def test_a_missing_program_is_told_with_the_way_to_prepare_it() -> None:
    with pytest.raises(SandboxError, match=r"has no codex .*`evals harness prepare codex_cli`"):
        choose("codex_cli", None, PLACE)


def test_a_missing_version_is_told_with_those_that_are_there() -> None:
    expected = r"prepared are 0\.1.*`evals harness prepare claude_code --version 0\.2`"
    with pytest.raises(SandboxError, match=expected):
        choose("claude_code", "0.2", PLACE + folders("claude_code", "0.1"))


def test_an_image_with_half_of_an_agent_is_told_what_is_missing() -> None:
    with pytest.raises(SandboxError, match="has gemini, but not node"):
        choose("gemini_cli", None, PLACE + "program gemini /usr/bin/gemini\n")
