"""Results in other benchmarks' layouts, out and in."""
