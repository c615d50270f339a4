"""Run one `simulate.py` in a process of its own: `python -m evals.data.simulate_one '<json>'`."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def run(script: Path, out: Path, options: dict[str, Any]) -> None:
    """Call `simulate(out, **options)` of the script."""
    # A name nobody else has: `simulate` may be a module of the user's own.
    name = f"_evals_simulate_{abs(hash(script))}"
    found = importlib.util.spec_from_file_location(name, script)
    if found is None or found.loader is None:
        raise ImportError(f"{script} cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    module.simulate(out, **options)


if __name__ == "__main__":
    # The task folders are sources, not a place for compiled files.
    sys.dont_write_bytecode = True
    request = json.loads(sys.argv[1])
    run(Path(request["script"]), Path(request["out"]), request["options"])
