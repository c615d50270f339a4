"""BIAA: bioimage analysis, after the BIABench benchmark."""

from evals.biaa.task import biaa

__all__ = ["biaa"]
