"""Tools to look inside: running passes on MindIR text."""
