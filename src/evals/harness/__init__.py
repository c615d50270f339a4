"""Solvers: what drives the work in a sandbox, and three that need no model."""
