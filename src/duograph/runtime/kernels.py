"""Loop IR functions as machine code in this process: compiled or loaded once, and kept."""

from __future__ import annotations

from collections.abc import Iterable

from duograph.base.config import config
from duograph.base.fork import fork_safe_lock
from duograph.lower.emit import emit_functions
from duograph.lower.loop.ir import Function
from duograph.lower.loop.verify import verify
from duograph.lower.target import current_target

from . import code, pool

_lock = fork_safe_lock()
_addresses: dict[str, int] = {}
_functions: dict[str, Function] = {}
_kept: list[object] = []


def register(functions: Iterable[Function]) -> None:
    """Makes functions known by their symbols, so that others may call them."""
    for function in functions:
        _functions.setdefault(function.symbol, function)


def known(symbol: str) -> Function | None:
    """The function that was registered under ``symbol``."""
    return _functions.get(symbol)


def provide(symbol: str, address: int) -> None:
    """Makes something that is not loop IR known to kernels, under a symbol."""
    _addresses[symbol] = address


def load_kernels(functions: Iterable[Function]) -> None:
    """Compiles together what of ``functions`` (and of what they call) has no code yet."""
    with _lock:
        wanted: dict[str, Function] = {}
        work = list(functions)
        while work:
            function = work.pop()
            symbol = function.symbol
            if symbol in _addresses or symbol in wanted:
                continue
            wanted[symbol] = function
            for callee in function.linked.values():
                load_kernels([callee])  # text of its own: found again on disk, whoever calls it
            work.extend(_functions[s] for s in function.callees if s in _functions)
        wanted = {symbol: function for symbol, function in wanted.items() if symbol not in _addresses}
        if not wanted:
            return
        outside = {s for f in wanted.values() for s in f.callees if s not in wanted}
        symbols = {**pool.symbols(), **{s: _addresses[s] for s in outside if s in _addresses}}
        ordered = [wanted[s] for s in sorted(wanted)]
        if config().verify in ("pass", "node"):
            for function in ordered:
                verify(function)
        text = emit_functions(ordered, current_target())
        linked = code.load(text, sorted(wanted), symbols=symbols)
        _kept.append(linked)
        for symbol in wanted:
            _addresses[symbol] = linked.address(symbol)


def kernel_address(function: Function) -> int:
    """Where the code of ``function`` is, compiled now if need be."""
    symbol = function.symbol
    address = _addresses.get(symbol)
    if address is None:
        load_kernels([function])
        address = _addresses[symbol]
    return address
