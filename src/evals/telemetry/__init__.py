"""How an agent worked, counted from Inspect's events, and what it tried that it should not."""
