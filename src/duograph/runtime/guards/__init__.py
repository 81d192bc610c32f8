"""Guards checked natively: a small machine walks a program of words."""
