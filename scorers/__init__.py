"""Plain Python: files in, numbers out. Knows nothing of Inspect."""
