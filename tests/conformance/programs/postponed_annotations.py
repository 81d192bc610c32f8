"""Annotations that Python does not evaluate: of functions in files that postpone them."""

from __future__ import annotations

from tests.conformance.harness import T, program

X = T([1.0])


@program(calls=[(X,)] * 2)
def annotations_that_nobody_evaluates(x):
    def g(p: undefined) -> undefined:  # noqa: F821
        def h(q: undefined):  # noqa: F821
            return [r for r in (q,)][0]

        return h(p)

    return g(x)
