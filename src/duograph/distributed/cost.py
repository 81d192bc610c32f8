"""What communication costs, from a few measured figures: predictions for numbers of ranks that are not at hand.

The model is that of Hockney (*The communication challenge for MPP*, Parallel Computing 20, 1994): a message of ``n``
bytes takes ``latency + n / bandwidth``; a collective takes its rounds of messages one after the other, and each rank
sends and receives at once. The rounds are those of `Group`: a meeting, in which frames (with small operands) go from
each rank to each other one; for large operands all to all, a sum in the order of the ranks, and all gather.
`measure` finds the figures with the collectives themselves, so what Python and MPI take for a call is in them.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np

from .alone import Alone
from .group import GATHERED, Group
from .meeting import FRAME, HEAD, SMALL_GROUP
from .mpi import DIRECT
from .reduce import reduced

__all__ = ["Links", "Training", "measure", "rounds"]


COPIES = 2.0
"""What laying gradients in buckets, handing these over and taking them apart comes to, in copies to new memory."""


def rounds(ranks: int) -> int:
    """Messages of a rank, one after the other, until each rank has something of each other one."""
    return ranks - 1 if ranks <= DIRECT else math.ceil(math.log2(ranks))


@dataclass(frozen=True)
class Links:
    """What connects the ranks.

    Attributes:
        call: seconds that a collective takes on a rank, whatever it does.
        latency: seconds from the begin of a message to its arrival, if it is empty.
        bandwidth: bytes per second that a rank sends while it receives as many.
        sums: bytes per second of operands that a rank adds up.
        copies: bytes per second that a rank copies to memory that is new.
    """

    call: float
    latency: float
    bandwidth: float
    sums: float
    copies: float = math.inf

    def exchanged(self, ranks: int, nbytes: float) -> float:
        """Seconds until ``nbytes`` of each rank are with each other one, if all go at once."""
        return rounds(ranks) * self.latency + (ranks - 1) * nbytes / self.bandwidth

    def meeting(self, ranks: int) -> float:
        """Seconds of a collective that moves nothing but frames."""
        return self.call + self.exchanged(ranks, FRAME if ranks <= SMALL_GROUP else HEAD)

    def all_reduce(self, nbytes: float, ranks: int) -> float:
        """Seconds of an `all_reduce` of ``nbytes``."""
        if ranks == 1:
            return 0.0
        met = self.meeting(ranks)
        if ranks <= SMALL_GROUP and nbytes <= FRAME - HEAD:
            return met + nbytes * ranks / self.sums
        if nbytes * ranks <= GATHERED:
            return met + self.exchanged(ranks, nbytes) + nbytes * ranks / self.sums
        return met + self.all_to_all(nbytes, ranks) + nbytes / self.sums + self.exchanged(ranks, nbytes / ranks)

    def all_to_all(self, nbytes: float, ranks: int) -> float:
        """Seconds until each rank has its part of ``nbytes`` of each other one."""
        return (ranks - 1) * (self.latency + nbytes / ranks / self.bandwidth)

    def all_gather(self, nbytes: float, ranks: int) -> float:
        """Seconds until each rank has ``nbytes`` of each other one."""
        return 0.0 if ranks == 1 else self.meeting(ranks) + self.exchanged(ranks, nbytes)


@dataclass(frozen=True)
class Training:
    """A data-parallel training step.

    Attributes:
        parameters: bytes of the gradients, which are those of the parameters.
        row: seconds of forward and backward pass for a row of the batch.
        fixed: seconds of a step that do not depend on the batch, the optimizer's left out.
        optimizer: seconds in which one process moves all parameters.
        bucket: bytes of gradients that are reduced together.
    """

    parameters: float
    row: float
    fixed: float = 0.0
    optimizer: float = 0.0
    bucket: float = 4 << 20

    def step(self, links: Links, ranks: int, rows: float, shards: bool = False) -> float:
        """Seconds of a step with ``rows`` rows on each of ``ranks`` ranks; ``shards``: states are dealt (ZeRO 1)."""
        moving = self.optimizer / ranks if shards else self.optimizer
        return self.fixed + self.row * rows + moving + self.communication(links, ranks, shards)

    def communication(self, links: Links, ranks: int, shards: bool = False) -> float:
        """Seconds of a step in which gradients, and with ``shards`` parameters, are on their way. What
        it takes to lay them in buckets counts, too."""
        if ranks == 1:
            return 0.0
        whole, rest = divmod(self.parameters, self.bucket)
        seconds = COPIES * self.parameters / links.copies
        seconds += whole * links.all_reduce(self.bucket, ranks) + (links.all_reduce(rest, ranks) if rest else 0.0)
        if shards:
            gatherings = max(1, math.ceil(self.parameters / ranks / self.bucket))
            seconds += COPIES * self.parameters / links.copies
            seconds += gatherings * links.all_gather(self.parameters / ranks / gatherings, ranks)
        return seconds

    def efficiency(self, links: Links, ranks: int, rows: float, shards: bool = False) -> float:
        """Rows per second and rank, as a share of what one process alone computes with as many rows."""
        return self.step(links, 1, rows) / self.step(links, ranks, rows, shards)

    def rows_for(self, links: Links, ranks: int, efficiency: float = 0.9) -> int:
        """The rows on each rank from which a step is that efficient."""
        alone = self.communication(links, ranks) * efficiency / (1 - efficiency)
        return max(1, math.ceil((alone - self.fixed - self.optimizer) / self.row))


def measure(group: Group, large: int = 1 << 22, repeats: int = 30) -> Links:
    """The figures of the links between the ranks of ``group``, which all call this, and all get those of its first.

    Args:
        group: at least two ranks.
        large: bytes of the operand whose time tells the bandwidth.
        repeats: how often a small call is timed; the median counts.

    Raises:
        ValueError: the group has one rank.
    """
    if group.size < 2:
        raise ValueError("links are between ranks, and this group has one")
    big = np.ones(large // 8)
    big = big[: big.size // group.size * group.size]

    def timed(run: Callable[[], object], times: int) -> float:
        found = []
        for _ in range(times):
            group.barrier()
            start = time.perf_counter()
            run()
            found.append(time.perf_counter() - start)
        return statistics.median(found)

    call = timed(Group("itself", (group.ranks[group.rank],), Alone()).barrier, repeats)
    latency = max(timed(group.barrier, repeats) - call, 1e-9) / rounds(group.size)
    few = max(3, repeats // 4)
    carried = timed(lambda: group.all_to_all(big), few) - timed(group.barrier, repeats)
    added = timed(lambda: reduced([big, big], "sum"), few)
    copied = timed(big.copy, few)
    sent = big.nbytes * (group.size - 1) / group.size
    found = Links(call, latency, sent / max(carried, 1e-9), 2 * big.nbytes / added, big.nbytes / copied)
    return Links(*group.broadcast_object(astuple(found), 0))
