"""The judge of how an agent worked, and how far it can be trusted."""
