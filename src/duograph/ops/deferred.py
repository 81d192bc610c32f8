"""Collectives that run while the program goes on: one operator starts them, another one waits.

No program says these: `passes/overlap.py` puts them in the place of collectives whose results are needed later. Between
the two the collective is run by the thread that also runs asynchronous ones, in the order of all collectives.
"""

from __future__ import annotations

from duograph.core.op import primitive
from duograph.core.types import INT, TOKEN, TupleType
from duograph.distributed import world
from duograph.distributed.journal import begun_once

from .collective import call_of

__all__ = ["DEFERRABLE", "collective_start", "collective_wait"]

DEFERRABLE = ("all_gather", "all_reduce", "reduce_scatter")


@primitive
class collective_start:
    """Begins the collective ``of`` with the attributes ``how``; gives a ticket for `collective_wait`. ``first``: no
    other one that the program has begun is under way."""

    effects = ("ranks", "early")

    def infer(token, x, *, of, how, first):
        return TupleType((TOKEN, INT))

    def reference(token, x, *, of, how, first):
        here = world.current()
        key, group, does = call_of(of, here.kept.copy(x), is_spent=True, **dict(how))  # the program goes on using x
        known = here.group(group)
        work = begun_once(key, lambda: here.worker.submit(lambda: does(known)))
        return None, here.ticket(work, known.figures_of(of), of, first)


@primitive
class collective_wait:
    """What the collective of the ticket gives, of ``type``."""

    effects = ("ranks",)

    def infer(token, ticket, *, type):
        return TupleType((TOKEN, type))

    def reference(token, ticket, *, type):
        return None, world.current().redeem(ticket)
