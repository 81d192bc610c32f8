"""What to change about a graph break, by its reason: ``docs/breaks.md`` shows each row with an example."""

from __future__ import annotations

REMEDIES = {
    "NumPy array from outside": "Convert it to a tensor first: `Tensor(array)` is an input of the graph.",
    "only known at run time": "Compute it with `ops`, or do it only every n-th call, or outside of the function.",
    "not known to be free of effects": "Do it less often, or outside of the function.",
    "the statement ClassDef": "Define the class outside of the function.",
    "the built-in function": "Write the code out, or run it outside of the function.",
    "the first import of": "Import it at the top of the module.",
    "the cached function": "Pass plain numbers and strings, or call `__wrapped__`, which is not cached.",
    "except*": "Catch it with `except`, or raise it outside of the `try` statement.",
    "looks at frames": "Pass the value that it looks up as an argument.",
    "a generator object": "Return a list, or compile the code that consumes the elements.",
}
"""Parts of reasons, and what to change. The first row that fits counts."""


def remedy(reason: str) -> str:
    """What to change about a break of this reason."""
    found = (text for part, text in REMEDIES.items() if part in reason)
    return next(found, "Do it less often, or outside of the function.")
