"""The coding agents of `inspect_swe` as solvers of this package.

They need the sandbox `docker`. With `local` their programs would run as the user himself, with all
his files and his network, and they are told to do what a model says without asking: so that is
refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from inspect_ai.model import GenerateInput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.errors import SandboxError
from evals.harness.bridge import MODEL
from evals.harness.coding.finding import Found, find, link
from evals.harness.coding.running import check_container, check_extra, work
from evals.harness.prepare.catalogue import HARNESSES, checked_version

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from inspect_ai.agent import Agent
    from inspect_ai.model import ChatMessage, GenerateConfig, Model
    from inspect_ai.tool import ToolChoice, ToolInfo

_NO_WEB = """\
[[rule]]
toolName = ["google_web_search", "web_fetch"]
decision = "deny"
priority = 999
"""


@solver
def claude_code(version: str | None = None) -> Solver:
    """Claude Code: its program works in the sandbox, the sample's model answers it.

    Without web search and fetch. Needs Docker, the extra `harness` and, once, `evals harness
    prepare claude_code`. With `-T sandbox=local` it is refused, for it would run as you.

    Args:
        version: Version of a prepared one; by default what the image brings, else the one that
            is prepared by default.
    """

    async def build(found: Found) -> Agent:
        from inspect_swe import claude_code as build_agent

        return build_agent(
            disallowed_tools=["WebSearch", "WebFetch"],
            retry_refusals=None,
            sandbox="default",
            version="sandbox",
        )

    return _coding_agent("claude_code", version, build)


@solver
def codex_cli(version: str | None = None) -> Solver:
    """Codex CLI: its program works in the sandbox, the sample's model answers it.

    Without web search. Needs Docker, the extra `harness` and, once, `evals harness prepare
    codex_cli`. With `-T sandbox=local` it is refused, for it would run as you.

    Args:
        version: Version of a prepared one; by default what the image brings, else the one that
            is prepared by default.
    """

    async def build(found: Found) -> Agent:
        from inspect_swe import codex_cli as build_agent

        return build_agent(web_search="disabled", sandbox="default", version="sandbox")

    return _coding_agent("codex_cli", version, build)


@solver
def gemini_cli(version: str | None = None) -> Solver:
    """Gemini CLI: its program works in the sandbox, the sample's model answers it.

    Without web search and fetch. Needs Docker, the extra `harness` and, once, `evals harness
    prepare gemini_cli`. With `-T sandbox=local` it is refused, for it would run as you.

    Args:
        version: Version of a prepared one; by default what the image brings, else the one that
            is prepared by default.
    """

    async def build(found: Found) -> Agent:
        from inspect_swe import gemini_cli as build_agent
        from inspect_swe._util.sandbox import SANDBOX_INSTALL_DIR

        # It is looked for only where `inspect_swe` installs it, and only with its exact version;
        # else it would be fetched.
        place = f"{SANDBOX_INSTALL_DIR}/gemini-cli/node_modules/.bin/gemini"
        node = f"{SANDBOX_INSTALL_DIR}/node/bin/node"
        await link({place: found.programs["gemini"], node: found.programs["node"]})
        # `inspect_swe` writes the settings; what is denied here is not offered to the model.
        policy = f"{found.home}/.gemini/policies/no-web.toml"
        await sandbox("default").write_file(policy, _NO_WEB)
        return build_agent(
            web_search=False,
            env={"PATH": f"{found.path}:{node.rpartition('/')[0]}"},
            sandbox="default",
            version=await _told_version(node, place),
        )

    return _coding_agent("gemini_cli", version, build)


@solver
def opencode(version: str | None = None) -> Solver:
    """OpenCode: its program works in the sandbox, the sample's model answers it.

    Without web search and fetch. Needs Docker, the extra `harness` and, once, `evals harness
    prepare opencode`. With `-T sandbox=local` it is refused, for it would run as you.

    Args:
        version: Version of a prepared one; by default what the image brings, else the one that
            is prepared by default.
    """

    async def build(found: Found) -> Agent:
        from inspect_swe import opencode as build_agent
        from inspect_swe._util.sandbox import SANDBOX_INSTALL_DIR

        # Else `inspect_swe` would fetch these two.
        node = f"{SANDBOX_INSTALL_DIR}/node/bin/node"
        ripgrep = f"{SANDBOX_INSTALL_DIR}/ripgrep/bin/rg"
        await link({node: found.programs["node"], ripgrep: found.programs["rg"]})
        folders = [each.rpartition("/")[0] for each in (node, ripgrep)]
        denied = {"permission": {"webfetch": "deny", "websearch": "deny"}, "autoupdate": False}
        return build_agent(
            env={
                "PATH": ":".join([found.path, *folders]),
                "OPENCODE_CONFIG_CONTENT": json.dumps(denied),
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
            },
            filter=_without_search,
            sandbox="default",
            version="sandbox",
        )

    return _coding_agent("opencode", version, build)


@solver
def mini_swe_agent(version: str | None = None) -> Solver:
    """mini-SWE-agent: its program works in the sandbox, the sample's model answers it.

    It has a shell and nothing else. Needs Docker, the extra `harness` and, once, `evals harness
    prepare mini_swe_agent`. With `-T sandbox=local` it is refused, for it would run as you.

    Args:
        version: Version of a prepared one; by default what the image brings, else the one that
            is prepared by default.
    """

    async def build(found: Found) -> Agent:
        from inspect_swe import mini_swe_agent as build_agent

        return build_agent(
            env={
                # It knows few providers by name; the bridge serves the sample's model as any.
                "MSWEA_MODEL_NAME": f"openai/{MODEL}",
                "MSWEA_COST_TRACKING": "ignore_errors",
                # Else it asks the network for prices first.
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
            sandbox="default",
            version="sandbox",
        )

    return _coding_agent("mini_swe_agent", version, build)


async def _without_search(
    model: Model,
    messages: list[ChatMessage],
    tools: list[ToolInfo],
    tool_choice: ToolChoice | None,
    config: GenerateConfig,
) -> GenerateInput:
    """Take the provider's own web search out of a request.

    `inspect_swe` grants it to all that ask OpenCode's endpoint: any program of the sandbox could
    reach the web through the provider. For the other agents it is not granted.
    """
    kept = [tool for tool in tools if tool.name != "web_search"]
    return GenerateInput(messages, kept, tool_choice, config)


def _coding_agent(
    name: str, version: str | None, build: Callable[[Found], Awaitable[Agent]]
) -> Solver:
    """Return a solver that finds an agent's programs, builds the agent and lets it work."""
    check_extra(name)
    wanted = None if version is None else checked_version(str(version))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check_container(name)
        found = await find(name, wanted)
        binary = HARNESSES[name].binary
        if found.version:
            # `inspect_swe` takes programs of the sandbox from the PATH only.
            folder = f"{found.home}/.local/bin"
            await link({f"{folder}/{binary}": found.programs[binary]})
            _check_path(name, found.path, folder)
        return await work(name, await build(found), state, generate)

    return solve


def _check_path(name: str, path: str, folder: str) -> None:
    if folder not in path.split(":"):
        raise SandboxError(
            f"evals/{name}: the PATH of the sandbox's user is {path}; expected {folder} in it, "
            "where a prepared program is linked. Mend: add it to the image's PATH, or bring the "
            "program in the image."
        )


async def _told_version(node: str, program: str) -> str:
    told = await sandbox("default").exec([node, program, "--version"], timeout=120)
    lines = told.stdout.split()
    if not told.success or not lines:
        raise SandboxError(
            f"`{program} --version` failed in the sandbox (exit code {told.returncode}): "
            f"{(told.stderr or told.stdout).strip()[-500:]}. Mend: `evals harness prepare "
            "gemini_cli --force`."
        )
    return lines[-1]
