"""Machine code: LLVM text to object code, object code to addresses. The only module that works with LLVM.

    object_code = compile_text(text, target)          # slow: 2 to 3 ms for a small kernel
    linked = link(object_code, ["kernel"])            # fast: 0.05 to 0.15 ms
    address = linked.address("kernel")                # valid as long as `linked` lives

No optimiser pass runs: the text is final, LLVM selects instructions and allocates registers (see `docs/native.md`).

LLVM is entered by one thread at a time, under `_lock`; a fork waits for it, so that a child never inherits a lock
whose owner it has not. Compilations are done on a thread of their own, which has the lock and as much stack as LLVM
needs. Who waits for it may be interrupted (Ctrl-C, an alarm): the compilation goes on to its end, and nobody enters
LLVM before that.

`llvmlite` is imported when the first text is compiled or linked: it takes 40 ms, which `import duograph` must not.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import mmap
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from duograph.base.config import config
from duograph.base.events import emit
from duograph.base.fork import fork_safe_lock
from duograph.base.imports import import_whole
from duograph.base.once import once
from duograph.lower.target import Target, current_target

from . import threads

if TYPE_CHECKING:
    from llvmlite import binding

__all__ = ["LinkError", "Linked", "TextError", "code_generator_key", "compile_text", "compile_texts", "link"]

OPTIMISATION = 1
"""Effort of LLVM's code generator: 1 gives the code that 2 and 3 give for explicit vectors; 0 is slower code, made in
a fifth of the time."""

OPTIONS = ("-disable-lsr",)
"""LLVM options of this process. Loop strength reduction rewrites addresses, which processors compute for nothing:
without it code is made in 0.7 of the time and is as fast (GEMM, convolution, elementwise, sums: 0.86 to 1.07)."""


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

    def __init__(self, tracker: Any, linker: _Linker) -> None:
        self.tracker = tracker
        _mapped[id(tracker)] = tracker, linker

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

    def __init__(self, mapping: _Mapping, names: Iterable[str], keep: tuple[object, ...] = ()) -> None:
        self._mapping, tracker = mapping, mapping.tracker
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


_lock = fork_safe_lock()
_once = functools.partial(once, lock=_lock)
_numbers = itertools.count()
_dead: list[Any] = []  # code to unmap
_mapped: dict[int, tuple[Any, _Linker]] = {}
"""All handles of code in memory, and who linked it: the collector would end one that is part of garbage while we do."""

MOST_DEAD = 64
"""Pieces of code that are unmapped, of whichever linker, before another linker goes on."""


class _Linker:
    """One of LLVM's linkers.

    LLVM unmaps code, but keeps the empty library in which it was, 9 KB, until the linker goes. So there is a new linker
    (1 ms) now and then, if code is unmapped at all; an old one ends with the last code that it has linked.

    Attributes:
        jit: LLVM's object.
        live: handles of the code that is still there.
        others: pieces of code, its own or not, that have gone since it is the one that links.
    """

    __slots__ = ("jit", "live", "others")

    def __init__(self) -> None:
        self.jit = _llvm().create_lljit_compiler(use_jit_link=True)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.jit))  # code may run until the very end of the process
        self.live: set[int] = set()
        self.others = 0

    def bury(self, tracker: Any) -> None:
        tracker.close()
        self.live.discard(id(tracker))
        if _linker is not None:
            _linker.others += 1
        self.end_if_unused()

    def end_if_unused(self) -> None:
        if not self.live and self is not _linker:
            self.jit.close()
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(self.jit))


_linker: _Linker | None = None


def _current_linker() -> _Linker:
    global _linker
    last = _linker
    if last is None or last.others >= MOST_DEAD:
        _linker = _Linker()
        if last is not None:
            last.end_if_unused()
    assert _linker is not None
    return _linker


def _bury() -> None:
    while _dead:
        tracker, linker = _mapped.pop(id(_dead.pop()))
        linker.bury(tracker)


def code_generator_key() -> str:
    """What decides about the code of a text beside the processor: LLVM's version, the effort and the options."""
    return "\n".join((".".join(map(str, _llvm().llvm_version_info)), str(OPTIMISATION), *OPTIONS))


def compile_text(text: str, target: Target | None = None) -> bytes:
    """Compiles LLVM text to relocatable object code.

    Args:
        text: one module; any number of functions.
        target: the processor to compile for. Default: `current_target()`.

    Raises:
        TextError: LLVM does not accept the text.
    """
    return compile_texts([text], target)[0]


