"""Run one `simulate.py` in a process of its own: `python -m evals.data.simulate_one`.

What to run stands as JSON on standard input: `{"script": …, "out": …, "options": {…}}`.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any


def run(script: Path, out: Path, options: dict[str, Any]) -> None:
    """Call `simulate(out, **options)` of the script; `biology` is left out where it has none."""
    # A name nobody else has: `simulate` may be a module of the user's own.
    name = f"_evals_simulate_{abs(hash(script))}"
    found = importlib.util.spec_from_file_location(name, script)
    if found is None or found.loader is None:
        raise ImportError(f"{script} cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    known = inspect.signature(module.simulate).parameters
    if "biology" not in known and not any(
        entry.kind is entry.VAR_KEYWORD for entry in known.values()
    ):
        options = {name: value for name, value in options.items() if name != "biology"}
    module.simulate(out, **options)


if __name__ == "__main__":
    # The task folders are sources, not a place for compiled files.
    sys.dont_write_bytecode = True
    request = json.load(sys.stdin)
    run(Path(request["script"]), Path(request["out"]), request["options"])
