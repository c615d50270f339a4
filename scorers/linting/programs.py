"""What is wrong with the programs of a task folder, which are read and never run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from scorers.linting.findings import Finding
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from pathlib import Path

SIMULATOR, SOLUTION = "simulate.py", "solution/solve.py"
_SIGNATURE = 'simulate(out, *, seed, difficulty=0.5, dims=None, scale="quick")'
_OPTIONS = ("seed", "difficulty", "dims", "scale")


def check_programs(root: Path) -> list[Finding]:
    """Return what is wrong with the simulator and the solution, as far as there are any."""
    found: list[Finding] = []
    if (root / SIMULATOR).exists():
        tree, found = _parsed(root, SIMULATOR)
        if tree is not None:
            found += _simulator(tree)
    if (root / SOLUTION).exists():
        found += _parsed(root, SOLUTION)[1]
    elif (root / "solution").is_dir():
        programs = sorted(path.name for path in (root / "solution").glob("*.py"))
        hint = near("solve.py", programs)
        mend = f"name the program solve.py{hint}; it is called with the input and output folders"
        got = ", ".join(programs) or "no program"
        found.append(Finding(SOLUTION, "the program of the solution", got, mend))
    return found


def _parsed(root: Path, name: str) -> tuple[ast.Module | None, list[Finding]]:
    try:
        return ast.parse((root / name).read_bytes(), name), []
    except (OSError, SyntaxError, ValueError) as fault:
        line = f", line {fault.lineno}" if isinstance(fault, SyntaxError) and fault.lineno else ""
        said = fault.msg if isinstance(fault, SyntaxError) else str(fault)
        return None, [Finding(f"{name}{line}", "a Python program", said, "correct it")]


def _simulator(tree: ast.Module) -> list[Finding]:
    functions = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    function = functions.get("simulate")
    if function is None:
        imported = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if "simulate" in imported:
            return []
        got = ", ".join(functions) or "no function"
        mend = f"define {_SIGNATURE}{near('simulate', list(functions))}"
        return [Finding(SIMULATOR, "a function simulate", got, mend)]
    return _options(function)


def _options(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Finding]:
    arguments = function.args
    where = f"{SIMULATOR}: simulate"
    if not arguments.posonlyargs + arguments.args:
        return [Finding(where, "the output folder as first argument", "none", f"as {_SIGNATURE}")]
    taken = [entry.arg for entry in [*arguments.args[1:], *arguments.kwonlyargs]]
    if arguments.kwarg is not None:
        return []
    return [
        Finding(
            where,
            f"the option {name!r}",
            ", ".join(taken) or "none",
            f"add or rename it{near(name, taken)}: {_SIGNATURE}",
        )
        for name in _OPTIONS
        if name not in taken
    ]
