"""Items that code can decide from what a run left, before any judge is asked."""
