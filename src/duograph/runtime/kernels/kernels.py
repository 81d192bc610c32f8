"""Loop IR functions as machine code in this process: compiled or loaded once, as long as somebody uses it.

Callers keep the code they call (executables, launch records, single ops), and code keeps what it calls. Besides, what
was asked for lately is kept, so that a program that is made again finds its code. All other code is unmapped: a process
has so many mappings and no more (Linux: 65530), and each piece of code takes two.
"""

from __future__ import annotations

import logging
import weakref
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from duograph.base.config import config
from duograph.base.events import emit
from duograph.base.failures import internal_failure
from duograph.base.fork import fork_safe_lock
from duograph.base.logs import topic
from duograph.lower.emit.functions import emit_functions
from duograph.lower.loop.ir import Function
from duograph.lower.loop.verify import verify
from duograph.lower.lowering import KernelCall, Lowering
from duograph.lower.target import Target, current_target
from duograph.runtime.machine import code
from duograph.runtime.machine.llvm import Linked
from duograph.runtime.pool import pool

from . import packs

LLVM_LENGTH = 2
"""How much longer LLVM text is than loop IR, about."""

MANY, SMALL = 500, 4000
"""A program with more kernels than that has been unrolled: its kernels with a text shorter than that are worth less of
LLVM's time, or the first call takes many seconds."""

MOST_RECENT = 16
"""Pieces of code that are kept although nobody may be using them."""

_topic = topic("kernels")
_lock = fork_safe_lock()
_provided: dict[str, int] = {}
_code: weakref.WeakValueDictionary[str, Linked] = weakref.WeakValueDictionary()  # by symbol
_recent: OrderedDict[Linked, None] = OrderedDict()
_functions: dict[str, Function] = {}


def register(functions: Iterable[Function]) -> None:
    """Makes functions known by their symbols, so that others may call them."""
    for function in functions:
        _functions.setdefault(function.symbol, function)


def known(symbol: str) -> Function | None:
    """The function that was registered under ``symbol``."""
    return _functions.get(symbol)


def may_fail(function: Function) -> bool:
    """Whether the code of ``function``, or what it calls, can note a failure."""
    found = function.may_fail
    if found is None:
        function.may_fail = True  # of functions that call themselves
        found = False
        for instr in function.body.walk():
            if instr.op == "fail":
                found = True
            elif instr.op == "call" and not instr.attrs.get("safe"):
                callee = known(instr.attrs["function"]) or function.linked.get(instr.attrs["function"])
                found = found or callee is None or may_fail(callee)
        function.may_fail = found
    return found


def calls_of(lowered: Lowering) -> Sequence[KernelCall]:
    """The calls that ``lowered`` is made of: none where no result has an element, unless they may note a failure.

    The loops of such calls may have other extents, of any size.
    """
    calls = lowered.calls
    is_empty = bool(lowered.outs) and all(0 in out.shape for out in lowered.outs)
    return () if is_empty and not any(may_fail(call.function) for call in calls) else calls


def provide(symbol: str, address: int) -> None:
    """Makes something that is not loop IR known to kernels, under a symbol; it stays for ever."""
    _provided[symbol] = address


def load_kernels(functions: Iterable[Function]) -> tuple[Linked, ...]:
    """Finds on disk, or compiles together, what of ``functions`` (and of what they call) has no code yet.

    Returns:
        The code, which lives as long as this object.
    """
    functions = list(functions)
    emit("kernels", functions=functions)
    if _topic.isEnabledFor(logging.INFO):
        _topic.info(f"{len(functions)} kernels: {', '.join([f.symbol for f in functions])}")
    with _lock:
        held: dict[str, Linked] = {}  # what is found now must not go before the end
        missing = _missing(functions, held)
        if missing:
            target = current_target()
            _link_packs(missing, held, target)
            missing = {symbol: function for symbol, function in missing.items() if symbol not in held}
        if missing:
            _compile([missing[symbol] for symbol in sorted(missing)], held, target)
        code = tuple(dict.fromkeys(held[function.symbol] for function in functions))
        for linked in code:
            _recent[linked] = None
            _recent.move_to_end(linked)
        while len(_recent) > MOST_RECENT:
            _recent.popitem(last=False)
        return code


