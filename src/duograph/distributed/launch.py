"""``python -m duograph launch -n N PROGRAM``: a thin front of ``mpiexec``.

It finds the ``mpiexec`` of the ``mpich`` wheel beside Python, or the system's; deals the cores of this machine to the
processes as threads; and, when the job has failed, says which rank was the first to end, and how. MindSpore's ``msrun``
options mean what they mean there, where they are about processes of MPI; the others are refused, with the reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from duograph.base.config import child_environment
from duograph.base.cores import available_cores

from . import ending

__all__ = ["Options", "launch", "parse"]

USAGE = """\
usage: python -m duograph launch [-n N] [OPTION ...] PROGRAM [ARGUMENT ...]
       python -m duograph launch [-n N] [OPTION ...] -m MODULE [ARGUMENT ...]

  -n N, --worker_num N       number of processes; default: as many as cores
  --local_worker_num N       processes on this machine; must be all of them unless --hosts is given
  --hosts A,B                machines to start processes on (mpiexec's -hosts)
  --mpiexec PATH             the mpiexec to use; default: that of the mpich wheel, or of the system
  --threads N                threads per process; default: an equal share of the machine's cores
  --timeout S, --cluster_time_out S
                             seconds that a rank waits for others (DUOGRAPH_COMM_TIMEOUT)
  --log_dir FOLDER           write the output of rank R to FOLDER/worker_R.log
  --worker_log_name NAME     write to FOLDER/NAME_R.log; {hostname} and {ip} are replaced
  --tail_worker_log R,R      also show the output of these ranks (-1: all)
  --bind_core True           pin each process to as many cores as it has threads (mpiexec's --bind-to core)
  --master_port P            first port that mpiexec tries (MPICH only); default: any
  --master_addr HOST         must be this machine, which starts the others; --node_rank must be 0
  --join True                accepted for compatibility: the command always waits for the job"""

PORTS = 63
"""How many ports mpiexec may try behind the one that it was given."""
TICK = 0.2
"""Seconds between looks at what ranks have noted."""
SHORT_TICK = 0.02
"""Until all ranks are known: of one that has ended before it was looked for, nobody can say when."""
MOST_PIPES = 256
"""Ranks up to which each has a pipe, of which the launcher needs one end open."""
MOMENT = 1.5
"""Seconds in which ranks end that have got SIGINT by themselves."""
_ADVICE = (b"YOUR APPLICATION TERMINATED", b"This typically refers to a problem", b"Please see the FAQ page")
"""What hydra says to a rank that has ended badly, below its block of figures."""
_JOIN = ("true", "false")
_PR_SET_PDEATHSIG = 1  # of `prctl`: the signal that a process gets when its parent ends
_REFUSED = {
    "--bind_numa": "memory is bound by mpiexec or Slurm",
    "--sim_level": "there is no simulation of devices; distributed.world.simulate runs ranks as threads",
    "--sim_rank_id": "there is no simulation of devices; distributed.world.simulate runs ranks as threads",
    "--rank_table_file": "MPI knows the machines",
}


@dataclass
class Options:
    """A command line, taken apart."""

    count: int = 0
    threads: int = 0
    timeout: str = ""
    log_dir: str = ""
    hosts: str = ""
    mpiexec: str = ""
    local: int = 0
    port: int = 0
    bind: bool = False
    log_name: str = "worker"
    tail: list[int] = field(default_factory=list)
    program: list[str] = field(default_factory=list)


class UsageError(ValueError):
    """The command line makes no sense."""


def parse(arguments: Sequence[str]) -> Options:
    """The options in front of the program, and the program.

    Raises:
        UsageError: unknown or refused option, wrong value, no program.
    """
    made, rest = Options(), list(arguments)
    names = {
        "-n": "count", "-np": "count", "--worker_num": "count", "--local_worker_num": "local", "--threads": "threads",
        "--timeout": "timeout", "--cluster_time_out": "timeout", "--log_dir": "log_dir", "--hosts": "hosts",
        "--mpiexec": "mpiexec", "--join": "join", "--bind_core": "bind", "--master_port": "port",
        "--master_addr": "address", "--node_rank": "node", "--worker_log_name": "log_name", "--tail_worker_log": "tail",
    }  # fmt: skip
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        name, given, value = rest.pop(0).partition("=")
        if name in _REFUSED:
            raise UsageError(f"{name} is not supported: {_REFUSED[name]}")
        if name not in names:
            raise UsageError(f"unknown option {name}")
        if not given:
            if not rest:
                raise UsageError(f"{name} needs a value")
            value = rest.pop(0)
        _set(made, names[name], name, value)
    if not rest or (rest[0] in ("-m", "-c") and len(rest) == 1):
        raise UsageError("there is no program to run")
    made.program = rest
    if (made.tail or made.log_name != "worker") and not made.log_dir:
        raise UsageError("--worker_log_name and --tail_worker_log need --log_dir")
    made.count = made.count or made.local or available_cores()
    if made.local and made.local != made.count and not made.hosts:
        raise UsageError(f"of {made.count} processes {made.local} would be here: --hosts says where the others are")
    return made


def _set(made: Options, field_: str, name: str, value: str) -> None:
    if field_ in ("join", "bind"):
        if value.lower() not in _JOIN:
            raise UsageError(f"{name} is True or False, not {value!r}")
        made.bind = made.bind or (field_ == "bind" and value.lower() == "true")
        return
    if field_ == "address":
        if not _is_here(value):
            raise UsageError(f"{name} must be this machine, got {value!r}: mpiexec starts the others (--hosts)")
        return
    if field_ == "node":
        if value not in ("0", "-1"):
            raise UsageError(f"{name} must be 0, got {value!r}: one command starts all machines' processes (--hosts)")
        return
    if field_ == "tail":
        if not re.fullmatch(r"-1|\d+(,\d+)*", value):
            raise UsageError(f"{name} needs ranks, or -1 for all, got {value!r}")
        made.tail = [int(rank) for rank in value.split(",")]
        return
    if field_ in ("count", "local", "threads", "port"):
        if not value.isdecimal() or not 0 < int(value) <= 65536:
            raise UsageError(f"{name} needs a number of 1 or more, got {value!r}")
        setattr(made, field_, int(value))
        return
    if field_ == "timeout" and not re.fullmatch(r"\d+(\.\d+)?", value):
        raise UsageError(f"{name} needs a number of seconds, got {value!r}")
    setattr(made, field_, value)


def _is_here(host: str) -> bool:
    """Whether this machine goes by that name or address."""
    name = socket.gethostname()
    if host in ("localhost", name) or host.startswith("127."):
        return True
    with contextlib.suppress(OSError):
        return bool({*socket.gethostbyname_ex(host)[2]} & {*socket.gethostbyname_ex(name)[2]})
    return False


def find_mpiexec(chosen: str = "") -> str | None:
    """The path of ``mpiexec``: ``chosen``, that beside this Python, or the first on the path."""
    if chosen:
        return shutil.which(chosen)
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec") or shutil.which("mpirun")


def launch(arguments: Sequence[str]) -> int:
    """Runs one command line; gives the exit status of the job."""
    if list(arguments) in ([], ["-h"], ["--help"]):
        print(USAGE)
        return 0 if arguments else 2
    try:
        options = parse(arguments)
    except UsageError as error:
        print(f"duograph launch: {error}\n{USAGE}", file=sys.stderr)
        return 2
    mpiexec = find_mpiexec(options.mpiexec)
    if mpiexec is None:
        what = f"there is no {options.mpiexec}" if options.mpiexec else "there is no mpiexec"
        print(f"duograph launch: {what}: pip install 'duograph[mpi]', or install MPI", file=sys.stderr)
        return 2
    here = options.local or (options.count if not options.hosts else 1)
    threads = str(options.threads or max(1, available_cores() // here))
    with tempfile.TemporaryDirectory(prefix="duograph-job-") as folder:
        changes = {"DUOGRAPH_NUM_THREADS": threads, "DUOGRAPH_JOB_FOLDER": folder}
        if options.timeout:
            changes["DUOGRAPH_COMM_TIMEOUT"] = options.timeout
        environment = child_environment(**changes)
        if options.threads or options.timeout:  # what the command line says is of more weight than what was there
            environment.update(changes)
        command = [mpiexec, "-n", str(options.count)]
        if options.hosts:
            command += ["-hosts", options.hosts]
        if options.bind:
            command += ["--bind-to", f"core:{threads}"]
        if options.port:
            environment["MPIEXEC_PORT_RANGE"] = f"{options.port}:{options.port + PORTS}"
        command += [sys.executable, "-m", "duograph"]
        logs: list[Path] = []
        if options.log_dir:
            os.makedirs(options.log_dir, exist_ok=True)
            name = ending.named_log(options.log_name)
            environment["DUOGRAPH_LOG_FOLDER"] = os.path.abspath(options.log_dir)
            environment["DUOGRAPH_LOG_NAME"] = options.log_name
            shown = range(options.count) if options.tail == [-1] else options.tail
            logs = [Path(options.log_dir) / f"{name}_{rank}.log" for rank in shown]
            for log in logs:
                log.unlink(missing_ok=True)  # that of another job
        watch = _Watch(folder, options.count, float(environment.get("DUOGRAPH_COMM_TIMEOUT", 0)), logs)
        status, killed = _run([*command, *options.program], environment, watch)
        return _tell(status, killed, watch)


class _Watch:
    """What happens to the ranks on this machine: what they note (`ending.note`), and in which order they end.

    Attributes:
        gone: the ranks whose processes have ended, where the system tells.
        left: the ranks whose pipes (`ending.alive`) are closed.
        in_order: whether the first one to end is the first of them.
        vain: why the job was ended, if nothing but this could.
    """

    def __init__(self, folder: str, count: int, seconds: float, logs: Sequence[Path]) -> None:
        self.folder, self.count, self.seconds = Path(folder), count, seconds
        self._shown = dict.fromkeys(logs, 0)
        self.gone: list[int] = []
        self.in_order = True
        self.vain = ""
        self._files: dict[int, int] = {}
        self.left: list[int] = []
        self._pipes: dict[int, int] = {}
        self._ends = select.epoll() if hasattr(os, "pidfd_open") else None
        for rank in range(count if count <= MOST_PIPES else 0):
            if self._ends is None:
                break
            os.mkfifo(path := self.folder / ending.alive(rank))
            self._pipes[file := os.open(path, os.O_RDONLY | os.O_NONBLOCK)] = rank
            self._ends.register(file, select.EPOLLIN)

    def notes(self) -> dict[int, tuple[int, str]]:
        """Process and word, by rank."""
        found: dict[int, tuple[int, str]] = {}
        for rank in range(self.count):
            with contextlib.suppress(FileNotFoundError):
                process, _, what = (self.folder / str(rank)).read_text(encoding="ascii").partition(" ")
                found[rank] = int(process), what
        return found

    def run(self, process: subprocess.Popen[bytes], over: threading.Event) -> None:
        """Watches until the job is ``over``. Ends it if ranks wait in `communication.init` for others that have ended,
        or for too long: MPI does not."""
        start = time.monotonic()  # some may wait already when this thread looks for the first time
        while not over.is_set():
            notes = self.notes()
            gone = {*self.gone, *[rank for rank, (_, what) in notes.items() if what == "ended"]}
            is_known = self._ends is None or len(self._files) + len(self.gone) >= self.count
            self._look(notes, TICK if is_known else SHORT_TICK)
            waiting = [rank for rank, (_, what) in notes.items() if what == ending.JOINING and rank not in gone]
            if not waiting or len(waiting) == self.count:
                start = time.monotonic()
                continue
            waited = time.monotonic() - start
            if (gone and waited > ending.PATIENCE) or (self.seconds and waited > self.seconds):
                others = [rank for rank in range(self.count) if rank not in waiting]
                how = "ended before it" if gone else "did not come"
                self.vain = (
                    f"{_named(waiting)} of {self.count} waited {waited:.1f} s in communication.init, but "
                    f"{_named(sorted(gone) or others)} {how}"
                )
                for rank in waiting:
                    ending.leave_nothing(notes[rank][0])
                process.terminate()
                break
        over.wait()
        self._look({}, 0.0)
        for file in self._pipes:
            os.close(file)

    def _show_logs(self) -> None:
        """Shows what has been written to logs since."""
        for log, start in self._shown.items():
            with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
                file.seek(start)
                sys.stdout.buffer.write(file.read())
                self._shown[log] = file.tell()
        sys.stdout.buffer.flush()

    def _look(self, notes: dict[int, tuple[int, str]], seconds: float) -> None:
        """Waits a little, and notes who has ended meanwhile."""
        self._show_logs()
        if self._ends is None:
            for rank in notes:
                (self.folder / ending.seen(rank)).touch()
            time.sleep(seconds)
            return
        for rank, (pid, _) in notes.items():
            if rank not in self._files.values() and rank not in self.gone:
                try:
                    file = os.pidfd_open(pid)
                except OSError:  # it had ended before it was looked for: in which order, MPI has to say
                    self.gone.append(rank)
                    self.in_order = False
                    continue
                self._files[file] = rank
                self._ends.register(file, select.EPOLLIN)
                (self.folder / ending.seen(rank)).touch()
        for file, _ in self._ends.poll(seconds):  # in the order in which they have ended
            self._ends.unregister(file)
            os.close(file)
            if file in self._pipes:
                self.left.append(self._pipes.pop(file))
            else:
                self.gone.append(self._files.pop(file))


def _named(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"


def _run(command: list[str], environment: dict[str, str], watch: _Watch) -> tuple[int, dict[int, int]]:
    """Runs ``mpiexec``; gives its status, and the signals by which it says processes have ended, by process.

    Ctrl-C is for mpiexec, which ends the ranks; this process waits for that. SIGINT that was sent to it alone it passes
    on, as it does SIGTERM. If it is killed, Linux tells mpiexec.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    libc, parent = ctypes.CDLL(None) if sys.platform == "linux" else None, os.getpid()

    def in_child() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it has ended before that was said
                os._exit(1)

    killed: dict[int, int] = {}
    try:
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, preexec_fn=in_child,  # noqa: PLW1509 - one thread
        )  # fmt: skip

        def end(*_: object) -> None:
            if not watch.gone:
                watch.vain = "the job was ended by SIGTERM"
            process.terminate()

        signal.signal(signal.SIGTERM, end)
        assert process.stdout is not None
        over = threading.Event()
        watcher = threading.Thread(target=watch.run, args=(process, over), daemon=True)
        watcher.start()
        threading.Thread(target=_pass_on, args=(process, watch, over), daemon=True).start()
        block: list[bytes] = []
        while line := process.stdout.readline():
            if block or line.startswith(b"=" * 40):  # hydra's own words about a rank that has ended badly
                block.append(line)
                if len(block) > 1 and line.startswith(b"=" * 40):
                    killed.update(_bad_ends(b"".join(block)))
                    block = []
                continue
            if killed and line.startswith(_ADVICE):
                continue
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        sys.stdout.buffer.write(b"".join(block))
        status = process.wait()
        over.set()
        watcher.join()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
    return (status if status >= 0 else 128 - status), killed


def _pass_on(process: subprocess.Popen[bytes], watch: _Watch, over: threading.Event) -> None:
    """Passes SIGINT on that other programs have sent to this process alone. Terminals send it to mpiexec, too, which
    would end all at once if it got a second one; so do programs that send it to the group: then ranks end soon."""
    if not hasattr(signal, "sigtimedwait"):  # elsewhere than on Linux
        return
    while not over.is_set():
        found = signal.sigtimedwait({signal.SIGINT}, TICK)
        if found is not None and found.si_code <= 0 and not over.wait(MOMENT) and not watch.gone:
            process.send_signal(signal.SIGINT)


def _bad_ends(text: bytes) -> dict[int, int]:
    found = re.search(rb"PID (\d+) RUNNING AT.*?EXIT CODE: (\d+)", text, re.DOTALL)
    return {int(found[1]): int(found[2])} if found else {}


def _tell(status: int, killed: dict[int, int], watch: _Watch) -> int:
    """Says which rank ended the job, if it could not say so itself; gives the status of the job."""
    notes, count = watch.notes(), watch.count
    if watch.vain:
        print(f"duograph launch: {watch.vain}", file=sys.stderr)
        return status or 1
    there = dict.fromkeys([*watch.gone, *watch.left]) or notes  # its pipe is closed some time before a process is gone
    lost = [rank for rank in there if notes[rank][1] in ("running", ending.JOINING, ending.JOINED)]
    if not status and not any(notes[rank][1] == ending.JOINED for rank in lost):
        return 0
    failed = [rank for rank, (_, what) in notes.items() if what == "failed"]
    if failed:
        print(f"duograph launch: the job was ended by {_named(failed)} (status {status})", file=sys.stderr)
    elif lost:
        if {*lost} <= {*watch.left}:
            lost.sort(key=watch.left.index)
        elif not (watch.gone and watch.in_order):
            lost.sort(key=lambda rank: notes[rank][0] not in killed)
        first, pid = lost[0], notes[lost[0]][0]
        code = killed.get(pid, next(iter(killed.values()), 0))
        if 0 < code < 65:
            how = f"was killed by {signal.Signals(code).name if code in {*signal.Signals} else f'signal {code}'}"
        else:  # MPI ends the others then, and may find nothing wrong
            how = "has left without ending communication (os._exit?)"
        print(f"duograph launch: rank {first} of {count} (process {pid}) {how}", file=sys.stderr)
    else:
        print(f"duograph launch: the job ended with status {status}", file=sys.stderr)
    return status or 1
