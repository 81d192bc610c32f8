"""How a job of several processes ends.

*Well*: at its exit each process waits until all are there, then MPI ends. Whoever still communicates learns that others
have ended (`group.END`), and that is an error.

*Badly*: an exception that nobody catches, on any rank, ends all processes at once. The rank shows who it is, and its
traceback; MPI ends the others. If several have one (they do not fit together, or have the same mistake), the first of
them shows it, and the others wait a little for that.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import io
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from duograph.base.config import job_folder, launched, log_folder, log_name
from duograph.base.files import write_file

from .errors import CommunicationError

__all__ = ["JOINED", "JOINING", "begin", "joining", "named_log", "note", "seen", "watch"]

JOINING, JOINED = "joining", "joined"
"""What ranks note that wait in `communication.init` for others, and that have found them."""
PATIENCE = 3.0
"""Seconds that a rank whose error another one shows waits for the end."""
MOMENT = 0.2
"""Seconds after which what was printed has come through."""
GLANCE = 2e-3
"""Seconds between looks for what the launcher says."""
OTHERS = 1.0
"""Seconds that ranks other than 0 wait before they show their error: where all fail in the same way, rank 0 says so."""

SPEAKER = "speaker"
"""The file of the job that the first rank makes which shows an error."""

_world: Any = None
_is_failing = False


def begin() -> None:
    """The first thing that a rank does which `python -m duograph` runs: its notes for the launcher, and its log."""
    job = launched()
    if job is None or job[2] == 1:
        return
    rank = job[1]
    if folder := log_folder():
        path = os.path.join(folder, f"{named_log(log_name())}_{rank}.log")
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a pipe or a file, which would show nothing before the end
        # PYTHONUNBUFFERED would write the parts of a line one by one, and lines of the ranks would mix.
        sys.stdout.reconfigure(line_buffering=True, write_through=False)
    note(rank, "running")
    _hold(rank)
    _hook()


def alive(rank: int) -> str:
    """The named pipe that a rank holds open."""
    return f"{rank}.alive"


def _hold(rank: int) -> None:
    """Opens the pipe of this rank, at whose other end the launcher waits. A process that ends closes its files before
    it counts as ended, and MPI, whose connection is one of them, may have ended another one by then."""
    with contextlib.suppress(OSError):  # there is none, or nobody reads it: this is a rank of another machine
        _held.append(os.open(os.path.join(job_folder(), alive(rank)), os.O_WRONLY | os.O_NONBLOCK))
        os.register_at_fork(after_in_child=_let_go)


def _let_go() -> None:
    while _held:
        os.close(_held.pop())


_held: list[int] = []


def named_log(name: str) -> str:
    """The name of the logs of this machine's ranks, to which their numbers are added."""
    if "{" not in name:
        return name
    host = socket.gethostname()
    try:
        address = socket.gethostbyname(host)
    except OSError:
        address = "127.0.0.1"
    return name.replace("{hostname}", host).replace("{ip}", address)


def watch(world: Any) -> None:
    """From now on the end of this process is the end of a rank of ``world``."""
    global _world
    _world = world
    _hook()


def _hook() -> None:
    if not _hooked:
        _hooked.extend((sys.excepthook, threading.excepthook, os.getpid()))
        sys.excepthook, threading.excepthook = _uncaught, _uncaught_in_thread
        atexit.register(_end)


_hooked: list[Any] = []


def note(rank: int, what: str) -> None:
    """Notes for the launcher what has become of this rank."""
    folder = job_folder()
    if folder and os.path.isdir(folder):
        write_file(os.path.join(folder, str(rank)), f"{os.getpid()} {what}".encode(), tidy=False)


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    global _is_failing
    if os.getpid() != _hooked[2]:
        _hooked[0](kind, error, trace)
        return
    job = launched()
    if _world is None and job is not None and job[2] > 1:
        head = f"duograph: rank {job[1]} of {job[2]} (process {os.getpid()}) ends before the job begins:"
        note(job[1], "failed")
        _is_failing = True  # that it ends is not the last word
        if is_first := _is_first():
            _show(head, kind, error, trace)
        _fail_early(is_first)
        if not is_first:
            time.sleep(PATIENCE)
            _show(head, kind, error, trace)
        return
    if _world is None:
        _hooked[0](kind, error, trace)
        return
    _fail(kind, error, trace)


