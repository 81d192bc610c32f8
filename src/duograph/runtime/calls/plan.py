"""What the native call of a compiled version has to know: classes, inputs, paths, outputs.

A `CallPlan` is data that `jit` makes of a program; `NativeCall` (``native.py``) lays it out in memory as native code
reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from duograph.core.types import TensorType
from duograph.runtime.guards.program import GuardProgram, words_without_addresses
from duograph.runtime.programs.executable import Executable

from .sizes import Sizes
from .views import Views


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
        mark: number of its storage among those of the call; -1: none.
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
    """What steps in Python of native calls do, and what happens to it."""

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
