"""Executables: a graph as one native call, from its steps to its memory and its results."""