def _is_first() -> bool:
    """Whether this is the first rank of this machine that has an error to show. Ranks with logs of their own are."""
    folder = job_folder()
    if not folder or not os.path.isdir(folder) or log_folder():
        return True
    with contextlib.suppress(FileExistsError):
        os.close(os.open(os.path.join(folder, SPEAKER), os.O_CREAT | os.O_EXCL))
        return True
    return False


def _show(head: str, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Shows an error in one piece, and gives the process manager time to pass it on before everything ends."""
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        _hooked[0](kind, error, trace)
    print(f"{head}\n{shown.getvalue()}", end="", file=sys.stderr, flush=True)
    time.sleep(MOMENT)


def _fail_early(is_first: bool) -> None:
    """Ends the ranks that wait in `init` for this one, which has not come so far: MPI cannot end others before they
    all have begun. If they do not wait there, they go on without this one. If another rank is the first that failed,
    it does that."""

    def join() -> None:
        with contextlib.suppress(ImportError, RuntimeError):  # there is no MPI
            from . import mpi

            transport = mpi.start()
            if is_first:
                leave_nothing()
                transport.abort(1)

    thread = threading.Thread(target=join, daemon=True)
    thread.start()
    thread.join(PATIENCE)


def leave_nothing(process: int | str = "self") -> None:
    """Takes the names of the memory that MPICH shares among the ranks of this machine away, once all have it, or will
    never: it goes with the last of them, however that ends. MPICH itself does so at a good end only, and `/dev/shm` may
    be small. ``process``: one of the ranks."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as maps:
        for path in set(re.findall(r"(/dev/shm/mpich_shm_\w+)$", maps.read(), re.MULTILINE)):
            with contextlib.suppress(OSError):  # another rank has
                os.unlink(path)


def seen(rank: int) -> str:
    """The file by which the launcher says that it watches the process of a rank."""
    return f"{rank}.seen"


def _be_seen(rank: int) -> None:
    """Waits until the launcher watches this process. From `init` on MPI ends all ranks when one is gone: of processes
    that are looked for only then, nobody can say which was the first."""
    folder, end = job_folder(), time.monotonic() + PATIENCE
    while folder and os.path.isdir(folder) and time.monotonic() < end:
        if os.path.exists(os.path.join(folder, seen(rank))):
            return
        time.sleep(GLANCE)


@contextlib.contextmanager
def joining(rank: int, seconds: float) -> Iterator[None]:
    """Within the block, this process joins the others, and ends if that takes too long. MPI keeps the interpreter's
    lock meanwhile, and waits for ever: so this is a matter for `faulthandler`, which shows a traceback."""
    note(rank, JOINING)
    _be_seen(rank)
    if seconds:
        faulthandler.dump_traceback_later(seconds, exit=True, file=2)
    try:
        yield
    finally:
        if seconds:
            faulthandler.cancel_dump_traceback_later()


def _uncaught_in_thread(args: Any) -> None:
    if _world is None or args.exc_type is SystemExit or os.getpid() != _hooked[2]:
        _hooked[1](args)
        return
    _fail(args.exc_type, args.exc_value, args.exc_traceback)


def _fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    global _is_failing
    _is_failing = True
    world = _world
    if isinstance(error, CommunicationError) and error.speaker not in (None, world.rank):
        time.sleep(PATIENCE)
    elif world.rank:
        time.sleep(OTHERS)
    if not _is_first():
        time.sleep(PATIENCE)
    sys.stdout.flush()
    where = f"{world.hosts[world.rank]}, process {os.getpid()}"
    _show(f"duograph: rank {world.rank} of {world.size} ({where}) ends the job:", kind, error, trace)
    note(world.rank, "failed")
    world.transport.abort(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _end() -> None:
    if _is_failing or os.getpid() != _hooked[2]:  # a child is not a rank
        return
    if _world is None:
        if (job := launched()) is not None:
            note(job[1], "ended")
        return
    world = _world
    try:
        world.close()
    except BaseException as error:  # noqa: BLE001 - there is nobody above
        _fail(type(error), error, None)  # which may come back: MPI ends this process from outside
    else:
        note(world.rank, "ended")
