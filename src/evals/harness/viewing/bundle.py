"""Packs the modules that render a view into one script for another Python's stdin."""

from __future__ import annotations

from functools import cache
from importlib import resources

PACKAGE = __package__ or ""
# Each after those that it imports.
MODULES = ("bounds", "opening", "finding", "choosing", "painting", "answer")


@cache
def script() -> str:
    """Return a program that answers the request in its last argument."""
    folder = resources.files(PACKAGE)
    sources = {
        f"{PACKAGE}.{name}": folder.joinpath(f"{name}.py").read_text(encoding="utf-8")
        for name in MODULES
    }
    return (
        "import sys, types\n"
        f"SOURCES = {sources!r}\n"
        "for name, source in SOURCES.items():\n"
        "    module = sys.modules[name] = types.ModuleType(name)\n"
        "    exec(compile(source, name, 'exec'), vars(module))\n"
        "module.main()\n"
    )