def _missing(functions: list[Function], held: dict[str, Linked]) -> dict[str, Function]:
    """What has no code; what has some is ``held``."""
    missing: dict[str, Function] = {}
    work = list(functions)
    while work:
        function = work.pop()
        symbol = function.symbol
        if symbol not in missing and not _is_there(symbol, held):
            missing[symbol] = function
            work.extend(function.linked.values())
            work.extend(_functions[s] for s in function.callees if s in _functions)
    return missing


def _is_there(symbol: str, held: dict[str, Linked]) -> bool:
    """Whether there is code; it is held from now on."""
    if symbol in held or symbol in _provided:
        return True
    found = _code.get(symbol)
    if found is not None:
        held[symbol] = found
    return found is not None


def _link_packs(symbols: Collection[str], held: dict[str, Linked], target: Target) -> None:
    """Links packs that are on disk; those first that others import from."""
    waiting = packs.find(symbols, target, lambda symbol: _is_there(symbol, held))
    while waiting:
        ready = [pack for pack in waiting if all(_is_there(s, held) for s in pack.imports)]
        if not ready:  # something they call is gone
            return
        waiting = [pack for pack in waiting if pack not in ready]
        for pack in ready:
            try:
                _link(pack, held)
            except Exception as error:  # noqa: BLE001 - the policy; what is rejected is compiled
                internal_failure("the code cache", pack.names[0], error)
                packs.reject(pack, target, str(error))


def _compile(functions: list[Function], held: dict[str, Linked], target: Target) -> None:
    if config().verify in ("pass", "node"):
        for function in functions:
            verify(function)
    names = tuple(function.symbol for function in functions)
    imports = {s for function in functions for s in function.callees if s not in names}
    for symbol in imports:
        _is_there(symbol, held)
    quick = [f for f in functions if len(f.text) < SMALL] if len(functions) > MANY else []
    rest = [f for f in functions if len(f.text) >= SMALL] if quick else functions
    objects = code.compile_parts(_texts(rest, target), target) if rest else []
    if quick:
        objects += code.compile_parts(_texts(quick, target), target, optimisation=0)
    pack = packs.Pack(names, tuple(sorted(imports)), objects)
    _link(pack, held)
    packs.keep(pack, target)


def _texts(functions: list[Function], target: Target) -> list[str]:
    """LLVM text in as many parts, equally long, as are worth compiling side by side."""
    lengths = {function.symbol: len(function.text) for function in functions}
    parts: list[list[Function]] = [[] for _ in range(code.useful_parts(LLVM_LENGTH * sum(lengths.values())))]
    sizes = [0] * len(parts)
    for function in sorted(functions, key=lambda f: (-lengths[f.symbol], f.symbol)):
        smallest = sizes.index(min(sizes))
        parts[smallest].append(function)
        sizes[smallest] += lengths[function.symbol]
    return [emit_functions(part, target) for part in parts if part]


def _link(pack: packs.Pack, held: dict[str, Linked]) -> None:
    called = {s: held[s] for s in pack.imports if s in held}
    symbols = {**pool.symbols(), **{s: _provided[s] for s in pack.imports if s in _provided}}
    symbols.update({s: linked.address(s) for s, linked in called.items()})
    keep = tuple(dict.fromkeys(called.values()))
    try:
        linked = code.link(pack.objects, pack.names, symbols, keep)
    except MemoryError:  # what nobody uses must not take the room
        _recent.clear()
        linked = code.link(pack.objects, pack.names, symbols, keep)
    for symbol in pack.names:
        held[symbol] = _code.setdefault(symbol, linked)


def kernel_address(function: Function, keep: list[Any] | None = None) -> int:
    """Where the code of ``function`` is, compiled now if need be.

    Args:
        function: any.
        keep: gets what the caller has to keep as long as he uses the address.
    """
    linked = _code.get(function.symbol)
    if linked is None:
        (linked,) = load_kernels([function])
    if keep is not None:
        keep.append(linked)
    return linked.address(function.symbol)
