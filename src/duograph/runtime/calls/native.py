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
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.collection import members
from duograph.base.config import config, places
from duograph.base.events import emit
from duograph.base.failures import is_from_outside
from duograph.base.once import once
from duograph.base.tracing import WATCHED
from duograph.core.op import rules_version
from duograph.core.types import ScalarType, TensorType, TokenType
from duograph.runtime.guards.program import machine_code
from duograph.runtime.kernels import kernels
from duograph.runtime.launch import launcher
from duograph.runtime.launch.words import OUTPUT
from duograph.runtime.programs.build import Output
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
from .plan import CallPlan, Classes, Effects, PathPlan, Subject

__all__ = ["AGAIN", "CallPlan", "Classes", "NativeCall", "PathPlan", "Subject", "call_machine"]


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
