"""The published metrics written in the straightforward way, to compare the graders with."""