def compile_texts(texts: list[str], target: Target | None = None, optimisation: int = OPTIMISATION) -> list[bytes]:
    """Compiles several modules, side by side where this version of llvmlite is known to allow it.

    Args:
        texts: of the modules.
        target: as for `compile_text`.
        optimisation: effort of the code generator, 0 to 3.

    Raises:
        TextError: LLVM does not accept a text.
    """
    target = target or current_target()
    check = config().debug or config().verify in ("pass", "node")

    def work() -> list[bytes]:
        with _lock:
            made = _side_by_side(texts, target, optimisation) if len(texts) > 1 and not check else None
            return made or [_compile(text, target, check, optimisation) for text in texts]

    return threads.apart(work)


def link(
    objects: bytes | Iterable[bytes],
    names: Iterable[str],
    symbols: Mapping[str, int] | None = None,
    keep: tuple[object, ...] = (),
) -> Linked:
    """Loads object code into this process.

    Args:
        objects: what `compile_text` gave; several are linked with each other.
        names: functions and variables whose addresses are wanted.
        symbols: addresses of what the code calls but does not define. The process's own symbols (libc) need no entry.
        keep: objects that must live as long as the code, such as the `Linked` that `symbols` point into.

    Raises:
        LinkError: the object is damaged, a name is not in it or a symbol is missing.
        MemoryError: the system gives this process no more memory, or no more mappings.
    """
    names = tuple(names)
    return threads.with_stack(lambda: _linked(objects, names, symbols, keep))


def _linked(
    objects: bytes | Iterable[bytes],
    names: tuple[str, ...],
    symbols: Mapping[str, int] | None,
    keep: tuple[object, ...],
) -> Linked:
    binding = _llvm()
    builder = binding.JITLibraryBuilder().add_current_process()
    objects = (objects,) if isinstance(objects, bytes) else tuple(objects)
    for object_code in objects:
        builder.add_object_img(object_code)
    for name, address in (symbols or {}).items():
        builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    with _lock:
        _bury()
        _check_room(sum(map(len, objects)))
        try:
            linker = _current_linker()
            linker.others += 1  # unless it is there in the end
            tracker = builder.link(linker.jit, f"code{next(_numbers)}")
        except RuntimeError as error:
            raise LinkError(str(error)) from None
        linker.others -= 1
        linker.live.add(id(tracker))
        mapping = _Mapping(tracker, linker)
    return Linked(mapping, names, keep)


MAPPINGS = 64
"""Mappings that must be left for code to be linked: it takes up to five, threads and allocators want some, too."""

_PAGE = mmap.PAGESIZE
_NO_ACCESS = 0  # PROT_NONE, for which the module has no name
_FAILED = ctypes.c_void_p(-1).value


