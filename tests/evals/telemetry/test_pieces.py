from __future__ import annotations

from typing import Any

import pytest

from evals.telemetry.pieces import MOST_SIGNS, Piece, pieces_of


def texts(name: str, **arguments: Any) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces_of(name, arguments)[1:]]


def test_the_tool_itself_is_a_piece() -> None:
    assert pieces_of("WebSearch", {}) == [Piece("tool", "WebSearch")]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"command": "ls"}, "shell"),
        ({"command": ["bash", "-lc", "ls"]}, "shell"),
        ({"cmd": "ls"}, "shell"),
        ({"code": "1"}, "code"),
        ({"filePath": "a"}, "path"),
        ({"absolute_path": "a"}, "path"),
        ({"url": "http://a"}, "url"),
        ({"query": "a"}, "query"),
    ],
)
def test_arguments_are_read_by_their_names(arguments: dict[str, Any], kind: str) -> None:
    assert [found for found, _ in texts("x", **arguments)] == [kind]


def test_prose_is_left_out() -> None:
    assert texts("Bash", description="pip install x", prompt="curl http://x", timeout=3) == []


def test_what_is_written_counts_only_in_programs() -> None:
    assert texts("Write", file_path="a.md", content="import evals") == [("path", "a.md")]
    assert ("code", "import evals") in texts("Write", file_path="a.py", content="import evals")


def test_of_a_patch_the_lines_added_to_programs_count() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a.py\n+import evals\n*** Update File: notes.md\n"
        "@@\n-old\n+import scorers\n*** End Patch"
    )
    assert texts("apply_patch", input=patch) == [
        ("path", "a.py"),
        ("code", "import evals"),
        ("path", "notes.md"),
    ]


def test_comments_are_left_out() -> None:
    assert texts("python", code="x = 1  # import evals") == [("code", "x = 1  ")]
    assert texts("bash", command="#!/bin/sh\n# curl x\nls") == [("shell", "#!/bin/sh\n\nls")]


def test_a_colour_is_no_comment() -> None:
    code = "plt.plot(x, color='#ff0000'); import evals"
    assert texts("python", code=code) == [("code", code)]


def test_what_a_here_document_writes_as_prose_is_left_out() -> None:
    command = "cat > report.md <<'EOF'\ncurl http://x\nEOF\nls"
    assert texts("bash", command=command) == [("shell", "cat > report.md <<'EOF'\nEOF\nls")]


@pytest.mark.parametrize("begin", ["python3 - <<'EOF'", "cat > solve.py <<EOF", "bash <<EOF"])
def test_what_a_here_document_runs_or_writes_as_a_program_counts(begin: str) -> None:
    [(_, text)] = texts("bash", command=f"{begin}\nimport evals\nEOF")
    assert "import evals" in text


def test_a_command_over_several_lines_is_one_line() -> None:
    assert texts("bash", command="pip \\\n  install x") == [("shell", "pip    install x")]


def test_long_texts_are_cut() -> None:
    [(_, text)] = texts("python", code="x" * (MOST_SIGNS + 5))
    assert len(text) == MOST_SIGNS
