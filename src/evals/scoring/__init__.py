"""Scorers and metrics round the graders, and what is kept of each verdict."""
