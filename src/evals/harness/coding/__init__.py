"""Coding agents as harnesses: their own programs in the sandbox, their models through Inspect."""
