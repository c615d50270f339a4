"""Checklists and level rubrics: what is asked, what was decided, and what it adds up to."""
