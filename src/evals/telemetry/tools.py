"""What tools are called in the harnesses, and which of their arguments say what they do."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

# Names of tools that run programs, in small letters: Inspect's, Claude Code's, Codex CLI's,
# Gemini CLI's, OpenCode's, mini-SWE-agent's and common ones of MCP servers.
CODE_TOOLS = frozenset(
    {
        "bash",
        "bash_session",
        "code_execution",
        "code_interpreter",
        "container.exec",
        "exec",
        "exec_command",
        "execute",
        "execute_bash",
        "execute_code",
        "execute_command",
        "execute_python",
        "ipython",
        "jupyter",
        "local_shell",
        "python",
        "run_code",
        "run_command",
        "run_python",
        "run_shell_command",
        "sh",
        "shell",
        "shell_command",
        "terminal",
    }
)
READING_TOOLS = frozenset(
    {"open_image", "read", "read_file", "read_many_files", "view", "view_image", "view_media"}
)
PATH_ARGUMENTS = frozenset(
    {
        "absolute_path",
        "cwd",
        "dir_path",
        "directory",
        "file",
        "file_path",
        "filename",
        "filepath",
        "glob",
        "include",
        "notebook_path",
        "path",
        "paths",
        "pattern",
        "target_file",
        "workdir",
    }
)
IMAGE_SUFFIXES = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".npy", ".png", ".svg", ".tif", ".tiff", ".webp"}
)


def plain_name(name: str) -> str:
    """Return a tool's name in small letters, without the MCP server that it comes from."""
    return name.rpartition("__")[2].lower()


def runs_code(name: str) -> bool:
    """Tell whether a tool of this name runs programs."""
    return plain_name(name) in CODE_TOOLS


def argument_name(name: str) -> str:
    """Return an argument's name in one spelling: `filePath` is `file_path`."""
    spelt = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return spelt.lstrip("_")


def reads_image(name: str, arguments: dict[str, Any]) -> bool:
    """Tell whether a call opens an image file to look at it."""
    if plain_name(name) not in READING_TOOLS:
        return False
    paths = [arguments[key] for key in arguments if argument_name(key) in PATH_ARGUMENTS]
    return any(
        isinstance(path, str) and PurePosixPath(path).suffix.lower() in IMAGE_SUFFIXES
        for path in paths
    )
