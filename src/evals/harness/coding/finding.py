"""Finding a coding agent's programs in a sandbox, before anything of it starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from inspect_ai.util import sandbox

from evals.errors import SandboxError
from evals.harness.prepare.catalogue import HARNESSES
from evals.workspace.compose import HARNESS_DIR

_PATIENCE_S = 60

# It prints the search path, the home, programs on the path, and folders of prepared versions.
_LOOK = f"""
name=$1; shift
echo "path $PATH"
echo "home $HOME"
for program in "$@"; do
    found=$(command -v "$program") && echo "program $program $found"
done
for folder in {HARNESS_DIR}/"$name"/*/; do
    [ -x "$folder/bin/$1" ] && echo "folder ${{folder%/}}"
done
exit 0
"""
_LINK = """
while [ $# -gt 0 ]; do
    mkdir -p "$(dirname "$2")" && ln -sfn "$1" "$2" || exit 1
    shift 2
done
"""


@dataclass(frozen=True)
class Found:
    """Where a coding agent is in a sandbox.

    Attributes:
        programs: Paths of its programs, by name.
        version: Its version, empty where the image's own does not tell.
        path: The search path of the sandbox's user.
        home: The home of that user.
    """

    programs: dict[str, str]
    version: str
    path: str
    home: str


async def find(name: str, version: str | None) -> Found:
    """Return where a coding agent is in the sandbox.

    Args:
        name: Name of the harness.
        version: The version that was asked for; None takes what the image brings, else the
            prepared one that is known to work, else the only one.

    Raises:
        SandboxError: It is not there, or one cannot tell which to take.
    """
    programs = list(HARNESSES[name].programs)
    told = await sandbox().exec(["bash", "-c", _LOOK, "find", name, *programs], timeout=_PATIENCE_S)
    if not told.success:
        raise SandboxError(
            f"evals/{name}: the sandbox could not be searched (exit code {told.returncode}): "
            f"{told.stderr.strip()[:500]}. Its image needs bash and coreutils."
        )
    return choose(name, version, told.stdout)


def choose(name: str, version: str | None, printed: str) -> Found:
    """Return what to take of what a sandbox has, told by the script that looks.

    Raises:
        SandboxError: There is nothing to take, or one cannot tell what.
    """
    rows = [line.partition(" ")[::2] for line in printed.splitlines()]
    path, home = (next((v for k, v in rows if k == key), "") for key in ("path", "home"))
    on_path = dict(value.split(" ", 1) for key, value in rows if key == "program")
    folders = {PurePosixPath(value).name: value for key, value in rows if key == "folder"}
    known = HARNESSES[name]
    if version is None and known.binary in on_path:
        return Found(_complete(name, on_path), "", path, home)
    wanted = _version(name, version, sorted(folders))
    own = {program: f"{folders[wanted]}/bin/{program}" for program in known.programs}
    return Found(own, wanted, path, home)


async def link(links: dict[str, str]) -> None:
    """Make links in the sandbox.

    Args:
        links: By the path of each link, the path that it leads to.

    Raises:
        SandboxError: The sandbox's user cannot make them.
    """
    pairs = [each for target, source in links.items() for each in (source, target)]
    done = await sandbox().exec(["bash", "-c", _LINK, "link", *pairs], timeout=_PATIENCE_S)
    if not done.success:
        raise SandboxError(
            f"The sandbox's user cannot make links to the coding agent: {done.stderr.strip()[:500]}"
            ". Its home and /var/tmp must be writable."
        )


def _complete(name: str, on_path: dict[str, str]) -> dict[str, str]:
    missing = [each for each in HARNESSES[name].programs if each not in on_path]
    if missing:
        raise SandboxError(
            f"evals/{name}: the sandbox's image has {HARNESSES[name].binary}, but not "
            f"{', '.join(missing)}, which it needs. Mend: add it to the image, or give the version "
            f"of a prepared one, as -S version={HARNESSES[name].version}."
        )
    return {each: on_path[each] for each in HARNESSES[name].programs}


def _version(name: str, version: str | None, there: list[str]) -> str:
    wanted = version or HARNESSES[name].version
    if wanted in there:
        return wanted
    if not there or version is not None:
        extra = f" --version {version}" if version else ""
        others = f"; prepared are {', '.join(there)}" if there else ""
        raise SandboxError(
            f"evals/{name}: the sandbox has no {HARNESSES[name].binary} {wanted}{others}. Nothing "
            f"is downloaded during a sample. Mend: `evals harness prepare {name}{extra}` and run "
            "again. A sandbox specification of your own needs it on its PATH, or the folder of "
            f"prepared ones bound at {HARNESS_DIR}."
        )
    if len(there) > 1:
        raise SandboxError(
            f"evals/{name}: which of the prepared versions {', '.join(there)}? Mend: say so with "
            f"-S version={there[-1]}, or `evals harness prepare {name}` for {wanted}."
        )
    return there[0]
