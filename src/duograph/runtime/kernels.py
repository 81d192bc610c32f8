"""Loop IR functions as machine code in this process: compiled or loaded once, and kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from duograph.base.config import config
from duograph.base.fork import fork_safe_lock
from duograph.lower.emit import emit_functions
from duograph.lower.loop.ir import Function
from duograph.lower.loop.verify import verify
from duograph.lower.target import Target, current_target

from . import code, packs, pool
from .machine import LinkError

LLVM_LENGTH = 2
"""How much longer LLVM text is than loop IR, about."""

_lock = fork_safe_lock()
_addresses: dict[str, int] = {}
_functions: dict[str, Function] = {}
_may_fail: dict[str, bool] = {}
_kept: list[object] = []


def register(functions: Iterable[Function]) -> None:
    """Makes functions known by their symbols, so that others may call them."""
    for function in functions:
        _functions.setdefault(function.symbol, function)


def known(symbol: str) -> Function | None:
    """The function that was registered under ``symbol``."""
    return _functions.get(symbol)


def may_fail(function: Function) -> bool:
    """Whether the code of ``function``, or what it calls, can note a failure."""
    symbol = function.symbol
    found = _may_fail.get(symbol)
    if found is None:
        _may_fail[symbol] = True  # of functions that call themselves
        found = False
        for instr in function.body.walk():
            if instr.op == "fail":
                found = True
            elif instr.op == "call" and not instr.attrs.get("safe"):
                callee = known(instr.attrs["function"]) or function.linked.get(instr.attrs["function"])
                found = found or callee is None or may_fail(callee)
        _may_fail[symbol] = found
    return found


def provide(symbol: str, address: int) -> None:
    """Makes something that is not loop IR known to kernels, under a symbol."""
    _addresses[symbol] = address


def load_kernels(functions: Iterable[Function]) -> None:
    """Finds on disk, or compiles together, what of ``functions`` (and of what they call) has no code yet."""
    with _lock:
        missing = _missing(functions)
        if missing:
            target = current_target()
            _link_packs(missing, target)
            missing = {symbol: function for symbol, function in missing.items() if symbol not in _addresses}
        if missing:
            _compile([missing[symbol] for symbol in sorted(missing)], target)


def _missing(functions: Iterable[Function]) -> dict[str, Function]:
    missing: dict[str, Function] = {}
    work = list(functions)
    while work:
        function = work.pop()
        symbol = function.symbol
        if symbol not in _addresses and symbol not in missing:
            missing[symbol] = function
            work.extend(function.linked.values())
            work.extend(_functions[s] for s in function.callees if s in _functions)
    return missing


def _link_packs(symbols: Collection[str], target: Target) -> None:
    """Links packs that are on disk; those first that others import from."""
    waiting = packs.find(symbols, target, _addresses)
    while waiting:
        ready = [pack for pack in waiting if all(s in _addresses for s in pack.imports)]
        if not ready:  # something they call is gone
            return
        waiting = [pack for pack in waiting if pack not in ready]
        for pack in ready:
            try:
                _link(pack)
            except LinkError as error:
                packs.reject(pack, target, str(error))


def _compile(functions: list[Function], target: Target) -> None:
    if config().verify in ("pass", "node"):
        for function in functions:
            verify(function)
    names = tuple(function.symbol for function in functions)
    imports = {s for function in functions for s in function.callees if s not in names}
    objects = code.compile_parts(_texts(functions, target), target)
    pack = packs.Pack(names, tuple(sorted(imports)), objects)
    _link(pack)
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


def _link(pack: packs.Pack) -> None:
    symbols = {**pool.symbols(), **{s: _addresses[s] for s in pack.imports if s in _addresses}}
    linked = code.link(pack.objects, pack.names, symbols)
    _kept.append(linked)
    for symbol in pack.names:
        _addresses.setdefault(symbol, linked.address(symbol))


def kernel_address(function: Function) -> int:
    """Where the code of ``function`` is, compiled now if need be."""
    symbol = function.symbol
    address = _addresses.get(symbol)
    if address is None:
        load_kernels([function])
        address = _addresses[symbol]
    return address
