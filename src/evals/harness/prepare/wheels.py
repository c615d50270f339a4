"""A coding agent written in Python, with all its packages, for the Python of the sandbox."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from evals.errors import DataMissingError
from evals.harness.prepare.catalogue import architecture

if TYPE_CHECKING:
    from pathlib import Path

# The Python of sandboxes/bioimage.
PYTHON = "3.13"
_MACHINES = {"x64": "x86_64", "arm64": "aarch64"}
_PATIENCE_S = 1800
# The packages are for this program alone: in PYTHONPATH, what it starts would see them too.
_START = """\
#!/bin/sh
exec python3 -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
from minisweagent.run.mini import app
sys.argv[0] = "mini"
app()
' "$(dirname "$(readlink -f "$0")")/../lib" "$@"
"""


def install(package: str, version: str, bench: Path, binary: str) -> str:
    """Install a package of the Python package index into `lib/`, and its start into `bin/`.

    Args:
        package: Name of the package.
        version: Its version.
        bench: The folder to fill.
        binary: Name of the command.

    Raises:
        DataMissingError: Neither `uv` nor `pip` is there, or it failed.
    """
    lib = bench / "lib"
    command = [*_installer(), "--target", str(lib), f"{package}=={version}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DataMissingError(
            f"{package} {version} was not installed within {_PATIENCE_S} s. Run it again."
        ) from error
    if done.returncode != 0:
        raise DataMissingError(
            f"{package} {version} could not be installed (exit code {done.returncode}):\n"
            f"{done.stderr.strip()[-2000:]}\nMend: it needs the Python package index once."
        )
    start = bench / "bin" / binary
    start.parent.mkdir()
    start.write_text(_START, encoding="utf-8")
    start.chmod(0o755)
    # Commands of other packages are not for the agent, and name the Python of this machine.
    shutil.rmtree(lib / "bin", ignore_errors=True)
    return f"{package} {version} of the Python package index"


def _installer() -> list[str]:
    machine = _MACHINES[architecture()]
    shared = ["--quiet", "--python-version", PYTHON, "--only-binary", ":all:"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python-platform", f"{machine}-manylinux_2_28", *shared]
    if find_spec("pip"):
        pip = [sys.executable, "-m", "pip", "install", "--no-compile", *shared]
        for glibc in ("2_28", "2_17"):
            pip += ["--platform", f"manylinux_{glibc}_{machine}"]
        return [*pip, "--platform", f"manylinux2014_{machine}"]
    raise DataMissingError(
        "Packages for Python are installed with `uv` or `pip`, and neither is here. "
        "Mend: `python -m ensurepip`, or install uv."
    )
