"""How fast the graders are beside a plain implementation of the same metrics."""
