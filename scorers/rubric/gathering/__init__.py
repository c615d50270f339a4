"""Evidence of one submission, read from its files."""
