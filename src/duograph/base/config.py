"""All switches of the package, and the only place that reads environment variables.

A `Config` is an immutable record of every switch. There is one for the process, made from the environment; `set_config`
changes it for good, `configure(...)` for the length of a `with` block and only in the present thread (or task)::

    if config().jit: ...
    with configure(save_graphs=2, dump="pass"): ...

Environment variables are read when the package first asks. Scripts that assign to `os.environ` later are served by
`refresh_config()`, which the jit calls before it compiles: it applies the variables that have changed since, and leaves
everything that was set from code alone.

The table `VARIABLES` is the documentation of the variables: field, variable, what it does, accepted values.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

from duograph.base.absent import nearest
from duograph.base.diagnostics import Diagnostic, diagnostic_error

__all__ = [
    "VARIABLES",
    "Config",
    "Variable",
    "config",
    "configure",
    "is_configured_here",
    "refresh_config",
    "reset_config",
    "set_config",
]


@dataclass(frozen=True, slots=True)
class Config:
    """Every switch with its default. See `VARIABLES` for what each accepts."""

    jit: bool = True
    save_graphs: int = 0
    save_graphs_path: str = "."
    dump_style: str = "mindir"
    jit_syntax_level: int | None = None
    jit_level: str = ""
    compiler_cache: bool = True
    compiler_cache_path: str = ""
    cache_dir: str = ""
    cache_size: int = 256
    capture_seconds: float = 2.0
    compare: bool = True
    user_cache_dir: str = ""
    jit_modules: tuple[str, ...] = ()
    jit_ignore_modules: tuple[str, ...] = ()
    bytecode_logs: tuple[str, ...] = ()
    log_level: int = 2
    logs: tuple[str, ...] = ()
    dump: str = "off"
    verify: str = "stage"
    debug: bool = False
    traceback: str = "folded"
    failures: str = "answer"
    target: str = "host"
    device_target: str = "checked"
    kernels: str = "native"
    native_launch: bool = True
    num_threads: int = 0
    comm_timeout: float = 600.0
    comm_order: str = "rank"
    comm_check: bool = True
    comm_overlap: bool = True
    memory_cache: int = 1024
    omp_num_threads: int = 0
    progress: bool = True
    check_numerics: str = "off"


# What a variable accepts ---------------------------------------------------------------------------------------------
#
# A domain takes the text of a variable or a value given in Python and returns the field's value; it raises ValueError
# with words for "expected ..." where it cannot.

Domain = Callable[[Any], Any]


def _flag(value: object) -> bool:
    text = value.strip().lower() if isinstance(value, str) else value
    if text in (True, 1, "1", "true", "on", "yes"):
        return True
    if text in (False, 0, "0", "false", "off", "no", ""):
        return False
    raise ValueError("0 or 1")


def _integer(low: int, high: int) -> Domain:
    def parse(value: object) -> int:
        if isinstance(value, str):
            try:
                value = int(value.strip())
            except ValueError:
                value = None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"an integer from {low} to {high}")
        return value

    return parse


def _seconds(value: object) -> float:
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise ValueError("a number of seconds, 0 or more")
    return seconds


def _syntax_level(value: object) -> int | None:
    if value is None or value == "":
        return None
    by_name = {"STRICT": 0, "COMPATIBLE": 1, "LAX": 2, "0": 0, "1": 1, "2": 2}
    level = by_name.get(str(value).strip().upper())
    if level is None or isinstance(value, bool):
        raise ValueError("0 (STRICT), 1 (COMPATIBLE) or 2 (LAX)")
    return level


def _level(value: object) -> str:
    if value not in ("", "O0", "O1", "O2"):
        raise ValueError("O0, O1 or O2")
    return str(value)


def _path(value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise ValueError("a path")
    return os.fspath(value)


def _choice(*choices: str) -> Domain:
    def parse(value: object) -> str:
        text = value.strip().lower() if isinstance(value, str) else value
        if text not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return str(text)

    return parse


def _numerics(value: object) -> str:
    words = {"0": "off", "1": "raise"}
    text: str = _choice("off", "raise", "warn")(words.get(value.strip(), value) if isinstance(value, str) else value)
    return text


def _omp_threads(value: object) -> int:
    """OMP_NUM_THREADS belongs to others: a list gives its first number, what cannot be read is as if not set."""
    text = str(value).split(",")[0].strip()
    return min(int(text), 1024) if text.isdecimal() else 0


def _split(value: object, expected: str) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple | set | frozenset) and all(isinstance(part, str) for part in value):
        return list(value)
    raise ValueError(expected)


def _names(value: object) -> tuple[str, ...]:
    return tuple(_split(value, "names of modules, separated by commas"))


def _some_of(*words: str) -> Domain:
    expected = f"some of {', '.join(words)}, separated by commas"

    def domain(value: object) -> tuple[str, ...]:
        found = [part.strip().lower() for part in _split(value, expected)]
        if not set(found) <= set(words):
            raise ValueError(expected)
        return tuple(found)

    return domain


@dataclass(frozen=True, slots=True)
class Variable:
    """One switch: the field of `Config`, its environment variable, what it means, what it accepts."""

    field: str
    environment: str
    meaning: str
    domain: Domain


VARIABLES: tuple[Variable, ...] = (
    Variable("jit", "MS_JIT", "0: `jit` does nothing, everything runs eagerly", _flag),
    Variable("save_graphs", "MS_DEV_SAVE_GRAPHS", "how much of each compilation to write to files", _integer(0, 3)),
    Variable("save_graphs_path", "MS_DEV_SAVE_GRAPHS_PATH", "folder for these files", _path),
    Variable("jit_syntax_level", "MS_DEV_JIT_SYNTAX_LEVEL", "syntax level of all jit functions", _syntax_level),
    Variable("jit_level", "DUOGRAPH_JIT_LEVEL", "default `jit_level`: O0, O1, O2; empty: O1", _level),
    Variable("compiler_cache", "MS_COMPILER_CACHE_ENABLE", "keep compiled code on disk", _flag),
    Variable("compiler_cache_path", "MS_COMPILER_CACHE_PATH", "folder for it; empty: the user's cache folder", _path),
    Variable("cache_dir", "DUOGRAPH_CACHE_DIR", "the same, with precedence; files are stored directly in it", _path),
    Variable(
        "capture_seconds",
        "DUOGRAPH_CAPTURE_SECONDS",
        "CPU seconds after which a capture is given up and the function runs as plain Python; 0: no limit",
        _seconds,
    ),
    Variable(
        "compare", "DUOGRAPH_COMPARE", "time a few calls, and run as plain Python what is slower when compiled", _flag
    ),
    Variable(
        "cache_size", "DUOGRAPH_CACHE_SIZE", "maximum size in MiB of the compiled code on disk", _integer(0, 1 << 20)
    ),
    Variable("user_cache_dir", "XDG_CACHE_HOME", "the user's folder for caches; empty: ~/.cache", _path),
    Variable(
        "jit_modules",
        "MS_JIT_MODULES",
        "modules to compile although they are not user code",
        _names,
    ),
    Variable(
        "bytecode_logs",
        "MS_JIT_BYTECODE_LOGS",
        "what to print about functions captured from bytecode: bytecode, guard, graph_break, graph, all",
        _some_of("bytecode", "guard", "graph_break", "graph", "all"),
    ),
    Variable(
        "jit_ignore_modules",
        "MS_JIT_IGNORE_MODULES",
        "modules to call without compiling them",
        _names,
    ),
    Variable(
        "log_level", "GLOG_v", "lowest level to log: 0 debug, 1 info, 2 warning, 3 error, 4 critical", _integer(0, 4)
    ),
    Variable(
        "logs",
        "DUOGRAPH_LOGS",
        "topics to log regardless of GLOG_v: captures, breaks, fallbacks, recompiles, guards, kernels, all",
        _some_of("captures", "breaks", "fallbacks", "recompiles", "guards", "kernels", "all"),
    ),
    Variable("dump_style", "DUOGRAPH_DUMP_STYLE", "syntax of dumped graphs", _choice("mindir", "mindspore")),
    Variable(
        "dump", "DUOGRAPH_DUMP", "dump the graph after each pass or rewrite rule", _choice("off", "pass", "rule", "all")
    ),
    Variable(
        "verify",
        "DUOGRAPH_VERIFY",
        "verify graphs after each stage, each pass, or each node",
        _choice("off", "stage", "pass", "node"),
    ),
    Variable(
        "memory_cache", "DUOGRAPH_MEMORY_CACHE", "MiB of freed memory to keep for new results", _integer(0, 1 << 20)
    ),
    Variable(
        "debug", "DUOGRAPH_DEBUG", "check generated code for compiler bugs (verified LLVM IR, guarded buffers)", _flag
    ),
    Variable(
        "traceback",
        "DUOGRAPH_TRACEBACK",
        "frames of this package in tracebacks of uncaught errors",
        _choice("folded", "full"),
    ),
    Variable(
        "failures",
        "DUOGRAPH_FAILURES",
        "internal failures: raise, or fall back to the reference implementation, count and warn",
        _choice("answer", "raise"),
    ),
    Variable(
        "target",
        "DUOGRAPH_TARGET",
        "processor to compile for",
        _choice("host", "avx512", "avx2", "baseline", "neon"),
    ),
    Variable(
        "device_target",
        "DUOGRAPH_DEVICE_TARGET",
        "unavailable devices that a program selects: an error (checked), or treated as the CPU",
        _choice("checked", "cpu"),
    ),
    Variable("native_launch", "DUOGRAPH_NATIVE_LAUNCH", "launch eager kernels from native code", _flag),
    Variable(
        "kernels",
        "DUOGRAPH_KERNELS",
        "what runs operators: machine code, or the NumPy reference",
        _choice("native", "reference"),
    ),
    Variable("num_threads", "DUOGRAPH_NUM_THREADS", "threads of a kernel; 0: as many as cores", _integer(0, 256)),
    Variable(
        "comm_timeout",
        "DUOGRAPH_COMM_TIMEOUT",
        "seconds that a rank waits for others before it raises an error; 0: no limit",
        _seconds,
    ),
    Variable(
        "comm_order",
        "DUOGRAPH_COMM_ORDER",
        "order of sums over ranks: by rank, which always gives the same bits, or MPI's choice",
        _choice("rank", "mpi"),
    ),
    Variable(
        "comm_check",
        "DUOGRAPH_COMM_CHECK",
        "compare what ranks are about to do before large transfers (small ones are compared anyway)",
        _flag,
    ),
    Variable(
        "comm_overlap",
        "DUOGRAPH_COMM_OVERLAP",
        "compiled programs go on computing while large collectives are under way",
        _flag,
    ),
    Variable("progress", "DUOGRAPH_PROGRESS", "0: `Model` draws no progress bar on a terminal", _flag),
    Variable(
        "check_numerics",
        "DUOGRAPH_CHECK_NUMERICS",
        "what to do at the first operator that makes a NaN or infinity from finite numbers: off, raise, warn",
        _numerics,
    ),
    Variable("omp_num_threads", "OMP_NUM_THREADS", "the same, with lower precedence", _omp_threads),
)

_by_field: dict[str, Variable] = {variable.field: variable for variable in VARIABLES}


# What starts many processes -------------------------------------------------------------------------------------------

_LAUNCHERS = (
    ("mpiexec", "PMI_RANK", "PMI_SIZE"),
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
"""Who starts processes, and in which variables each finds its number and how many there are."""


def launched() -> tuple[str, int, int] | None:
    """What has started this process as one of several: its name, rank and number of ranks; ``None``: nothing has."""
    for who, rank, size in _LAUNCHERS:
        here, there = os.environ.get(rank, ""), os.environ.get(size, "")
        if here.isdecimal() and there.isdecimal():
            return who, int(here), int(there)
    return None


def job_folder() -> str:
    """The folder in which `python -m duograph launch` looks what became of its ranks; empty: something else started."""
    return os.environ.get("DUOGRAPH_JOB_FOLDER", "")


def log_folder() -> str:
    """The folder for what each rank prints (``launch --log_dir``); empty: it is shown."""
    return os.environ.get("DUOGRAPH_LOG_FOLDER", "")


def log_name() -> str:
    """What the logs of ranks are called, as it was given (``launch --worker_log_name``)."""
    return os.environ.get("DUOGRAPH_LOG_NAME", "worker")


def child_environment(**changes: str) -> dict[str, str]:
    """The environment for a process that this one starts; a variable that is set already stays as it is."""
    return {**changes, **os.environ}


# The configuration in force ------------------------------------------------------------------------------------------


class _Override:
    """The fields that a `configure` block changes, and the record they give on top of a base."""

    __slots__ = ("base", "changes", "merged")

    def __init__(self, changes: dict[str, Any]) -> None:
        self.changes = changes
        self.base: Config | None = None
        self.merged: Config | None = None

    def over(self, base: Config) -> Config:
        if self.base is not base or self.merged is None:
            self.merged = replace(base, **self.changes)
            self.base = base
        return self.merged


_process: Config | None = None
_seen: dict[str, str | None] = {}
_override: ContextVar[_Override | None] = ContextVar("duograph_config", default=None)


def config() -> Config:
    """The configuration in force here."""
    base = _process if _process is not None else reset_config()
    override = _override.get()
    return base if override is None else override.over(base)


def is_configured_here() -> bool:
    """Whether a `configure` block is in force in this thread or task."""
    return _override.get() is not None


def places() -> tuple[dict[str, Any], ContextVar[Any]]:
    """For native code: the dictionary that holds the process's configuration as ``_process``, and the variable that is
    not ``None`` where another one is in force."""
    return globals(), _override


@contextmanager
def configure(**changes: Any) -> Iterator[Config]:
    """Change fields of the configuration for the length of a `with` block, in this thread or task only.

    Args:
        changes: fields of `Config`; values as in Python or as the text of the variable.

    Raises:
        AttributeError: unknown field (DG0601).
        ValueError: wrong value (DG0602).
    """
    outer = _override.get()
    inherited = outer.changes if outer is not None else {}
    token = _override.set(_Override({**inherited, **_checked(changes)}))
    try:
        yield config()
    finally:
        _override.reset(token)


def set_config(**changes: Any) -> Config:
    """Change fields for the whole process; an enclosing `configure` of the same field stays on top until it ends."""
    global _process
    refresh_config()  # what the environment says by now is older than this call
    assert _process is not None
    _process = replace(_process, **_checked(changes))
    return config()


def refresh_config() -> Config:
    """Apply the environment variables that have changed since they were last read."""
    global _process
    config()
    assert _process is not None
    changed = {
        v.environment: text for v in VARIABLES if (text := os.environ.get(v.environment)) != _seen[v.environment]
    }
    if changed:
        _process = replace(_process, **_read(changed))
        _seen.update(changed)
    return config()


def reset_config() -> Config:
    """Forget what `set_config` changed and read the whole environment again."""
    global _process
    texts = {variable.environment: os.environ.get(variable.environment) for variable in VARIABLES}
    made = replace(Config(), **_read(texts))
    _seen.update(texts)  # first: a thread that finds a configuration may compare the environment with it
    _process = made
    _tell_unknown(texts)
    return made


OF_RANKS = {
    "DUOGRAPH_JOB_FOLDER": "set by `launch` for its processes: where they meet",
    "DUOGRAPH_LOG_FOLDER": "set by `launch --log-dir` for its processes: where their logs go",
    "DUOGRAPH_LOG_NAME": "set by `launch --log-name` for its processes: how the names of these files begin",
}
"""Variables that `launch` sets for the processes of a job, and what they mean."""
_told_unknown: set[str] = set()


def _tell_unknown(known: Iterable[str]) -> None:
    """Says, once in a process, that variables with this package's prefix are none of its own: they are misspelt."""
    prefix = "DUOGRAPH_"
    unknown = {name for name in os.environ if name.startswith(prefix)} - {*known, *OF_RANKS} - _told_unknown
    for name in sorted(unknown):
        _told_unknown.add(name)
        near = nearest(name[len(prefix) :], [own[len(prefix) :] for own in known if own.startswith(prefix)])
        hint = f"did you mean {prefix}{near}?" if near else "python -m duograph doctor --variables lists all"
        print(f"duograph: environment variable {name} is not known and ignored; {hint}", file=sys.stderr)


_defaults = {field.name: field.default for field in fields(Config)}


def _read(texts: Mapping[str, str | None]) -> dict[str, Any]:
    """Field values for the texts of variables; a variable that is not set gives the default."""
    values: dict[str, Any] = {}
    for variable in VARIABLES:
        if variable.environment not in texts:
            continue
        text = texts[variable.environment]
        if text is None:
            values[variable.field] = _defaults[variable.field]
            continue
        try:
            values[variable.field] = variable.domain(text)
        except ValueError as error:
            message = f"environment variable {variable.environment}={text!r}: expected {error}"
            raise diagnostic_error(ValueError, Diagnostic("DG0604", message)) from None
    return values


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in changes.items():
        variable = _by_field.get(name)
        if variable is None:
            message = f"unknown option {name!r}; there are {', '.join(_by_field)}"
            raise diagnostic_error(AttributeError, Diagnostic("DG0601", message))
        try:
            values[name] = variable.domain(value)
        except ValueError as error:
            message = f"option {name}={value!r}: expected {error}"
            raise diagnostic_error(ValueError, Diagnostic("DG0602", message)) from None
    return values
