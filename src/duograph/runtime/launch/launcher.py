"""Eager calls without Python in between: native methods of `Tensor` and `Op`, and the records that they run.

A native method stands for a Python function (`register`). It looks at its arguments, finds the *record* of a call with
such arguments, and runs it: allocates the outputs, calls the kernels, makes the tensors, tells the tape
(`launch.text`). A call that it does not know goes to Python as before, while the ops that it consists of are
noted; if they are all native, what was noted becomes the record of the next such call.

So a record is never an opinion about what a function does: it is what the function did, for arguments of these
dtypes, shapes and values. That is right for functions that look at nothing else, and only those are registered.

    register(Tensor, "__add__", operators.add, weak_numbers=True)
    activate()                     # at the first native kernel; False where native code is not supported
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from duograph.autodiff.tape import Tape
from duograph.base.config import config
from duograph.base.events import emit
from duograph.base.failures import SHORTAGE, internal_failure
from duograph.base.fork import fork_safe_lock, object_lock
from duograph.base.slot import Slot
from duograph.core import dtype as dt
from duograph.core.kernel import first_native
from duograph.core.launchable import LAUNCHABLES, is_paused, when_made, when_paused
from duograph.core.op import Op, get_op, no_recording, state, when_rules_change
from duograph.runtime.machine import llvm
from duograph.runtime.machine.threads import has_little_stack
from duograph.runtime.python import asm, cpython
from duograph.runtime.python.cpython import Unsupported
from duograph.tensor.alias import CLOCK, Alias, ViewLink
from duograph.tensor.hooks import value_reads
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import allocator, allocator_text
from . import text as launch_text
from .records import Constants, RecordPlan, Uncovered, pack
from .words import FRAME, MOST_NUMBERS, PROBES, RECORD

TABLE_PLACES = 1 << 15
MOST_RECORDS = 8192
"""Shapes without end must not leak: a full table starts anew."""
FEW_RECORDS, OFTEN = 64, 16
"""Records of one function for operands of one kind that are made when a key is there again. A further one is made after
so many calls: as long as all of them take in Python, it takes to make it. Numbers and shapes may be new without end."""

OWN_SLOTS = {
    "data": (Tensor, "_data"), "mark": (Tensor, "_mark"), "storage": (Tensor, "_storage"), "view": (Tensor, "_view"),
    "now": (type(CLOCK), "now"), "version": (Alias, "version"), "writes": (Alias, "writes"),
    "serial": (Alias, "serial"), "log": (Tape, "log"), "token": (Tape, "token"),
}  # fmt: skip
CELL_SLOTS = ("function", "unknown", "weak_numbers")


class NativeEntry:
    """What native code knows of one function.

    Attributes:
        function: the Python function.
        unknown: what to call if there is no record of a call.
        weak_numbers: numbers among its arguments only stand for 0-d tensors of their value.
        home: the class that has it as an attribute, if it is a native method.
    """

    __slots__ = ("function", "home", "unknown", "weak_numbers")

    def __init__(self, function: Callable[..., Any], weak_numbers: bool, home: tuple[type, str] | None = None) -> None:
        self.function, self.weak_numbers, self.home = function, weak_numbers, home
        self.unknown = self.consider

    def consider(self, key: bytes, /, *args: Any, **named: Any) -> Any:
        """A call whose key has no record: computes it; the second time, tries to add the record."""
        if _engine is None or _engine.learning or not _engine.is_back(key):
            return self.function(*args, **named)
        noted = _Notes()
        out = noted.run(state.tapes, self.function, args, named)
        engine = _engine
        if engine is not None:
            tensors, weak, out_seen = list(_tensors_in((args, named))), self._weak_in((args, named)), out
            are_twice = len({id(x) for x in tensors}) < len(tensors)
            if noted.plain and (weak or are_twice):
                noted, out_seen, seen = self._told_apart(args, named, are_twice)
                tensors, weak = list(_tensors_in(seen)), self._weak_in(seen)
            engine.learn(self, key, (args, named), tensors, weak, noted, out_seen)
        return out

    def _weak_in(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> list[Any]:
        return list(_numbers_in(arguments)) if self.weak_numbers else []

    def _told_apart(self, args: tuple[Any, ...], named: dict[str, Any], are_twice: bool) -> tuple[_Notes, Any, Any]:
        """The call once more, with a number that the function does not know in each place, and a tensor of its own if
        they ``are_twice``: which operand came from where is seen then."""
        if are_twice:
            args, named = _twins(args), _twins(named)
        if self.weak_numbers:
            probes = {int: iter(_PROBES), float: iter([n + 0.375 for n in _PROBES])}
            args = tuple([_probe(value, probes) for value in args])
            named = {name: _probe(value, probes) for name, value in named.items()}
        noted = _Notes()
        out = noted.run([], self.function, args, named)
        return noted, out, (args, named)


class _Notes:
    """Stands among the tapes while an unknown call runs, and notes its ops."""

    def __init__(self) -> None:
        self.ops: list[tuple[Op, tuple[Any, ...], dict[str, Any], Any]] = []
        self.plain = True

    def run(self, tapes: list[Any], function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Calls ``function``. The notes are not plain if Python saw the value of a tensor."""
        before, reads = state.tapes, value_reads[0]
        try:  # and no context manager: Ctrl-C at its exit would leave the notes among the tapes for ever
            state.tapes = [*tapes, self]
            return function(*args, **named)
        finally:
            state.tapes = before
            self.plain = self.plain and value_reads[0] == reads

    def record(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> None:
        self.ops.append((op, operands, attrs, out))

    def bind_structured(self, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        self.plain = False
        state.tapes = [t for t in state.tapes if t is not self]
        return op(*operands, **attrs)

    def record_custom(self, *_: Any, **__: Any) -> bool:
        self.plain = False
        return False

    def begin_write(self, *_: Any) -> bool:
        self.plain = False
        return False

    def variable(self, _: Any) -> None:
        return None

    def keep_value(self, _: Any) -> None:
        self.plain = False

    add_hook = begin_write


def _tell_tapes(op: Op, operands: tuple[Any, ...], attrs: dict[str, Any], out: Any) -> None:
    """Native code asks for this where it cannot record an op itself."""
    for tape in state.tapes:
        tape.record(op, operands, attrs, out)


_PROBES = range(83, 83 + MOST_NUMBERS)
"""Numbers that every dtype has, and no function in its code."""


def _probe(value: Any, probes: dict[type, Iterator[Any]]) -> Any:
    return next(probes[type(value)]) if type(value) in probes else value


def _tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of arguments, in the order in which native code meets them."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors_in(item)


def _twins(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.__copy__()
    if isinstance(value, dict):
        return {k: _twins(v) for k, v in value.items()}
    return type(value)([_twins(v) for v in value]) if type(value) in (tuple, list) else value


# ---- what is native -------------------------------------------------------------------------------------------------

_methods: list[tuple[type, str, Callable[..., Any], bool]] = []
_lock = fork_safe_lock()
_engine: Engine | None = None
_refused: str | None = None


def register(owner: type, name: str, function: Callable[..., Any], weak_numbers: bool = False) -> None:
    """Makes ``owner.name`` a native method when the launcher is activated (functions: `core.launchable`).

    Args:
        owner: a class.
        name: its attribute, at present ``function``.
        function: what it does: ops on its tensor arguments, chosen by nothing else than dtypes, shapes and the other
            arguments.
        weak_numbers: numbers among the arguments only stand for 0-d tensors (`numbers`).
    """
    _methods.append((owner, name, function, weak_numbers))


def is_registered() -> bool:
    """Whether it was said what to make native."""
    return bool(_methods)


class Numbers(NamedTuple):
    """How numbers become operands."""

    operand_of: Callable[[Any, Any], Tensor]  # of a number and a dtype
    kept: Callable[[], list[Tensor]]  # those that it keeps to give them again


numbers: Slot[Numbers] = Slot("runtime.launch.launcher.numbers")


class Fusion(Protocol):
    """What makes one native call of a record of several ops (`programs.fused`)."""

    def calls_before(self, plan: RecordPlan) -> int:
        """After how many calls that pays; 0: never."""

    def pack_fused(self, plan: RecordPlan, record: Any) -> tuple[Any, list[Any]]:
        """The record of that call, and what it points into."""


fusion: Slot[Fusion | None] = Slot("runtime.launch.launcher.fusion", None)
"""How records are fused; without it their ops run one by one."""


def activate() -> bool:
    """Puts the native methods in place, unless the option ``native_launch`` forbids it; whether they are."""
    global _engine, _refused
    with _lock:
        if _engine is None and _refused is None and config().native_launch:
            try:
                _engine = Engine()
            except (Unsupported, llvm.LinkError, llvm.TextError, OSError, ImportError) as error:
                _refused = str(error)
                emit("native launch refused", reason=_refused)
                return False
            except MemoryError:  # no room for its code now: the next call tries again
                return False
            except Exception as error:  # noqa: BLE001 - the policy
                _refused = str(internal_failure("the launcher", "its code", error))
                return False
            cpython.keep_for_ever(_engine)
            _engine.install()
        return _engine is not None


def engine() -> Engine | None:
    """The launcher, activated now if it can be; others build on its functions."""
    first_native()  # else methods that are registered later would not be among the native ones
    return _engine if activate() else None


def deactivate() -> None:
    """Puts the Python functions back."""
    global _engine, _refused
    with _lock:
        if _engine is not None:
            _engine.uninstall()
        _engine, _refused = None, None


def refusal() -> str | None:
    """Why native launching is not possible here; ``None`` if it is, or nobody tried."""
    return _refused


def statistics() -> dict[str, int]:
    """Calls that ran natively, calls that had no record, records, and those of them whose ops were fused."""
    if _engine is None:
        return {"launches": 0, "misses": 0, "records": 0, "fused": 0}
    return {
        "launches": _engine.get("launches"),
        "misses": _engine.get("misses"),
        "records": len(_engine.owners),
        "fused": _engine.fused,
    }


class Engine:
    """The loaded launcher: its code, its block of words, its table.

    Raises:
        Unsupported: this interpreter is not laid out as expected, or the self-test failed.
    """

    def __init__(self) -> None:
        self.methods = [NativeEntry(function, weak, (owner, name)) for owner, name, function, weak in _methods]
        self.functions: list[NativeEntry] = []
        self.owners: list[Any] = []
        self.learning = False
        self._entering = object_lock()
        self.fused = 0
        self.loaded = self._load()
        allocator.start(self.loaded)
        self.clear()

    # -- the code --------------------------------------------------------------------------------------------------

    def _load(self) -> asm.Loaded:
        known = cpython.layout()
        objects: dict[str, Any] = {
            "Tensor": Tensor, "Parameter": Parameter, "ndarray": np.ndarray, "float": float, "int": int, "str": str,
            "tuple": tuple, "list": list, "slice": slice, "None": None, "True": True, "False": False,
            "Ellipsis": Ellipsis, "Op": Op, "Tape": Tape, "Alias": Alias, "ViewLink": ViewLink, "clock": CLOCK, "0": 0,
            "'binder'": sys.intern("binder"), "'tapes'": sys.intern("tapes"), "enter_thread": self._enter_thread,
            "'detached'": sys.intern("detached"), "stop": get_op("stop_gradient"), "{}": {},
            "constant": self._constant, "tell": _tell_tapes, "fuse": self._fuse,
            **{c.__name__: c for c in (dt.Float, dt.Int, dt.UInt, dt.Bool, dt.BFloat, dt.Complex)},
            **{f"cell{i}": cell for i, cell in enumerate(self.methods)},
        }  # fmt: skip
        slots = {name: known.slot(cls, slot) for name, (cls, slot) in OWN_SLOTS.items()}
        slots |= {name: known.slot(NativeEntry, name) for name in CELL_SLOTS}
        state = [*launch_text.STATE, *allocator_text.STATE, *["state_version"] * known.has_versions]
        memory = {**allocator_text.MEMORY, **launch_text.MEMORY}
        module = asm.Module("dg_words", objects, state=state, slots=slots, memory=memory)
        functions = [*allocator_text.functions(module), *launch_text.functions(module, known.has_versions)]
        functions += [launch_text.method_entry(module, f"dg_cell{i}", i) for i in range(len(self.methods))]
        return module.load(functions, [f.name for f in functions if f.is_exported])

    def set(self, name: str, value: int) -> None:
        """Writes a word that the code and Python share."""
        self.loaded.set(name, value)

    def get(self, name: str) -> int:
        """Reads a word that the code and Python share."""
        return self.loaded.get(name)

    def address(self, name: str) -> int:
        """Where a function of the code is."""
        return self.loaded.address(name)

    def _constant(self, number: Any, dtype: Any) -> Tensor:
        return numbers.value.operand_of(number, dtype)

    def _enter_thread(self) -> None:
        """Native code asks what the dispatch state of this thread is; nothing runs natively on one of little stack."""
        found, is_fit = state.__dict__, not has_little_stack()
        get_id = ctypes.pythonapi.PyThreadState_GetID
        get_id.restype, get_id.argtypes = ctypes.c_uint64, (ctypes.c_void_p,)
        get = ctypes.pythonapi.PyThreadState_Get
        get.restype, get.argtypes = ctypes.c_void_p, ()
        number = get_id(get())
        with self._entering:  # both words are of one thread, whichever runs between these lines
            self.set("thread", 0)
            self._state = found
            self.set("state", id(found))
            self.set("thread", number if is_fit else 0)

    # -- records ---------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """An empty table. Records that are running keep themselves alive."""
        table = (ctypes.c_int64 * (2 * TABLE_PLACES))()
        self.set("table_mask", TABLE_PLACES - 1)
        self.set("table_shift", 64 - TABLE_PLACES.bit_length() + 1)
        self.set("table", ctypes.addressof(table))
        self.table, self.owners = table, []
        self.seen: dict[int, int] = {}  # how often keys were asked for, by hash
        self.made: dict[tuple[int, ...], int] = {}  # records, by the beginning of their keys
        self.doubted: set[int] = set()

    def is_back(self, key: bytes) -> bool:
        """Whether this key was asked for before. Many shapes come only once; records are for those that come back."""
        hashed = int.from_bytes(key[:8], "little")
        times = self.seen.get(hashed, 0)
        if not times and len(self.seen) >= 4 * MOST_RECORDS:
            self.seen.clear()
            self.doubted.clear()
        self.seen[hashed] = times + 1
        return times > 0 and (times >= OFTEN or self.made.get(_beginning(key), 0) < FEW_RECORDS)

    def learn(
        self,
        cell: NativeEntry,
        key: bytes,
        arguments: Any,
        tensors: list[Tensor],
        weak: list[Any],
        noted: _Notes,
        out: Any,
    ) -> None:
        """Adds the record of a call that was computed in Python.

        That it is one for Python is settled by two such calls: other threads and finalizers may have read values, or
        run ops, among what was noted of one.
        """
        words = np.frombuffer(key, np.int64)
        described = words[FRAME.key.word - FRAME.hash.word :].tolist()
        keep = [arguments_without_tensors(arguments), cell]
        self.learning = True  # what `pack` computes is not to be learnt, and must not get here again
        try:
            if not noted.plain:
                raise Uncovered("not a plain sequence of ops")
            with no_recording():
                constants = Constants(numbers.value.operand_of, numbers.value.kept())
                record, kept, plan = pack(described, tensors, weak, noted.ops, out, constants)
            record[RECORD.wait.word] = fusion.value.calls_before(plan) if fusion.value is not None else 0
        except Uncovered:
            hashed = int.from_bytes(key[:8], "little")
            if hashed not in self.doubted:
                self.doubted.add(hashed)
                return
            record, kept, plan = pack_python(described), [], None
        except SHORTAGE:
            return
        except Exception as error:  # noqa: BLE001 - the policy
            internal_failure("the launcher", getattr(cell.function, "__qualname__", cell.function), error)
            record, kept, plan = pack_python(described), [], None
        finally:
            self.learning = False
        owner = [record, keep, kept, plan]
        self._insert(int(words[0]) & ((1 << 64) - 1), record, owner)
        beginning = _beginning(key)
        self.made[beginning] = self.made.get(beginning, 0) + 1

    def _fuse(self, owner: Any) -> None:
        """A record was used often while no tape looked: adds the one that does the same at once, if that can be."""
        record, _, kept, plan = owner
        self.learning = True
        try:
            with no_recording():
                assert fusion.value is not None  # `learn` asked it when to do this
                fused, more = fusion.value.pack_fused(plan, record)
        except (Uncovered, *SHORTAGE):  # the ops one by one are right, too
            return
        except Exception as error:  # noqa: BLE001 - the policy
            internal_failure("the launcher", "a fused record", error)
            return
        finally:
            self.learning = False
        kept += [fused, *more]
        record[RECORD.fused.word] = ctypes.addressof(fused)
        self.fused += 1

    def _insert(self, hashed: int, record: Any, owner: Any) -> None:
        if len(self.owners) >= MOST_RECORDS:
            self.clear()
        record[RECORD.owner.word] = id(owner)
        self.owners.append(owner)
        start = hashed >> self.get("table_shift")
        places = [2 * ((start + i) & (TABLE_PLACES - 1)) for i in range(PROBES)]
        place = next((p for p in places if not self.table[p + 1]), places[len(self.owners) % PROBES])
        self.table[place] = 0
        self.table[place + 1] = ctypes.addressof(record)
        self.table[place] = ctypes.c_int64(hashed).value

    # -- putting it in place ---------------------------------------------------------------------------------------

    def install(self) -> None:
        """Native methods and functions take the place of those in Python."""
        for i, cell in enumerate(self.methods):
            assert cell.home is not None
            owner, name = cell.home
            doc = f"{name}($self, /, *args, **kwargs)\n--\n\n{cell.function.__doc__ or ''}"
            setattr(owner, name, cpython.method(owner, name, self.address(f"dg_cell{i}"), doc))
        when_paused.add(self._enable)
        self._enable()
        self.install_functions()
        when_made.add(self.install_functions)
        when_rules_change.add(self.clear)

    def _enable(self) -> None:
        self.set("enabled", int(not is_paused()))

    def install_functions(self) -> None:
        """Native functions take the place of those in Python that have none yet."""
        address = self.address("dg_function")
        for known in LAUNCHABLES[len(self.functions) :]:
            cell = NativeEntry(known.function, known.weak_numbers)
            self.functions.append(cell)
            known.redirect(cpython.function(known.function.__name__, address, "", cell))

    def uninstall(self) -> None:
        """The Python functions take their places back; the records go."""
        when_paused.remove(self._enable)
        self.set("enabled", 0)
        when_made.remove(self.install_functions)
        when_rules_change.remove(self.clear)
        for cell in self.methods:
            assert cell.home is not None
            setattr(*cell.home, cell.function)
        for known in LAUNCHABLES[: len(self.functions)]:
            known.redirect(known.function)
        self.clear()


def _beginning(key: bytes) -> tuple[int, ...]:
    """Which function a key is for, and of what kind the first argument is: an op, a tensor of this rank and dtype."""
    first = FRAME.key.word - FRAME.hash.word
    return tuple(np.frombuffer(key, np.int64)[first : first + 3].tolist())


def arguments_without_tensors(value: Any) -> Any:
    """Arguments whose addresses stand in a key: as long as the record lives, nothing else may get them."""
    if isinstance(value, Tensor):
        return None
    if isinstance(value, tuple | list):
        return [arguments_without_tensors(v) for v in value]
    if isinstance(value, dict):
        return [(k, arguments_without_tensors(v)) for k, v in value.items()]
    return value


def _numbers_in(value: Any) -> Iterator[Any]:
    """Numbers that only stand for tensors, in the order in which native code meets them."""
    args, named = value
    for item in (*args, *named.values()):
        if type(item) in (int, float):
            yield item


def pack_python(key: list[int]) -> Any:
    """The record of a call that Python has to compute."""
    key_block = (ctypes.c_int64 * len(key))(*key)
    record = (ctypes.c_int64 * RECORD.n_words)()
    record[RECORD.count.word], record[RECORD.key.word] = len(key), ctypes.addressof(key_block)
    record[RECORD.python.word] = 1
    record.key = key_block  # type: ignore[attr-defined]  # lives as long as the record
    return record


__all__ = [
    "Engine", "NativeEntry", "activate", "deactivate", "is_registered", "numbers",
    "refusal", "register", "statistics",
]  # fmt: skip
