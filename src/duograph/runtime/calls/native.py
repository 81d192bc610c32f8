"""Calls of compiled functions as one native step: the words of a call, and classes whose instances are called so.

    machine = call_machine(Classes(JitFunction, BoundJit, Entries))     # puts its code into the classes
    version = NativeCall(plan)                                          # one compiled version
    entries.native = (version,)                                         # calls try it from now on

`calls.text` has the code and says how it works. A `NativeCall` owns the buffers that its calls use; a call
that finds them in use (another thread, recursion) is answered by Python.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from duograph.base.collection import members
from duograph.base.config import config, places
from duograph.base.events import emit
from duograph.base.failures import is_from_outside
from duograph.base.once import once
from duograph.base.tracing import WATCHED
from duograph.core.op import rules_version
from duograph.core.types import ScalarType, TensorType, TokenType
from duograph.runtime.guards.program import GuardProgram, machine_code, words_without_addresses
from duograph.runtime.kernels import kernels
from duograph.runtime.launch import launcher
from duograph.runtime.launch.words import OUTPUT
from duograph.runtime.programs.build import Output
from duograph.runtime.programs.executable import Executable
from duograph.runtime.programs.frame import NEEDED
from duograph.runtime.programs.run import Run
from duograph.runtime.python import cpython
from duograph.runtime.python.asm import Module
from duograph.runtime.python.cpython import ALIGNED, C_CONTIGUOUS, OWNS_DATA, WRITEABLE, Unsupported, address_of, layout
from duograph.tensor.alias import CLOCK, Alias
from duograph.tensor.tensor import Tensor

from . import text as call_text
from . import words as w
from .instead import Instead
from .sizes import Sizes
from .views import Views

__all__ = ["AGAIN", "CallPlan", "Classes", "NativeCall", "PathPlan", "Subject", "call_machine"]


@dataclass(frozen=True)
class Classes:
    """The classes that take part.

    Attributes:
        function: compiled functions: slots ``_own`` (their versions), ``_method`` (for a method the key of its
            versions in the table of the instance, else ``None``), ``_subject`` (what versions get in front of the
            arguments, else ``None``) and ``_instead`` (where calls go without a look at these: `Instead`, or ``None``).
        bound: bound methods: slots ``function`` and ``__self__``.
        versions: versions of one owner: slots ``native`` and ``taped``, tuples of `NativeCall`: what is tried while no
            tape records, and while some do.
        attribute: where an instance keeps its table of versions.
    """

    function: type
    bound: type
    versions: type
    attribute: str


@dataclass
class Subject:
    """A tensor that a call reads or writes.

    Attributes:
        register: where the guards have it.
        mark: number of its storage among those of the call; -1: of no interest.
        buffer: number of the buffer of `main` that it is; -1: it is only written.
        nbytes: its size; if that varies, or it is not contiguous, the size of an element, negated.
        is_written: whether it gets new contents.
        is_donated: whether `main` puts them there.
        is_alone: whether nobody else may hold its memory.
        is_changed: whether it gets new contents, by native code or afterwards.
        is_bare: whether it is an array of NumPy's.
        is_strided: whether it is not contiguous: `main` gets a copy.
    """

    register: int
    mark: int = -1
    buffer: int = -1
    nbytes: int = -1
    is_written: bool = False
    is_donated: bool = False
    is_alone: bool = False
    is_changed: bool = False
    is_bare: bool = False
    is_strided: bool = False


class Effects(Protocol):
    """What steps in Python of native calls do, and what becomes of it."""

    def run(self, effect: Callable[[], Any]) -> Any:
        """Runs ``effect``, a part of a call."""

    def ended(self) -> Any:
        """What the call has done, when it has ended; ``None``: nothing."""

    def failed(self, done: Any) -> None:
        """Python is to do the call of this thread that has ``done`` this."""


@dataclass
class PathPlan:
    """What follows when `main` has run.

    Attributes:
        writes: subject, and leaf of the result with its new contents.
        draws: leaf of the result that is the generator's new offset.
        shown: further leaves: views of other leaves, or of registers.
        result: how to make the result (`call_words.TREE_LEAF` ...), as pairs of words.
        finish: makes the result instead, from lists of values and leaves; or gives `AGAIN`, if there are no writes.
        is_plain: Python does the call instead.
    """

    writes: list[tuple[int, int]] = field(default_factory=list)
    draws: int = -1
    shown: list[tuple[Views, bool, int]] = field(default_factory=list)
    result: list[tuple[int, int]] = field(default_factory=list)
    finish: Callable[..., Any] | None = None
    is_plain: bool = False


@dataclass
class CallPlan:
    """What a call of one version does.

    Attributes:
        guards: when it is valid, finished.
        executable: what it runs.
        names: of the parameters that are given, and how they may be.
        subjects: tensors; those that are buffers in the order of the buffers.
        numbers: register, Python type, place among the dims, and whether it is a number of NumPy's.
        generator: random generator whose seed and offset are inputs, with their places among the dims.
        paths: what follows. If there are several, the first leaf is the number of the one that was taken.
        held: registers that results refer to.
        begin: is told the inputs before the call runs, as a list; what it gives, ``finish`` gets as a third argument.
            If that is `AGAIN`, the version does not hold.
        inputs: their registers.
        dims: places among the dims whose contents ``finish`` gets behind the leaves.
        otherwise: does what this call does where it cannot, for a call that is no version of a function.
        sizes: of a program for many sizes, with where each is found: subject, axis, place among the dims (-1: none).
        effects: of its steps in Python that print.
        reserved: what ``**kwargs`` do not get: the names of the other parameters; ``None``: there are no ``**kwargs``.
    """

    guards: GuardProgram
    executable: Executable
    names: Sequence[str]
    has_rest: bool
    positional: int
    positional_only: int
    subjects: list[Subject] = field(default_factory=list)
    numbers: list[tuple[int, type, int, bool]] = field(default_factory=list)
    generator: tuple[Any, int, int] | None = None
    paths: list[PathPlan] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    begin: Callable[[list[Any]], Any] | None = None
    inputs: list[int] = field(default_factory=list)
    dims: list[int] = field(default_factory=list)
    otherwise: Callable[..., Any] | None = None
    sizes: tuple[Sizes, list[tuple[int, int, int]]] | None = None
    reserved: Sequence[str] | None = None
    effects: Effects | None = None

    def vary(self, inputs: Sequence[int], first: int, equal: Sequence[tuple[Any, Any]] = ()) -> None:
        """Lets the sizes of tensors vary.

        Args:
            inputs: the numbers of the subjects that are the inputs of the executable; of others any.
            first: place among the dims from which on the sizes stand.
            equal: extents that must be equal.
        """
        build, types = self.executable.build, self.executable.input_types[: len(inputs)]
        outputs = [o.type for o in build.outputs if o.buffer >= 0 and isinstance(o.type, TensorType)]
        sizes = Sizes(list(build.symbols), equal=equal, outputs=outputs)
        places = [(inputs[k], axis, first + i) for i, (k, axis) in enumerate(build.symbols.values())]
        for k, type in enumerate(types):
            for axis, extent in enumerate(type.shape if isinstance(type, TensorType) else ()):
                if not isinstance(extent, int) and (k, axis) not in build.symbols.values():
                    sizes.given.append(extent)
                    places.append((inputs[k], axis, -1))
        self.sizes = (sizes, places)

    def listing(self) -> str:
        """The plan without its guards and code, one part a line."""
        rest = ", and more" if self.has_rest else ""
        lines = [f"parameters: {', '.join(self.names)}{rest}; {self.positional} may be positional"]
        lines += [f"of these only so: {self.positional_only}"] if self.positional_only else []
        lines += [f"the last one gets all but: {', '.join(self.reserved)}"] if self.reserved is not None else []
        for k, s in enumerate(self.subjects):
            flags = [name for name, value in vars(s).items() if value is True]
            lines.append(f"subject {k}: {s.register}, {s.mark}, {s.buffer}, {s.nbytes} {' '.join(flags)}".rstrip())
        lines += [
            f"number: {register}, {kind.__name__}, {place}{', of NumPy' * of_numpy}"
            for register, kind, place, of_numpy in self.numbers
        ]
        draws = ", ".join(str(path.draws) for path in self.paths)
        lines += [f"random: {self.generator[1:]}, {draws}"] if self.generator is not None else []
        word, _ = words_without_addresses(self.kept)
        for path in self.paths:
            lines += [f"write: {write}" for write in path.writes]
            lines += [
                f"view: {views} of {'leaf' if leaf else 'register'} {parent}" for views, leaf, parent in path.shown
            ]
            made = "by Python" if path.finish is not None else ", ".join(f"{kind} {word(w)}" for kind, w in path.result)
            lines.append(f"result: {'plain Python' if path.is_plain else made}")
        lines.append(f"held: {self.held}")
        if self.begin is not None:
            lines.append(f"begins in Python with {self.inputs}; dims: {self.dims}")
        lines += ["has effects"] * (self.effects is not None)
        if self.sizes is not None:
            lines.append(f"sizes: {[str(t) for t in self.sizes[0].outputs]}, {self.sizes[1]}")
        return "\n".join(lines) + "\n"


class _Ending:
    """What native code asks of Python where a call with steps in Python ends.

    It asks what was done while the buffers are still the call's, and tells this if Python is to do the call.
    """

    def __init__(self, run: Run, effects: Effects | None) -> None:
        self.run, self.effects = run, effects
        run.around = effects.run if effects is not None else None

    def ended(self) -> Any:
        error = self.run.error
        self.run.let_go()
        done = self.effects.ended() if self.effects is not None else None
        return None if error is done is None else (error, done)

    def failed(self, ended: Any) -> None:
        """Python does the call again, unless it was interrupted."""
        if ended is None:
            return
        error, done = ended
        if error is not None and (not isinstance(error, Exception) or is_from_outside(error)):
            raise error
        if self.effects is not None and done is not None:
            self.effects.failed(done)


class NativeCall:
    """One compiled version, ready to be called.

    Raises:
        Unsupported: the version does something that native calls do not.
    """

    __slots__ = ("__weakref__", "_block", "_kept", "_run", "plan")

    def __init__(self, plan: CallPlan) -> None:
        self.plan = plan
        self._kept: list[Any] = []
        self._block = np.zeros(w.CALL.n_words, np.int64)
        self._fill()
        self.leave_after(None)
        emit("native call", plan=plan)
        self._take_run()
        self.renew()
        _live.add(self)
        plan.executable.borrowers.add(self)

    def __call__(self, *args: Any) -> Any:
        """The version by itself, for whom its guards are a matter of speed."""
        assert self.plan.otherwise is not None, "a version of a function is called by the function"
        return self.plan.otherwise(*args)

    @property
    def hits(self) -> int:
        """Calls that were answered."""
        return int(self._block[w.CALL.hits.word])

    def leave_after(self, calls: int | None) -> None:
        """Lets Python lead a call when it has answered so many more; ``None``: never."""
        self._block[w.CALL.until.word] = -1 if calls is None else self.hits + calls

    @property
    def is_retired(self) -> bool:
        """Whether it has given its memory back and answers no more calls."""
        return not self._block[w.CALL.config.word]

    def renew(self) -> None:
        """Makes it valid for the configuration and the rules of now."""
        present, rules = config(), rules_version[0]
        self._kept[:2] = [present, rules]
        self._block[w.CALL.config.word], self._block[w.CALL.rules.word] = id(present), id(rules)

    def renew_if_old(self) -> bool:
        """`renew`, if the configuration or the rules are others than those it is valid for; whether they are."""
        block = self._block
        if block[w.CALL.config.word] == id(config()) and block[w.CALL.rules.word] == id(rules_version[0]):
            return False
        self.renew()
        return True

    def release(self) -> None:
        """Gives its memory back, if no call uses it; the next call makes another one."""
        if not self._block[w.CALL.busy.word] and not self.is_retired:
            self._block[w.CALL.config.word] = 0
            self._run.free()

    def after_fork(self) -> None:
        """In the child: the thread whose call was going on does not exist here."""
        if self._block[w.CALL.busy.word]:
            self._take_run()
            self._block[w.CALL.busy.word] = 0

    # ---- words ---------------------------------------------------------------------------------------------------

    def _take_run(self) -> None:
        self._run = run = self.plan.executable.new_run()
        block = self._block
        block[w.CALL.buffers_at.word], block[w.CALL.dims_at.word] = run.pointers
        block[w.CALL.context_at.word] = ctypes.addressof(run.ctx)
        block[w.CALL.reset.word] = self._object(run.reset)
        block[w.CALL.grow.word] = self._object(lambda: run.grow(run.ctx[NEEDED]))
        if self.plan.executable.build.host_steps:
            ending = _Ending(run, self.plan.effects)
            block[w.CALL.ended.word], block[w.CALL.failed.word] = (
                self._object(ending.ended),
                self._object(ending.failed),
            )

    def _array(self, words: Sequence[int]) -> int:
        made = np.array([*words, 0], np.int64)
        self._kept.append(made)
        return address_of(made)

    def _object(self, value: Any) -> int:
        self._kept.append(value)
        return id(value)

    def _fill(self) -> None:
        plan, block = self.plan, self._block
        self._kept += [None, None, plan]
        table = plan.guards.table()
        block[w.CALL.program.word], block[w.CALL.registers.word] = address_of(table), plan.guards.registers
        block[w.CALL.values.word], block[w.CALL.rest.word] = len(plan.names), int(plan.has_rest)
        block[w.CALL.names_at.word] = self._array([self._object(n) for n in plan.names])
        block[w.CALL.positional.word], block[w.CALL.positional_only.word] = plan.positional, plan.positional_only
        block[w.CALL.collects.word], reserved = int(plan.reserved is not None), plan.reserved or ()
        block[w.CALL.reserved.word] = len(reserved)
        block[w.CALL.reserved_at.word] = self._array([self._object(n) for n in reserved])
        releases = plan.executable.releases or plan.sizes is not None
        block[w.CALL.main.word], block[w.CALL.release.word] = plan.executable.address, int(releases)
        self._fill_inputs()
        self._fill_outputs()
        block[w.CALL.begin.word] = 0 if plan.begin is None else self._object(plan.begin)
        block[w.CALL.inputs.word], block[w.CALL.input_at.word] = len(plan.inputs), self._array(plan.inputs)
        used = [s.register for s in plan.subjects if s.is_written or plan.sizes is not None]
        held = list(dict.fromkeys([*plan.held, *used]))
        block[w.CALL.held.word], block[w.CALL.held_at.word] = len(held), self._array(held)

    def _fill_inputs(self) -> None:
        plan, block = self.plan, self._block
        exclusive = any(s.is_written or s.mark >= 0 for s in plan.subjects)
        strided = [k for k, s in enumerate(plan.subjects) if s.is_strided]
        if any((s.is_written or s.is_changed) and s.is_strided for s in plan.subjects):
            raise Unsupported("it writes to a tensor that is not contiguous")
        block[w.CALL.strided.word], block[w.CALL.strided_at.word] = len(strided), self._array(strided)
        words: list[int] = []
        for s in plan.subjects:
            flags = 0 if s.is_strided else C_CONTIGUOUS | ALIGNED | (WRITEABLE if s.is_written else 0)
            flags |= OWNS_DATA if s.is_donated or s.is_alone else 0
            if s.is_written and s.nbytes < 0:
                raise Unsupported("writes to what varies in size")
            words += [s.register, flags, s.mark, 0, 0, s.buffer, s.nbytes]
            words += map(int, (s.is_written or s.is_changed, s.is_alone, s.is_bare))
        block[w.CALL.subjects.word], block[w.CALL.subject_at.word] = len(plan.subjects), self._array(words)
        block[w.CALL.exclusive.word] = int(exclusive)
        block[w.CALL.marks.word] = 1 + max((s.mark for s in plan.subjects), default=0)
        kinds: dict[type, int] = {int: w.INT, bool: w.BOOL, float: w.FLOAT}
        of_numpy: dict[type, int] = {int: w.NUMPY_INT, float: w.NUMPY_FLOAT}
        numbers = [x for r, kind, dim, of in plan.numbers for x in (r, (of_numpy if of else kinds)[kind], dim)]
        block[w.CALL.numbers.word], block[w.CALL.number_at.word] = len(plan.numbers), self._array(numbers)
        if plan.generator is not None:
            generator, block[w.CALL.seed.word], block[w.CALL.offset.word] = plan.generator
            block[w.CALL.generator.word] = self._object(vars(generator))

    def _fill_outputs(self) -> None:
        plan, block = self.plan, self._block
        executable = plan.executable
        described: list[int] = []
        leaves: list[int] = []
        late: list[int] = []
        n_early = sum(output.buffer >= 0 for output in executable.build.outputs)
        for k, output in enumerate(executable.build.outputs):
            kind, place = w.LEAF_NONE, 0
            if output.buffer >= 0:
                kind, place = w.LEAF_TENSOR, output.buffer
                described += self._described(output.type)
            elif isinstance(output.type, TensorType) and output.word >= 0:
                kind, place = w.LEAF_TENSOR, n_early + len(late) // w.LATE.n_words
                late += self._described_late(output)
            elif output.donated >= 0 or isinstance(output.type, TokenType):
                pass
            elif isinstance(output.type, ScalarType):
                kinds: dict[type, int] = {int: w.LEAF_INT, bool: w.LEAF_BOOL, float: w.LEAF_FLOAT}
                kind, place = kinds[output.type.python_type], output.word
            else:
                raise Unsupported(f"output {k} is a {output.type}")
            leaves += [kind, place]
        for dim in plan.dims:
            leaves += [w.LEAF_DIM, dim]
        block[w.CALL.outputs.word] = len(described) // OUTPUT.n_words
        block[w.CALL.output_at.word] = self._array(described) if plan.sizes is None else self._fill_sizes(described)
        block[w.CALL.first_output.word] = executable.n_tensors
        block[w.CALL.late.word], block[w.CALL.late_at.word] = len(late) // w.LATE.n_words, self._array(late)
        block[w.CALL.leaves.word], block[w.CALL.leaf_at.word] = len(leaves) // w.LEAF.n_words, self._array(leaves)
        block[w.CALL.shown.word] = max((len(path.shown) for path in plan.paths), default=0)
        written = list({s: (s, k) for path in plan.paths for s, k in path.writes}.values())
        block[w.CALL.writes.word], block[w.CALL.write_at.word] = len(written), self._writes(written)
        block[w.CALL.path_at.word] = self._array([word for path in plan.paths for word in self._path(path)])
        block[w.CALL.choice.word] = executable.build.outputs[0].word if len(plan.paths) > 1 else -1

    def _writes(self, writes: Sequence[tuple[int, int]]) -> int:
        outputs = self.plan.executable.build.outputs
        places = [(s, -1 if outputs[k].donated >= 0 else outputs[k].buffer) for s, k in writes]
        return self._array([word for pair in places for word in pair])

    def _path(self, path: PathPlan) -> list[int]:
        words = [0] * w.PATH.n_words
        words[w.PATH.writes.word], words[w.PATH.write_at.word] = len(path.writes), self._writes(path.writes)
        words[w.PATH.draws.word], words[w.PATH.python.word] = path.draws, int(path.is_plain)
        shown = [word for views, *parent in path.shown for word in (self._object(views) and views.address, *parent)]
        words[w.PATH.shown.word], words[w.PATH.shown_at.word] = len(path.shown), self._array(shown)
        words[w.PATH.result_at.word] = self._array([word for pair in path.result for word in pair])
        words[w.PATH.finish.word] = 0 if path.finish is None else self._object(path.finish)
        return words

    def _described(self, type: Any) -> list[int]:
        shape = list(type.shape)
        varies = not all(isinstance(n, int) for n in shape)
        if varies and self.plan.sizes is None:
            raise Unsupported("an output whose size is only known afterwards")
        if 0 in shape:
            raise Unsupported("an empty output")
        dtype = self._dtype(type)
        words = [0] * OUTPUT.n_words
        words[OUTPUT.dtype.word], words[OUTPUT.rank.word] = self._object(dtype), len(shape)
        if self.plan.sizes is None:
            words[OUTPUT.bytes.word], words[OUTPUT.shape.word] = (
                dtype.itemsize * int(np.prod(shape, dtype=np.int64)),
                self._array(shape),
            )
        return words

    def _described_late(self, output: Output) -> list[int]:
        assert isinstance(output.type, TensorType)
        words = [0] * w.LATE.n_words
        dtype = self._dtype(output.type)
        words[w.LATE.dtype.word], words[w.LATE.rank.word] = self._object(dtype), len(output.type.shape)
        words[w.LATE.word.word], words[w.LATE.itemsize.word] = output.word, dtype.itemsize
        return words

    def _dtype(self, type: TensorType) -> np.dtype:
        dtype = np.empty(0, type.dtype.numpy).dtype
        if np.empty(0, dtype).dtype is not dtype:
            raise Unsupported(f"dtype {dtype} is not a single object")
        return dtype

    def _fill_sizes(self, described: list[int]) -> int:
        """The sizer, what it gets, and the records of outputs that it completes; their address."""
        assert self.plan.sizes is not None
        sizes, places = self.plan.sizes
        block = self._block
        extents = self._array([0] * sum(len(t.shape) for t in sizes.outputs))
        at = extents
        for k, type in enumerate(sizes.outputs):
            described[k * OUTPUT.n_words + OUTPUT.shape.word] = at
            at += 8 * len(type.shape)
        records = self._array(described)
        block[w.CALL.sizes.word], block[w.CALL.size_at.word] = (
            len(places),
            self._array([word for place in places for word in place]),
        )
        block[w.CALL.sizer.word] = kernels.kernel_address(sizes.function(), self._kept)
        block[w.CALL.sizer_buffers_at.word] = self._array([extents, records])
        block[w.CALL.sizer_dims_at.word] = self._array([0] * len(places))
        return records


AGAIN = object()
"""What `CallPlan.finish` gives if the call is to be repeated, led by Python."""

_live: weakref.WeakSet[NativeCall] = weakref.WeakSet()


def _after_fork() -> None:
    for call in members(_live):
        call.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class CallMachine:
    """The loaded code, in place in the classes.

    Raises:
        Unsupported: this Python is not laid out as expected.
    """

    def __init__(self, classes: Classes, engine: launcher.Engine) -> None:
        known = layout()
        slots = {
            "data": known.slot(Tensor, "_data"), "storage": known.slot(Tensor, "_storage"),
            "view": known.slot(Tensor, "_view"), "version": known.slot(Alias, "version"),
            "now": known.slot(type(CLOCK), "now"), "own": known.slot(classes.function, "_own"),
            "method": known.slot(classes.function, "_method"), "of": known.slot(classes.function, "_subject"),
            "native": known.slot(classes.versions, "native"),
            "taped": known.slot(classes.versions, "taped"),
            "function": known.slot(classes.bound, "function"), "subject": known.slot(classes.bound, "__self__"),
            "block": known.slot(NativeCall, "_block"), "instead": known.slot(classes.function, "_instead"),
            "way": known.slot(Instead, "_block"), "callee": known.slot(Instead, "_callee"),
        }  # fmt: skip
        objects: dict[str, Any] = {
            "None": None, "True": True, "False": False, "int": int, "float": float, "tuple": tuple, "dict": dict,
            "again": AGAIN, "Alias": Alias, "clock": CLOCK, "Entries": classes.versions,
            "JitFunction": classes.function, "BoundJit": classes.bound, "rules": rules_version,
            "'offset'": "offset", "'_seed'": "_seed", "'_process'": "_process",
            "'versions'": classes.attribute, "config_module": places()[0], "override": places()[1],
            "MemoryError": MemoryError, "Instead": Instead, "0": 0,
        }  # fmt: skip
        replaced = {"plain_call": classes.function, "plain_bound": classes.bound, "plain_direct": NativeCall}
        numbers = {name: cpython.original_slot(cls, cpython.CALL) for name, cls in replaced.items()}
        module = Module(
            "dg_call_words", objects, numbers | {"config_version": -1} if known.has_versions else numbers,
            ["config_found"], slots, call_text.IMPORTS, call_text.MEMORY,
        )  # fmt: skip
        symbols = {name: engine.address(name) for name in ("dg_array", "dg_tensor", "dg_ready", "dg_alias", "dg_view")}
        symbols |= {"dg_check": machine_code().address("dg_check"), "dg_watched": ctypes.addressof(WATCHED)}
        symbols |= {"dg_quiet": engine.loaded.word("enabled"), "dg_detached": engine.loaded.word("detached")}
        entries = ((classes.function, cpython.CALL, "dg_call"), (classes.bound, cpython.CALL, "dg_bound"),
                   (classes.function, cpython.GET, "dg_get"), (NativeCall, cpython.CALL, "dg_direct"))  # fmt: skip
        functions = call_text.functions(module, known.has_versions)
        self.loaded = module.load(functions, [name for _, _, name in entries], symbols)
        for cls, slot, name in entries:
            cpython.set_slot(cls, slot, self.loaded.address(name))


def call_machine(classes: Classes) -> CallMachine:
    """The machine of these classes: it calls functions of the launcher, so each launcher has its own.

    Raises:
        Unsupported: this Python is not laid out as expected.
    """
    engine = launcher.engine()
    if engine is None:
        raise Unsupported(f"native launching: {launcher.refusal()}")
    return _call_machine(classes, engine)


@once
def _call_machine(classes: Classes, engine: launcher.Engine) -> CallMachine:
    """Made at the first call, by one thread: there is one block of words for its code."""
    return CallMachine(classes, engine)
