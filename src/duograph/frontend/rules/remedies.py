"""What to change about a graph break, by its reason: ``docs/breaks.md`` shows each row with an example."""

from __future__ import annotations

REMEDIES = {
    "NumPy array from outside": "Make a tensor of it first: `Tensor(array)` is an input.",
    "only known at run time": "Compute it with `ops`, or do that every n-th call, or outside of the function.",
    "not known to be free of effects": "Do that less often, or outside of the function.",
    "the statement ClassDef": "Define the class outside of the function.",
    "the built-in function": "Write down what it does, or do it outside of the function.",
    "the first import of": "Import it where the module begins.",
    "the cached function": "Give it plain numbers and strings, or call `__wrapped__`, which is not cached.",
    "except*": "Catch it with `except`, or raise it outside of the `try` statement.",
    "looks at frames": "Pass what it looks for as an argument.",
    "a generator object": "Return a list, or let the caller compile what it does with each element.",
}
"""Parts of reasons, and what to change. The first row that fits counts."""


def remedy(reason: str) -> str:
    """What to change about a break of this reason."""
    found = (text for part, text in REMEDIES.items() if part in reason)
    return next(found, "Do that less often, or outside of the function.")
