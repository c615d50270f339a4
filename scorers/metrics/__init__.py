"""Metrics: pure functions of arrays and tables."""
