"""What a YAML file says twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from scorers.linting.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def repeated_keys(path: Path) -> list[Finding]:
    """Return a finding for each key that stands twice in one mapping, where the last one wins."""
    try:
        document = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        # Told where the file is loaded.
        return []
    return list(_repeated(path.name, document, set()))


def _repeated(name: str, node: yaml.Node | None, seen: set[int]) -> Iterator[Finding]:
    if node is None or id(node) in seen:
        return
    # An anchor may be referred to more than once, by itself even.
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _repeated(name, child, seen)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, line) != line:
                yield Finding(
                    f"{name}: line {line}",
                    "each key once",
                    f"{key.value!r}, which stands on line {first[key.value]} already",
                    "remove one of them; the last one would win without a word",
                )
            yield from _repeated(name, child, seen)
