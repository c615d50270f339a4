"""What goes into a sandbox, what runs beside it, and how things come out again."""
