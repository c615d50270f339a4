"""Run a class of the user's: `run(instruction, input_dir, output_dir)`.

Run as a script, by its path, with nothing but the standard library, so that any Python will do. One
line of JSON on standard input says what to do; one JSON object on standard output tells what came
of it. What the class prints goes to standard error.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONTRACT = "a class with run(self, instruction, input_dir, output_dir)"
_TOLD = ("success", "message_or_log", "error", "metadata")
_MOST_CHARS = 20_000


class Unfit(Exception):
    """The class is not what was asked for; the message says what is wrong with it."""


def main() -> None:
    """Look at the class, or let it work, as the request says."""
    requests, answers = _own_channels()
    request = json.loads(requests.readline())
    sys.path[0] = request["search"]
    answer: dict[str, Any] = {}
    try:
        found = _fitting(request)
    except Unfit as fault:
        answer["unfit"] = str(fault)
    else:
        if "instruction" in request:
            # Who started this may die without a word; then nothing of it must stay.
            threading.Thread(target=_end_with, args=(requests,), daemon=True).start()
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
            answer = _work(found, request)
    answers.write(json.dumps(answer, default=str))
    answers.flush()
    sys.stderr.flush()
    # Threads that the class left running would keep this process.
    os._exit(0)


def _own_channels() -> tuple[Any, Any]:
    """Take standard input and output away from the class, which gets others in their place."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _end_with(requests: Any) -> None:
    requests.read()
    if os.getpgid(0) == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)


def _fitting(request: Mapping[str, Any]) -> type:
    """Return the class, known to be callable in the two ways that count."""
    name = request["name"]
    try:
        module = _module(request)
    except BaseException as fault:
        raise Unfit(f"{request['module']} cannot be imported: {_said(fault)}") from fault
    found = getattr(module, name, None)
    if not isinstance(found, type):
        defined = [key for key, value in vars(module).items() if isinstance(value, type)]
        got = "no such name" if found is None else f"a {type(found).__name__}"
        listed = f"; its classes are {', '.join(sorted(defined)[:20])}" if defined else ""
        raise Unfit(f"{request['module']}: expected {CONTRACT} called {name}, got {got}{listed}")
    method = getattr(found, "run", None)
    if not callable(method):
        raise Unfit(f"{name}: expected {CONTRACT}, got one without run")
    _check_call(method, (None, "", "", ""), {}, f"{name}.run: expected {CONTRACT}")
    _check_call(found, (), request["init"], f"{name}: expected it to take what init gives")
    return found


def _module(request: Mapping[str, Any]) -> Any:
    if not request["file"]:
        return importlib.import_module(request["module"])
    path = request["file"]
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _check_call(what: Any, given: tuple[Any, ...], named: Mapping[str, Any], told: str) -> None:
    try:
        signature = inspect.signature(what)
    except (ValueError, TypeError):
        # Classes written in C may tell none.
        return
    try:
        signature.bind(*given, **named)
    except TypeError as fault:
        raise Unfit(f"{told}, got {signature}: {fault}") from fault


def _work(found: type, request: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    try:
        agent = found(**request["init"])
        agent_id = getattr(agent, "agent_id", None)
        answer["agent_id"] = agent_id if isinstance(agent_id, str) else None
        places = Path(request["input_dir"]), Path(request["output_dir"])
        answer["result"] = _result(agent.run(request["instruction"], *places))
    except BaseException as fault:
        traceback.print_exc()
        answer["raised"] = _said(fault)
    return answer


def _result(returned: Any) -> dict[str, Any]:
    """Return what is kept of a result: a mapping, an object with attributes, a text or nothing."""
    if isinstance(returned, str):
        returned = {"message_or_log": returned}
    if not isinstance(returned, Mapping):
        returned = {name: getattr(returned, name, None) for name in _TOLD}
    kept = {name: returned.get(name) for name in _TOLD}
    for name in ("message_or_log", "error"):
        kept[name] = "" if kept[name] is None else str(kept[name])[:_MOST_CHARS]
    if not isinstance(kept["metadata"], Mapping):
        kept["metadata"] = {}
    return {**kept, "success": None if kept["success"] is None else bool(kept["success"])}


def _said(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {fault}"[:2000]


if __name__ == "__main__":
    main()
