"""Tensors and NumPy arrays from outside: inputs of the graph, the guards on them, and the memory that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from duograph.autodiff.vmap import Batched
from duograph.core.borders import symbols_in
from duograph.core.dim import Symbol, UnknownSizeError, fresh_symbol
from duograph.core.types import TensorType, Type
from duograph.ir.builder import Builder
from duograph.ir.node import Apply, Graph, Node, Param
from duograph.ir.printer import all_graphs
from duograph.ops.ranges import RunTimeView
from duograph.ops.scalar import Scalar, dim_size
from duograph.tensor.alias import Alias, ViewLink, root_of
from duograph.tensor.tensor import Tensor

from ..guards.guard import GuardSet
from ..programs.memory import overlap
from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.facts import lies_contiguously, may_vary, tensor_facts
from ..rules.sources import Source
from ..values.shadows import identifier, source_name


def _is_constant(link: ViewLink) -> bool:
    """Whether a view is of the same part in each call."""
    return not isinstance(link.op, RunTimeView) and not symbols_in(tuple(link.attrs.values()))


class TensorInputs:
    """How tensors from outside enter. A part of `Session`, which says what the attributes are."""

    binder: Any
    builder: Builder
    guards: GuardSet
    symbols: list[tuple[Any, Source, int]]
    patterns: dict[Source, tuple[Any, ...]]
    patterned: dict[int, tuple[Tensor, Source, Tensor]]
    inputs: list[tuple[Source, Param]]
    written: dict[int, Tensor]
    written_parts: dict[int, list[tuple[Source, list[ViewLink]]] | None]
    given_views: list[Tensor]
    sometimes_written: set[int]
    born: int
    _handles: dict[int, tuple[Tensor, Source]]
    _params: list[Node]
    _tensor_sources: dict[int, tuple[Tensor, Source]]
    _tensor_params: dict[int, Param]
    _arrays: dict[int, tuple[Tensor, np.ndarray]]
    _unlifted: dict[int, dict[tuple[str, str], None]]
    _object_sources: dict[int, tuple[Any, Source]]
    found_at: Callable[[Source], Source]

    def add_input(self, source: Source, name: str, type: Type) -> Param:
        param = self.builder.param(name, type)
        self.inputs.append((source, param))
        self._params.append(param)
        return param

    def tensor_input(self, tensor: Tensor) -> Param:
        """The graph input for an outside tensor (a view enters through its own array: read-only until written)."""
        param = self._tensor_params.get(id(tensor))
        if param is None and isinstance(tensor._data, Batched):
            raise Uncapturable("a tensor of a vmap that is used outside of it")
        if param is None and id(tensor) in self._handles:
            raise Uncapturable("a tensor of dynamic size that the program also reaches in another way")
        if param is None:
            known = self._tensor_sources.get(id(tensor))
            source = known[1] if known else sources.pinned(tensor)
            if known is None:
                self.guards.add(source, "tensor", tensor_facts(tensor))
                self._tensor_sources[id(tensor)] = (tensor, source)
            name = getattr(tensor, "name", None)
            param = self.add_input(source, identifier(str(name)) if name else source_name(source), tensor.abstract)
            self._tensor_params[id(tensor)] = param
            for function, variable in self._unlifted.get(id(tensor), ()):
                self.builder.context.note_variable(param, function, variable)
        return param

    def note_variable(self, name: str, value: Any, frame: Any) -> None:
        """A variable of ``frame`` gets ``value``: if that is of the graph, debuggers show it under this name."""
        node: Any = value.node if isinstance(value, Scalar) else None
        if isinstance(value, Tensor):
            stored = self.binder.store.get(value._alias)
            node = value._data if stored is None else stored.node if value._view is None else None
            if stored is None and not isinstance(node, Node):
                node = self._tensor_params.get(id(value))
                self._unlifted.setdefault(id(value), {})[frame.name, name] = None
        if isinstance(node, Node):
            self.builder.context.note_variable(node, frame.name, name)

    def tensor_source(self, tensor: Tensor) -> Source:
        known = self._tensor_sources.get(id(tensor))
        return known[1] if known else sources.pinned(tensor)

    def assume_layout(self, tensor: Tensor) -> None:
        """Notes that an outside tensor is taken to have the strides that it has in this call.

        Raises:
            UnknownSizeError: its sizes vary.
        """
        source = self.source_of_tensor(tensor)
        if source is None or tensor.is_symbolic:
            raise UnknownSizeError("whether tensors share memory depends on the strides of one whose size varies")
        self.guards.add(source, "strides", tensor._data.strides)

    def is_strided(self, tensor: Tensor) -> bool:
        """Whether a symbolic tensor stands for outside ones that are not contiguous."""
        known = self.patterned.get(id(tensor))
        return known is not None and not lies_contiguously(known[2])

    def follow(self, tensor: Tensor) -> None:
        """Guards how an outside view shows its storage: a later call may bring a view of another one, or elsewhere."""
        while tensor._view is not None:
            op, parent, attrs = tensor._view.op, tensor._view.parent, tensor._view.attrs
            known = self._tensor_sources.get(id(tensor))
            if known is not None:
                link = sources.attr(known[1], "_view")
                self.guards.add(link, "view", (op, dict(attrs)))
                self._external_tensor(parent, sources.attr(link, "parent"))
            tensor = parent

    def sometimes_writes_views(self) -> bool:
        """Whether an outside view is written on some paths only.

        A tape tells a view that was not written from its storage; a graph, where paths join in values of storages,
        cannot.
        """
        views = [t for t, _ in self._tensor_sources.values() if t._view is not None]
        return any(id(root_of(view)) in self.sometimes_written for view in views)

    def gives_used_views(self, graph: Graph) -> bool:
        """Whether a view leaves ``graph`` that matters to gradients inside.

        What leaves is a view of a result, made after the program. A tape adds up what flows into the view itself, at
        its place in the program: another sum, if something else uses the view, or uses its base later. And what was
        written through a view it knows as the value of that very view.
        """
        views = {id(v): v._data for v in self.given_views if isinstance(v._data, Apply)}
        if any(id(view) in self.binder.written_views or id(view) not in views for view in self.given_views):
            return True
        bases = {node.operands[0]: node.tag for node in views.values()}
        made = set(views.values())
        return any(
            operand in made or (operand in bases and node.tag > bases[operand] and node not in made)
            for g in all_graphs(graph)
            for node in g.nodes
            for operand in node.operands
        )

    def is_outside(self, tensor: Tensor) -> bool:
        return not tensor.is_symbolic and tensor._alias.serial <= self.born

    def note_written(self, target: Tensor) -> None:
        """The program writes to an outside tensor, or to a view of one."""
        links: list[ViewLink] = []
        outside = target
        while outside.is_symbolic and outside._view is not None:
            links.insert(0, outside._view)
            outside = outside._view.parent
        root = root_of(outside)
        self.written[id(root)] = root
        parts = self.written_parts.setdefault(id(root), [])
        source = self.source_of_tensor(outside)
        if source is None or (outside is root and not links) or not all(map(_is_constant, links)):
            self.written_parts[id(root)] = None
        elif parts is not None:
            parts.append((source, links))

    def _patterned_tensor(self, value: Tensor, source: Source, pattern: tuple[Any, ...]) -> Tensor:
        """An input with dimensions of varying size: a tensor of symbolic shape stands for it."""
        shape = []
        for axis, extent in enumerate(pattern):
            if extent is None:
                extent = fresh_symbol("n")
            if isinstance(extent, Symbol):
                self.symbols.append((extent, source, axis))
            shape.append(extent)
        fixed = tuple([None if isinstance(n, Symbol) else n for n in shape])
        self.guards.add(source, "pattern", (type(value), value._data.dtype, fixed, lies_contiguously(value)))
        param = self.add_input(source, source_name(source), TensorType(value.dtype, tuple(shape)))
        handle = self.binder.wrap(param)
        self.patterned[id(handle)] = (handle, source, value)
        self._handles[id(value)] = (handle, source)
        return handle

    def _pattern(self, source: Source) -> tuple[Any, ...] | None:
        """What is known to vary of the shape of a tensor."""
        return (self.patterns.get(source) or self.patterns.get(self.found_at(source))) if self.patterns else None

    def as_size(self, value: int, source: Source) -> Any:
        """The size that stands for an int from outside; ``None``: it is a number."""
        extent = sources.extent(source)
        pattern = self._pattern(extent)
        if pattern is None or not 0 < value <= sources.MOST_ELEMENTS:
            return None
        handle = next((handle for handle, known, _ in self.patterned.values() if known == extent), None)
        if handle is None:
            self.guards.add(source, "type", int)
            handle = self._patterned_tensor(sources.of_size(value), extent, pattern)
        scope = self.builder.current
        while self.builder.current.parent is not None:  # whatever path asks first, all may read it
            self.builder.current = self.builder.current.parent
        try:
            return dim_size(handle, axis=0)
        finally:
            self.builder.current = scope

    def _external_tensor(self, value: Tensor, source: Source) -> Tensor:
        if isinstance(value._data, Batched):
            raise Uncapturable("a tensor of a vmap that has ended")
        if isinstance(value._data, Node):
            raise Uncapturable("a tensor that the program has made, of an object that is not tracked")
        known = self._handles.get(id(value)) or self._tensor_sources.get(id(value))
        if known is None:
            pattern = self._pattern(source)
            if pattern is not None and may_vary(value, pattern):
                return self._patterned_tensor(value, source, pattern)
            self.guards.add(source, "tensor", tensor_facts(value))
            known = self._tensor_sources[id(value)] = (value, source)
        if known[1] != source:
            self.guards.same_objects[known[1], source] = None
        return known[0]

    def of_array(self, value: np.ndarray) -> Tensor:
        """What a NumPy array from outside holds when the call begins, as a tensor of the program.

        Raises:
            Uncapturable: it cannot be an input.
        """
        found = self._arrays.get(id(value))
        if found is None:
            source = sources.array(self._object_sources[id(value)][1])
            try:
                tensor = sources.shown(value)
            except TypeError as error:
                raise Uncapturable(f"{error}, from outside the compiled function") from None
            pattern = self._pattern(source)
            if pattern is not None and may_vary(tensor, pattern):
                made = self._patterned_tensor(tensor, source, pattern)
            else:
                self.guards.add(source, "tensor", tensor_facts(tensor))
                made = self.binder.wrap(self.add_input(source, source_name(source.base), tensor.abstract))
            found = self._arrays[id(value)] = (made, value)
        return found[0]

    def shows_outside(self, alias: Alias) -> bool:
        """Whether this is the memory of an outside tensor, or what stands for it."""
        return alias.serial <= self.born or any(alias is handle._alias for handle, _, _ in self.patterned.values())

    def source_of_tensor(self, tensor: Tensor) -> Source | None:
        """Where an outside tensor, or one that stands for it, was found; ``None`` for others."""
        if (patterned := self.patterned.get(id(tensor))) is not None:
            return patterned[1]
        known = self._tensor_sources.get(id(tensor))
        return known[1] if known is not None else None

    def guard_different_tensors(self, one: Any, two: Any) -> None:
        """Two tensors from outside are two objects: the program has asked."""
        if isinstance(one, Tensor) and isinstance(two, Tensor) and one is not two:
            pair = self.source_of_tensor(one), self.source_of_tensor(two)
            if pair[0] is not None and pair[1] is not None:
                self.guards.add_different(pair[0], pair[1])

    def keep_tensors_apart(self, tensors: Iterable[Tensor]) -> None:
        """Those of ``tensors`` that are from outside are so many objects in each call: native code compared them."""
        found = [self.source_of_tensor(tensor) for tensor in {id(tensor): tensor for tensor in tensors}.values()]
        self.guards.keep_apart([source for source in found if source is not None])

    def check_attribute_of(self, tensor: Any) -> None:
        """Refuses attributes of the user's own on what stands for an outside tensor."""
        if id(tensor) in self.patterned:
            raise Uncapturable("an attribute of a tensor whose size varies")

    def shared_memory(self) -> list[tuple[Source, Any]]:
        """Outside tensors that entered the program, each with a mark; equal marks share memory.

        Raises:
            Uncapturable: what is written to is seen by a tensor whose size varies.
        """
        marks: dict[Any, int] = {}
        found = [(source, marks.setdefault(t._alias, len(marks))) for t, source in self.known_tensors()]
        written = {root._alias for root in self.written.values()}
        for _, source, value in self.patterned.values():
            if source.kind == "extent":  # nobody has its memory
                continue
            if value._alias in written:
                raise Uncapturable("an in-place write to memory of an argument whose shape varies")
            found.append((source, marks.setdefault(value._alias, len(marks))))
        seen = [(t._data, marks[t._alias]) for t in self._shown() if t._alias in marks]
        if overlap([*seen, *[(array, None) for _, array in self._arrays.values()]], {marks.get(a) for a in written}):
            raise Uncapturable("an in-place write to memory that NumPy arrays share")
        return found

    def _shown(self) -> list[Tensor]:
        """Outside tensors whose memory the program reads or writes."""
        return [t for t, _ in self.known_tensors()] + [t for _, source, t in self.patterned.values()]

    def known_tensors(self) -> list[tuple[Tensor, Source]]:
        """Outside tensors that entered the program, with their sources."""
        return [pair for pair in self._tensor_sources.values() if id(pair[0]) in self._tensor_params]
