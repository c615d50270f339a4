"""Coding agents' programs, brought to this machine once, for sandboxes that have no network."""
