"""The words of cytometry tables: which channel, feature or population a text means."""

from __future__ import annotations

import re

Key = tuple[str, str]

POPULATIONS = ("WBC", "MCF7")

# Looked for in this order; the first that occurs decides. Words in \b must stand alone.
_CHANNELS = (
    ("Bodipy", r"bodipy|lipid"),
    ("DAPI", r"dapi|dna|nucle"),
    ("CD45", r"cd45|leukocyte"),
    ("PanCK", r"panck|pan-ck|cytokeratin|\bck\b"),
)
_FEATURES = (
    ("Sigma", r"sigma|σ|total|sum|intensity|dbct"),
    ("M", r"<m>|\bm\b|product"),
    ("rf", r"rf|freq"),
    ("r", r"<r>|\br\b|spatial"),
)
_POPULATIONS = (
    ("MCF7", r"mcf|cancer|tumou?r|d1"),
    ("WBC", r"wbc|leuko|white blood|d2"),
)
_TOKENS = re.compile(r"[a-z0-9<>]+")
_UNITS = frozenset(
    ("dbct", "um", "um1", "1", "2", "mean", "sd", "std", "avg", "average", "unitless")
)
_CELL_TYPES = (
    "cell_type",
    "celltype",
    "population",
    "type",
    "class",
    "label",
    "class_label",
    "classification_label",
    "cell_class",
    "predicted_class",
)


def channel_of(text: str) -> str | None:
    """Return the channel that a text names, None if it names none."""
    return _first(text, _CHANNELS)


def feature_of(text: str) -> str | None:
    """Return the feature that a text names, None if it names none."""
    return _first(text, _FEATURES)


def population_of(text: str) -> str | None:
    """Return the population that a text names, None if it names none."""
    return _first(text, _POPULATIONS)


def key_of_column(name: str) -> Key | None:
    """Return the channel and feature of a column of single cells, such as `PanCK_r_um`."""
    channel = channel_of(name)
    if channel is None:
        return None
    rest = re.sub(dict(_CHANNELS)[channel], " ", name.lower())
    for token in _TOKENS.findall(rest):
        feature = None if token in _UNITS else _feature_of_token(token)
        if feature is not None:
            return channel, feature
    return None


def cell_type_columns(names: list[str]) -> list[int]:
    """Return the positions of the columns that may hold a cell's type, the most telling first."""
    lower = [name.strip().lower() for name in names]
    place = {name: index for index, name in enumerate(lower)}
    return [place[name] for name in _CELL_TYPES if name in place]


def _first(text: str, vocabulary: tuple[tuple[str, str], ...]) -> str | None:
    lower = text.lower()
    return next((name for name, pattern in vocabulary if re.search(pattern, lower)), None)


def _feature_of_token(token: str) -> str | None:
    if token in {"sigma", "total", "sum", "intensity"}:
        return "Sigma"
    if token == "rf" or "freq" in token:
        return "rf"
    if token in {"m", "<m>"} or "product" in token:
        return "M"
    if token in {"r", "<r>"} or "spatial" in token:
        return "r"
    return None
