"""The coding agents that can be prepared: their versions, licences and packages."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.errors import SandboxError
from evals.names import unknown
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}
# It becomes the name of a folder, and part of an address.
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")


@dataclass(frozen=True)
class Package:
    """A package of the npm registry; `{arch}` and `{version}` are filled in.

    Attributes:
        name: Name of the package.
        folder: Where it goes in the prepared folder.
        version: Version; by default the harness's own.
        only: Files that are taken, with their place in the package; all if empty.
    """

    name: str
    folder: str
    version: str = "{version}"
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Harness:
    """A coding agent that can be prepared.

    Attributes:
        name: Name of its solver, and of its folder.
        version: The version that is prepared by default.
        licence: Licence of the program that is fetched; its terms bind who runs it.
        programs: By the name of a command, where it is in the prepared folder: one pattern each.
            The first one is the agent itself.
        packages: What it is made of, from the npm registry.
        wheel: What it is made of, from the Python package index.
    """

    name: str
    version: str
    licence: str
    programs: Mapping[str, str]
    packages: tuple[Package, ...] = ()
    wheel: str = ""

    @property
    def binary(self) -> str:
        """Name of the agent's command."""
        return next(iter(self.programs))


_NODE = Package("node-linux-{arch}", "node", "24.22.3", only=("bin/node", "LICENSE"))
_RIPGREP = Package("@vscode/ripgrep-linux-{arch}", "ripgrep", "1.18.0")

HARNESSES = {
    each.name: each
    for each in (
        Harness(
            name="claude_code",
            version="2.1.332",
            licence="proprietary (Anthropic's terms)",
            programs={"claude": "package/claude"},
            packages=(Package("@anthropic-ai/claude-code-linux-{arch}", "package"),),
        ),
        Harness(
            name="codex_cli",
            version="0.171.0",
            licence="Apache-2.0",
            programs={"codex": "package/vendor/*/bin/codex"},
            packages=(Package("@openai/codex", "package", "{version}-linux-{arch}"),),
        ),
        Harness(
            name="gemini_cli",
            version="0.61.0",
            licence="Apache-2.0; Node.js MIT",
            programs={"gemini": "package/bundle/gemini.js", "node": "node/bin/node"},
            packages=(Package("@google/gemini-cli", "package"), _NODE),
        ),
        Harness(
            name="opencode",
            # The newest one that there is for both architectures.
            version="1.18.18",
            licence="MIT; Node.js MIT; ripgrep MIT",
            programs={
                "opencode": "package/bin/opencode",
                "node": "node/bin/node",
                "rg": "ripgrep/bin/rg",
            },
            packages=(Package("opencode-linux-{arch}", "package"), _NODE, _RIPGREP),
        ),
        Harness(
            name="mini_swe_agent",
            version="2.2.3",
            licence="MIT; its Python packages under their own",
            programs={"mini": "mini"},
            wheel="mini-swe-agent",
        ),
    )
}


def harness_named(name: str) -> Harness:
    """Return a harness of the catalogue.

    Raises:
        UnknownNameError: There is none of this name.
    """
    if name not in HARNESSES:
        raise unknown("harness to prepare", name, HARNESSES)
    return HARNESSES[name]


def checked_version(version: str) -> str:
    """Return a version if it can be one.

    Raises:
        OptionInvalidError: It cannot.
    """
    if not _VERSION.fullmatch(version) or ".." in version:
        raise OptionInvalidError(
            f"Option version: expected a version such as 1.2.3, got {version!r}. Mend: leave it "
            "out for the one that is known to work."
        )
    return version


def architecture() -> str:
    """Return this machine's kind of processor in the words of the npm registry.

    Raises:
        SandboxError: There are no packages for it.
    """
    machine = platform.machine().lower()
    if machine not in _ARCHITECTURES:
        raise SandboxError(
            f"There are no coding agents for processors of the kind {machine!r}; expected one of "
            f"{', '.join(sorted(_ARCHITECTURES))}. Run them on such a machine."
        )
    return _ARCHITECTURES[machine]
