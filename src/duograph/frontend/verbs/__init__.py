"""What Python's operations mean on values of a captured program: the verbs that a driver calls."""
