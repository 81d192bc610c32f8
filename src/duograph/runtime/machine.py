"""Machine code: LLVM text to object code, object code to addresses. The only module that works with LLVM.

    object_code = compile_text(text, target)          # slow: 2 to 3 ms for a small kernel
    linked = link(object_code, ["kernel"])            # fast: 0.05 to 0.15 ms
    address = linked.address("kernel")                # valid as long as `linked` lives

No optimiser pass runs: the text is final, LLVM selects instructions and allocates registers (see `docs/native.md`).

LLVM is entered by one thread at a time, under `_lock`; a fork waits for it, so that a child never inherits a lock
whose owner it has not. Long compilations are done on a helper thread while the main thread waits in Python, where
Ctrl-C reaches it.

`llvmlite` is imported when the first text is compiled or linked: it takes 40 ms, which `import duograph` must not.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from duograph.base.config import config
from duograph.lower.target import Target, current_target

if TYPE_CHECKING:
    from llvmlite import binding

__all__ = ["LinkError", "Linked", "TextError", "compile_text", "link", "llvm_version"]

OPTIMISATION = 1
"""Effort of LLVM's code generator: 1 gives the code that 2 and 3 give for explicit vectors; 0 is slower code."""

LONG_TEXT = 100_000
"""Characters from which a text is compiled on a helper thread: about 0.2 s of work."""


class TextError(ValueError):
    """LLVM text that LLVM does not accept: a fault of the code generator."""


class LinkError(RuntimeError):
    """Object code that cannot be linked: damaged, or a symbol is missing."""


class _Mapping:
    """Machine code in memory; its destructor unmaps it.

    It is apart from `Linked`, to which there are weak references: Python runs an object's own destructor while weak
    references can still revive the object.
    """

    __slots__ = ("__weakref__", "tracker")

    def __init__(self, tracker: Any) -> None:
        self.tracker = tracker

    def __del__(self) -> None:
        if sys.is_finalizing():  # the process ends, and the code with it
            return
        _dead.append(self.tracker)
        if _lock.acquire(blocking=False):  # a destructor does not wait for a compilation; the next link does it then
            try:
                _bury()
            finally:
                _lock.release()


class Linked:
    """Machine code in memory. It is unmapped when the last reference to this object goes.

    Whoever calls into the code keeps the object: an address alone keeps nothing.
    """

    __slots__ = ("__weakref__", "_addresses", "_keep", "_mapping")

    def __init__(self, tracker: Any, names: Iterable[str], keep: tuple[object, ...] = ()) -> None:
        self._mapping = _Mapping(tracker)
        self._addresses = {name: int(tracker[name]) for name in names}
        self._keep = keep

    def address(self, name: str) -> int:
        """The address of an exported function or variable.

        Raises:
            KeyError: not exported.
        """
        return self._addresses[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The exported names."""
        return tuple(self._addresses)

    def make_immortal(self) -> None:
        """Never unmap this code, not even when the interpreter ends: threads may still be in it."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def __repr__(self) -> str:
        return f"Linked({', '.join(self._addresses)})"


_lock = threading.RLock()
_numbers = itertools.count()
_dead: list[Any] = []  # code to unmap


def _bury() -> None:
    while _dead:
        _dead.pop().close()


def llvm_version() -> str:
    """The version of LLVM that makes the code."""
    return ".".join(map(str, _llvm().llvm_version_info))


def compile_text(text: str, target: Target | None = None) -> bytes:
    """Compiles LLVM text to relocatable object code.

    Args:
        text: one module; any number of functions.
        target: the processor to compile for. Default: `current_target()`.

    Raises:
        TextError: LLVM does not accept the text.
    """
    target = target or current_target()
    check = config().debug or config().verify in ("pass", "node")
    if len(text) >= LONG_TEXT and threading.current_thread() is threading.main_thread():
        return _on_a_helper(lambda: _compile(text, target, check))
    return _compile(text, target, check)


def link(
    object_code: bytes, names: Iterable[str], symbols: Mapping[str, int] | None = None, keep: tuple[object, ...] = ()
) -> Linked:
    """Loads object code into this process.

    Args:
        object_code: what `compile_text` gave.
        names: functions and variables whose addresses are wanted.
        symbols: addresses of what the code calls but does not define. The process's own symbols (libc) need no entry.
        keep: objects that must live as long as the code, such as the `Linked` that `symbols` point into.

    Raises:
        LinkError: the object is damaged, a name is not in it or a symbol is missing.
    """
    names = tuple(names)
    binding = _llvm()
    builder = binding.JITLibraryBuilder().add_object_img(object_code).add_current_process()
    for name, address in (symbols or {}).items():
        builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    with _lock:
        _bury()
        try:
            tracker = builder.link(_jit(), f"code{next(_numbers)}")
        except RuntimeError as error:
            raise LinkError(str(error)) from None
    return Linked(tracker, names, keep)


def _compile(text: str, target: Target, check: bool) -> bytes:
    binding = _llvm()
    with _lock:
        machine = _machine(target)
        # A context of its own: types and constants go with it, a shared one only grows. It is closed here, not by
        # its destructor: everything that enters LLVM does so under the lock.
        with binding.create_context() as context:
            try:
                module = binding.parse_assembly(text, context=context)
            except RuntimeError as error:
                raise TextError(f"{error}\n{_around(text, str(error))}") from None
            with module:
                if check:
                    try:
                        module.verify()
                    except RuntimeError as error:
                        raise TextError(str(error)) from None
                return bytes(machine.emit_object(module))


def _on_a_helper(work: Any) -> Any:
    """Runs `work` on another thread; the wait is one that Ctrl-C ends (the work itself goes on, to no one's harm)."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((work(), None))
        except Exception as error:  # noqa: BLE001 - handed to the caller's thread
            outcome.extend((None, error))
        done.set()

    done = threading.Event()
    threading.Thread(target=run, name="duograph compiler", daemon=True).start()
    done.wait()
    value, error = outcome
    if error is not None:
        raise error
    return value


def _around(text: str, message: str) -> str:
    """The lines around the one that LLVM's message names."""
    number = next((int(part) for part in message.split(":") if part.strip().isdigit()), 0)
    lines = text.splitlines()
    first = max(number - 4, 0)
    return "\n".join(f"{i + 1:5} {line}" for i, line in enumerate(lines[first : number + 2], first)) if number else ""


@functools.cache
def _llvm() -> binding:
    from llvmlite import binding

    with _lock:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    return binding


@functools.cache
def _jit() -> Any:
    """The linker of this process. It is never closed: code may run until the very end."""
    jit = _llvm().create_lljit_compiler(use_jit_link=True)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(jit))
    return jit


@functools.cache
def _machine(target: Target) -> Any:
    """The code generator for a target. Of another architecture it makes code too, which only tests look at."""
    binding = _llvm()
    triple = binding.get_process_triple()
    if not target.arch.startswith(triple.split("-")[0].replace("x86_64", "x86-64").replace("arm64", "aarch64")):
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        triple = target.arch.replace("x86-64", "x86_64") + "-unknown-linux-gnu"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=OPTIMISATION, reloc="pic", codemodel="default", jit=True
    )


def _after_fork() -> None:
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_after_fork, after_in_child=_after_fork)