def _check_room(nbytes: int) -> None:
    """LLVM ends the process if the system refuses to map code or to change its protection: so it is asked first.

    A process has so many mappings (Linux: ``vm.max_map_count``, 65530), and each piece of code takes two.

    Raises:
        MemoryError: there is no room for ``nbytes`` of object code.
    """
    system = _memory_calls()
    if system is None:
        return
    size = MAPPINGS * _PAGE + 2 * nbytes
    start = system.mmap(None, size, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if start == _FAILED:
        raise MemoryError(f"out of memory: machine code of {nbytes} bytes")
    # every second page another protection: as many mappings as pages
    refused = any(system.mprotect(start + k * _PAGE, _PAGE, mmap.PROT_READ) for k in range(1, MAPPINGS, 2))
    if refused:
        system.mprotect(start + _PAGE, _PAGE, _NO_ACCESS)  # what is next to it may have to be cut off
    system.munmap(start, size)
    if refused:
        emit("machine code refused", reason="vm.max_map_count", bytes=nbytes)
        raise MemoryError("out of mappings for machine code (vm.max_map_count): too many compiled functions at once")


@_once
def _memory_calls() -> Any:
    """The system's functions; None where they are others."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    number, address = ctypes.c_int, ctypes.c_void_p
    library.mmap.restype = address
    library.mmap.argtypes = [address, ctypes.c_size_t, number, number, number, ctypes.c_long]
    library.mprotect.argtypes = [address, ctypes.c_size_t, number]
    library.munmap.argtypes = [address, ctypes.c_size_t]
    return library


def _compile(text: str, target: Target, check: bool, optimisation: int) -> bytes:
    binding = _llvm()
    machine = _machine(target, 0, optimisation)
    # A context of its own: types and constants go with it, a shared one only grows. It is closed here, not by its
    # destructor: everything that enters LLVM does so under the lock.
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


# llvmlite lets one thread at a time into LLVM, though LLVM itself has no objection to several that share nothing. Its
# functions are therefore called by their exported names, past its lock: in versions whose signatures were read.

_VERSIONS = ("0.50.",)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ContextCreate": (ctypes.c_void_p, []),
    "ContextDispose": (None, [ctypes.c_void_p]),
    "ParseAssembly": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]),
    "DisposeModule": (None, [ctypes.c_void_p]),
    "TargetMachineEmitToMemory": (
        ctypes.c_void_p,
        [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)],
    ),
    "GetBufferStart": (ctypes.c_void_p, [ctypes.c_void_p]),
    "GetBufferSize": (ctypes.c_size_t, [ctypes.c_void_p]),
    "DisposeMemoryBuffer": (None, [ctypes.c_void_p]),
    "DisposeString": (None, [ctypes.c_void_p]),
}


def _side_by_side(texts: list[str], target: Target, optimisation: int) -> list[bytes] | None:
    """The object code of each text, made by a thread for each; None if that is not possible or a text is wrong."""
    exported = _exported()
    if exported is None:
        return None
    generators = [_machine(target, number, optimisation) for number in range(len(texts))]
    machines = [ctypes.cast(generator._ptr, ctypes.c_void_p) for generator in generators]
    results: list[bytes | None] = [None] * len(texts)

    def work(number: int) -> None:
        results[number] = _compile_past_the_lock(exported, texts[number], machines[number])

    workers: list[threading.Thread] = []
    try:
        for number in range(1, len(texts)):
            workers.append(threads.start(functools.partial(work, number)))
        work(0)
    except RuntimeError:  # no more threads: what was not started is made one after the other
        return None
    finally:
        for worker in workers:
            worker.join()
    return None if None in results else results  # type: ignore[return-value]


def _compile_past_the_lock(exported: dict[str, Any], text: str, machine: ctypes.c_void_p) -> bytes | None:
    message = ctypes.c_void_p()
    context = exported["ContextCreate"]()
    module = exported["ParseAssembly"](context, text.encode(), ctypes.byref(message))
    object_code = None
    if module and not message:
        buffer = exported["TargetMachineEmitToMemory"](machine, module, 1, ctypes.byref(message))
        if buffer:
            object_code = ctypes.string_at(exported["GetBufferStart"](buffer), exported["GetBufferSize"](buffer))
            exported["DisposeMemoryBuffer"](buffer)
    if message:
        exported["DisposeString"](message)
    if module:
        exported["DisposeModule"](module)
    exported["ContextDispose"](context)
    return object_code


@_once
def _exported() -> dict[str, Any] | None:
    if not import_whole("llvmlite").__version__.startswith(_VERSIONS):
        return None
    library = ctypes.CDLL(_llvm().ffi.lib._name)  # objects of our own: the signatures set here are not llvmlite's
    functions = {}
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, f"LLVMPY_{name}")
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return functions


def _around(text: str, message: str) -> str:
    """The lines around the one that LLVM's message names."""
    number = next((int(part) for part in message.split(":") if part.strip().isdigit()), 0)
    lines = text.splitlines()
    first = max(number - 4, 0)
    return "\n".join(f"{i + 1:5} {line}" for i, line in enumerate(lines[first : number + 2], first)) if number else ""


@_once
def _llvm() -> binding:
    binding = import_whole("llvmlite.binding")
    with _lock:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        for option in OPTIONS:
            binding.set_option("duograph", option)
    return binding


@_once
def _machine(target: Target, number: int = 0, optimisation: int = OPTIMISATION) -> Any:
    """The code generator for a target and effort, one for each thread that works at once.

    For another architecture than the host's it makes code too, which only tests look at.
    """
    binding = _llvm()
    triple = binding.get_process_triple()
    if not target.arch.startswith(triple.split("-")[0].replace("x86_64", "x86-64").replace("arm64", "aarch64")):
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        triple = target.arch.replace("x86-64", "x86_64") + "-unknown-linux-gnu"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=optimisation, reloc="pic", codemodel="default", jit=True
    )
