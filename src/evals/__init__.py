"""Biomedical-science benchmarks for AI agents on Inspect AI."""

from evals.assets import assets

__all__ = ["assets"]
