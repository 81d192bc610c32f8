"""The groups of this process by name; starting and ending communication.

A process has one world, made by `init`: of the processes that one launcher started together, else of this process
alone. A thread of a simulation (`simulate`) has a world of its own.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.base.carried import carried
from duograph.base.config import config, launched, set_config
from duograph.base.cores import available_cores, own_cores
from duograph.core.op import rules_version, when_rules_change

from . import ending
from .alone import Alone
from .errors import CommunicationError
from .group import Group
from .kept import Kept
from .meeting import Figures, of_program
from .simulation import transports
from .transport import FIRST_OWN_TAG, Transport
from .worker import Work, Worker

__all__ = ["WORLD", "World", "current", "group", "init", "is_started", "release", "simulate"]

WORLD = "mccl_world_group"
"""MindSpore's name, on processors, of the group of all ranks; ``"hccl_world_group"`` and ``"nccl_world_group"``, which
programs for other devices say, mean it, too."""
_WORLD_NAMES = (WORLD, "hccl_world_group", "nccl_world_group")


class World:
    """All ranks, and the groups among them that this one knows.

    Attributes:
        rank: the number of this rank.
        size: how many there are.
        backend: ``"mpi"``, ``"alone"`` or ``"simulation"``.
        hosts: the machine of each rank.
        kept: memory for their operands.
    """

    def __init__(self, transport: Transport, backend: str, host: str) -> None:
        self.rank, self.size, self.backend = transport.rank, transport.size, backend
        self.transport = transport
        self.kept = Kept()
        self._process = os.getpid()
        self._worker = Worker(f"duograph-communication-{transport.rank}", self._enter)
        self._tickets = threading.local()
        self._ticket = itertools.count(1)
        self._mail: dict[tuple[str, int, int], Worker] = {}
        self.all = Group("world", range(self.size), transport)
        self.groups: dict[str, Group] = {}
        self.strangers: dict[str, tuple[int, ...]] = {}
        everybody = self.all.all_gather_object((host, _versions()))
        self.hosts: list[str] = [where for where, _ in everybody]
        for what in everybody[0][1]:
            if len({versions[what] for _, versions in everybody}) > 1:
                told = ", ".join(f"rank {rank} has {versions[what]}" for rank, (_, versions) in enumerate(everybody))
                raise CommunicationError(f"all ranks must have the same {what}, but {told}", 0)

    @property
    def worker(self) -> Worker:
        """Runs collectives.

        Raises:
            CommunicationError: this process was forked by a rank, whose messages it would take.
        """
        if self.size > 1 and os.getpid() != self._process:
            raise CommunicationError(
                f"process {os.getpid()} was forked by rank {self.rank} (as workers of data pipelines are), and is not "
                "a rank itself: collectives are called in the process that called communication.init()"
            )
        return self._worker

    def _enter(self) -> None:
        """The threads of this world are in it, as the one that made it is."""
        _here.world = self

    def ticket(self, work: Work, figures: Figures, kind: str, is_first: bool) -> int:
        """A number for a collective that goes on, for a compiled program to `redeem` in the same thread; its time adds
        to ``figures``, those of its ``kind``. ``is_first``: the program has no others; those that there are belong to
        programs that failed.
        """
        held = self._tickets.__dict__
        if is_first:
            held.clear()
        number = next(self._ticket)
        held[str(number)] = work, figures, kind
        return number

    def redeem(self, ticket: int) -> Any:
        """What the collective gives."""
        work, figures, kind = self._tickets.__dict__.pop(str(ticket))
        start = time.perf_counter()
        result = work.result()
        hidden = max(0.0, work.seconds - (time.perf_counter() - start))
        figures.hidden += hidden
        own = of_program(kind)
        if own is not None:
            own.hidden += hidden
        return result

    def mail(self, group: str, source: int, tag: int) -> Worker:
        """Runs what receives messages of one sender with one tag, in order; others are not waited for."""
        self.worker  # noqa: B018 - raises in a forked process
        key = group, source, tag
        if key not in self._mail:
            self._mail[key] = Worker(f"duograph-messages-{self.rank}-{source}-{tag}", self._enter)
        return self._mail[key]

    @property
    def local_ranks(self) -> list[int]:
        """The ranks on this machine."""
        return [r for r, host in enumerate(self.hosts) if host == self.hosts[self.rank]]

    def create_group(self, name: str, ranks: Sequence[int]) -> None:
        """Makes a group; every rank of it calls this, others may.

        Raises:
            ValueError: ``ranks`` are no different ranks of the world; the name is taken.
            CommunicationError: the ranks of the group do not say the same.
        """
        found = tuple(ranks)
        if not found or len(set(found)) != len(found) or not all(0 <= r < self.size for r in found):
            raise ValueError(
                f"For 'create_group', the ranks of the group {name!r} must be different ones of those that there are "
                f"({'one process, of rank 0' if self.size == 1 else f'0 to {self.size - 1}'}), but got {list(found)}."
            )
        if self.knows(name):
            raise ValueError(f"For 'create_group', there is a group {name!r} already.")
        _changed()
        if self.rank not in found:
            self.strangers[name] = found
            return
        number = zlib.crc32(name.encode())
        self.worker.run(lambda: self._agree(name, found))
        self.groups[name] = Group(
            name, found, self.worker.run(lambda: self.transport.split(found, number)), self.transport
        )

    def _agree(self, name: str, ranks: tuple[int, ...]) -> None:
        """All ranks of a group that is made tell the lowest one what they make of it; it tells them what differs."""
        what, lowest = f"create_group {name!r} of ranks {list(ranks)}", min(ranks)
        if self.rank != lowest:
            self.all.send(_letters(what), lowest, FIRST_OWN_TAG)
            told = self.all.receive(None, lowest, FIRST_OWN_TAG, what)[0].tobytes().decode()
        else:
            others = [rank for rank in ranks if rank != lowest]
            said = {r: self.all.receive(None, r, FIRST_OWN_TAG, what)[0].tobytes().decode() for r in others}
            differ = [f"rank {rank}: {text}" for rank, text in said.items() if text != what]
            told = "; ".join([f"rank {lowest}: {what}", *differ]) if differ else ""
            for rank in others:
                self.all.send(_letters(told), rank, FIRST_OWN_TAG)
        if told:
            raise CommunicationError(f"the ranks of a group do not make the same one. {told}", lowest)

    def destroy_group(self, name: str) -> None:
        """Forgets a group.

        Raises:
            ValueError: it is the world, or there is none of this name.
        """
        if name in _WORLD_NAMES:
            raise ValueError("For 'destroy_group', the world group cannot be destroyed.")
        self.ranks_of(name)
        _changed()
        self.groups.pop(name, None)
        self.strangers.pop(name, None)

    def knows(self, name: str) -> bool:
        """Whether there is a group of this name."""
        return name in _WORLD_NAMES or name in self.groups or name in self.strangers

    def group(self, name: str) -> Group:
        """The group of this name, to communicate in.

        Raises:
            ValueError: there is none, or this rank is not in it.
        """
        if name in _WORLD_NAMES:
            return self.all
        found = self.groups.get(name)
        if found is None:
            ranks = self.ranks_of(name)
            raise ValueError(f"rank {self.rank} is not in the group {name!r}, which has the ranks {list(ranks)}")
        return found

    def ranks_of(self, name: str) -> tuple[int, ...]:
        """The ranks of a group, whether this one is among them or not.

        Raises:
            ValueError: there is no such group.
        """
        if name in _WORLD_NAMES:
            return self.all.ranks
        if name in self.groups:
            return self.groups[name].ranks
        if name in self.strangers:
            return self.strangers[name]
        known = ", ".join(map(repr, [WORLD, *self.groups, *self.strangers]))
        raise ValueError(f"there is no group {name!r}; there are {known}")

    def finish(self) -> None:
        """Ends the threads, and raises what a call has raised that nobody has waited for."""
        self.stop()
        for worker in (self._worker, *self._mail.values()):
            worker.raise_lost()

    def close(self) -> None:
        """Ends communication, together with all other ranks."""
        self.finish()
        self.all.end()
        for found in self.groups.values():
            found.flush()
        self.transport.close()

    def stop(self) -> None:
        """Ends the threads, after what they have to do."""
        for worker in (self._worker, *self._mail.values()):
            worker.stop()


def _letters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def _versions() -> dict[str, str]:
    """What ranks must have in common to compute the same."""
    own = getattr(sys.modules["duograph"], "__version__", "")
    return {"duograph": own, "NumPy": np.__version__, "Python": ".".join(map(str, sys.version_info[:2]))}


def _changed() -> None:
    """Ranks and sizes stand in compiled programs: these are valid no more."""
    rules_version[0] += 1
    when_rules_change.tell()


class _Here(threading.local):
    world: World | None = None


_here = carried(_Here())
_process: World | None = None
_released: World | None = None  # MPI starts once in a process: it goes on until that ends
_alone: World | None = None


def is_started() -> bool:
    """Whether `init` was called."""
    return _here.world is not None or _process is not None


def current() -> World:
    """The world of this thread; before `init`, that of one process.

    Raises:
        RuntimeError: this process was started as one of several, and has not called `init`.
    """
    global _alone
    found = _here.world or _process
    if found is not None:
        return found
    if _released is not None:
        raise RuntimeError("communication was released: communication.init() starts it again")
    job = launched()
    if job is not None and job[2] > 1:
        raise RuntimeError(
            f"this process was started by {job[0]} as rank {job[1]} of {job[2]}: it has to call communication.init() "
            "before it asks for ranks or communicates"
        )
    if _alone is None:
        _alone = World(Alone(), "alone", "here")
    return _alone


def group(name: str) -> Group:
    """The group of this name in the world of this thread."""
    return current().group(name)


def init() -> World:
    """Starts communication among the processes that were started together.

    Raises:
        RuntimeError: there are several, and mpi4py or MPI is not installed.
    """
    global _process, _alone, _released
    if _here.world is not None:
        return _here.world
    if _process is None and _released is not None:
        _process, _released = _released, None
        _changed()
    if _process is None:
        job = launched()
        if job is None or job[2] == 1:
            _process = _alone or World(Alone(), "alone", "here")
        else:
            _process = _mpi(*job)
        _alone = None
        _changed()
    return _process


def _mpi(who: str, rank: int, size: int) -> World:
    try:
        from . import mpi

        with ending.joining(rank, config().comm_timeout):
            transport = mpi.start()
    except (ImportError, RuntimeError) as error:  # mpi4py without MPI raises either
        raise RuntimeError(
            f"this process was started by {who} as rank {rank} of {size}, but there is no MPI for Python here "
            f"({error}): pip install 'duograph[mpi]'"
        ) from error
    if transport.size != size:
        ending.leave_nothing()
        hint = " (srun --mpi=list says what there is; the mpich wheel understands pmi2)" if who == "srun" else ""
        raise RuntimeError(
            f"{who} says that this is rank {rank} of {size}, but MPI knows {transport.size} ranks: the program was "
            f"started by another MPI than the one that mpi4py uses{hint}"
        )
    made = World(transport, "mpi", transport.host())  # in which all have met
    ending.leave_nothing()
    ending.watch(made)
    ending.note(rank, ending.JOINED)
    _share_cores(made)
    return made


def _share_cores(made: World) -> None:
    """Gives this process its share of the cores that processes of its machine have in common with it as threads, unless
    somebody has said how many there should be."""
    everybody = made.all.all_gather_object(own_cores())
    mine = set(everybody[made.rank])
    sharing = sum(1 for rank in made.local_ranks if mine & set(everybody[rank]))
    options = config()
    if sharing > 1 and not options.num_threads and not options.omp_num_threads:
        set_config(num_threads=max(1, available_cores() // sharing))


def release() -> None:
    """Ends communication, and forgets the groups; all ranks call this."""
    global _process, _released
    if _here.world is None and _process is not None:
        ended, _process = _process, None
        ended.finish()
        ended.groups, ended.strangers = {}, {}
        _changed()
        if ended.backend == "mpi":
            _released = ended
            ended.all.meet("communication.release")


def simulate(size: int, program: Callable[[], Any]) -> list[Any]:
    """Runs ``program()`` on ``size`` ranks that are threads of this process; gives what each has returned.

    Args:
        size: number of ranks.
        program: asks for its rank as any other (`communication.get_rank`).

    Raises:
        Exception: what the lowest rank that failed by itself has raised.
    """
    results: list[Any] = [None] * size
    errors: dict[int, BaseException] = {}

    def run(transport: Any) -> None:
        try:
            _here.world = World(transport, "simulation", "here")
            results[transport.rank] = program()
            _here.world.finish()
            transport.answer()
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            errors[transport.rank] = error
            transport.abort(1)
        finally:
            if _here.world is not None:
                _here.world.stop()

    threads = [threading.Thread(target=run, args=(t,), name=f"rank-{t.rank}") for t in transports(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        own = {r: e for r, e in errors.items() if "of the simulation has failed" not in str(e)}
        rank = min(own or errors)
        error = (own or errors)[rank]
        error.add_note(f"on rank {rank} of a simulation of {size}")
        raise error
    return results
