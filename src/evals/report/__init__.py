"""From logs to tables."""
