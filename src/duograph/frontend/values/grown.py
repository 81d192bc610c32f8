"""Lists that a loop of the graph makes longer.

    tokens = []
    while len(tokens) < longest:
        token = step(token)
        if token == END:
            break
        tokens.append(token)
    return tokens

How many elements such a list has in the end only a run knows. From the loop on a `GrownList` stands for it: its
elements are on a stack (`autodiff.stacks`), which ``append`` pushes to. So the state of a loop has a fixed number of
values of fixed types. Where the list leaves the program it is made of the rows of tensors (`stack_rows`).

A program may append, ask for the length, after the loop read elements, stack or concatenate them, and let the list
leave. Whatever else it does (the list is changed in another way, or handed to a function) needs to know which objects
the elements are: the capture starts again with the loop unrolled, as if there were no such lists.

A list from outside that is only written (`values.journals`) is extended by such a list after the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from duograph.autodiff.stacks import ROWS, stack_new, stack_pop, stack_push, stack_rows, stack_size
from duograph.core.op import no_recording
from duograph.core.types import ScalarType, TensorType
from duograph.ir.node import Apply
from duograph.ops.creation import full
from duograph.ops.movement import reshape
from duograph.ops.scalar import Scalar, is_number, scalar_tensor, tensor_item
from duograph.ops.slices import concat
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor, type_of, wrap

from ..rules.errors import Restart, Uncapturable
from .recipe import Called, Container, Output
from .restricted import Restricted

NOT_NEW = "a list that gets what another iteration may have made, in a loop that tensors end"


class GrownList(Restricted):
    """A list of elements of one form, of which there are so many as a run makes. Its contents are tracked.

    Attributes:
        head: the elements that it had before the loop: these very objects.
        stack: the node of the stack of all others.
    """

    __slots__ = ("__dict__", "_key", "_session", "_walks", "form")

    def __init__(self, session: Any, key: Any, form: Any, head: tuple[Any, ...]) -> None:
        self._session, self._key, self.form = session, key, form
        self._walks = 0
        self.head = head
        self.stack = stack_new(items=tuple(_leaves(form)))

    def refuse(self, *_: Any) -> NoReturn:
        log = self._session.log
        if log.may_break and not self._session.regions.loops:  # the loop is compiled, and what follows a graph break
            raise Uncapturable("an element of a list that a loop makes longer, whose end depends on tensors")
        log.never_grown.add(self._key)
        raise Restart

    def append(self, element: Any) -> None:
        """One more element.

        Raises:
            Uncapturable: it is of another form, or it matters which object it is.
        """
        if self._walks:
            self.refuse()
        if form_of(element) != self.form:
            raise Uncapturable("a list that gets elements of different types in a loop whose end depends on tensors")
        leaves = list(_leaves(element))
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self._check_new(leaf)
        with no_recording():
            self.stack = stack_push(self.stack, *leaves)

    def _check_new(self, tensor: Tensor) -> None:
        """What leaves are copies: the memory of a tensor must have been made in this iteration, or the one before, and
        nothing may write to it later."""
        session, root = self._session, root_of(tensor)
        node: Any = root._data if root.is_symbolic else None
        scope, loops = session.builder.current, session.regions.loops
        while scope is not None and node not in scope.emitted and not scope.repeats:
            scope = scope.parent
        made: Any = root
        if scope is None or node not in scope.emitted:  # a carried variable may be made by the iteration before
            made = loops[-1][0].first(node) if loops else None
            if isinstance(made, Tensor) and session.is_outside(root_of(made)):
                session.peel(loops[-1][0].key, NOT_NEW)
        is_new = isinstance(made, Tensor) and made._view is None and isinstance(made._data, Apply)
        if not is_new or id(made) in session.choices.made or id(tensor) in session.appended:
            if not loops:
                raise Uncapturable(NOT_NEW)
            loops[-1][0].refusal = NOT_NEW  # unless the variable turns out to be carried
        session.appended[id(tensor)] = tensor
        session.choices.note_source(tensor)

    def length(self) -> Any:
        """``len`` of it, a run-time number."""
        size = stack_size(self.stack)
        return size + len(self.head) if self.head else size

    def joined(self, joins: str, *args: Any, **kwargs: Any) -> Any:
        """What `stack` or `concat` makes of it along the first axis."""
        (axis,) = args or (*kwargs.values(),) or (0,)
        form, is_stack = self.form, joins == "stack"
        if type(axis) is not int or axis != 0 or not isinstance(form, TensorType) or not (is_stack or form.ndim):
            self.refuse()
        (column,) = self._columns()
        if not self.head:
            column[0]  # raises where there is none, as they would
        return column if is_stack else reshape(column, shape=(column.shape[0] * form.shape[0], *form.shape[1:]))

    def _rows(self) -> tuple[Any, ...]:
        """Those of all elements on the stack."""
        found: tuple[Any, ...] = stack_rows(self.stack, items=tuple(_leaves(self.form)))
        return found

    def _columns(self) -> list[Any]:
        """Tensors with a row for each element."""
        if any(form_of(element) != self.form for element in self.head):
            self.refuse()
        columns = list(self._rows())
        if self.head:
            heads = zip(*[map(_row, _leaves(element)) for element in self.head], strict=True)
            columns = [concat(*head, rows, axis=0) for head, rows in zip(heads, columns, strict=True)]
        return columns

    def latest(self, decide: Callable[[Any], bool]) -> Any:
        """The last element; ``decide`` says on which path that is one of the stack's."""
        if not decide(stack_size(self.stack) > 0):
            return [*self.head][-1]
        _, *leaves = stack_pop(self.stack)
        return self._element(leaves)

    def reader(self) -> Callable[[Any], Any]:
        """What gives the element at an index as the list is now."""
        columns = self._columns()

        def read(index: Any) -> Any:
            at = reshape(_row(index), shape=())
            found = zip([column[at] for column in columns], _leaves(self.form), strict=True)
            return self._element([tensor_item(x, kind=t.kind) if isinstance(t, ScalarType) else x for x, t in found])

        return read

    def _element(self, leaves: list[Any]) -> Any:
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self._session.choices.note_repeated(leaf)
        return _element(self.form, iter(leaves))

    @contextmanager
    def walked(self) -> Iterator[None]:
        """Within the block, the list does not become longer."""
        self._walks += 1
        try:
            yield
        finally:
            self._walks -= 1

    def make_python_object(self, collector: Any) -> Called:
        """A recipe of the list: one object, wherever it leaves."""
        has_tensors = any(isinstance(leaf, TensorType) for leaf in _leaves(self.form))
        if collector.values_only or (has_tensors and self._session.choices.are_exact):
            self.refuse()
        head = Container(tuple, items=[collector.recipe(v) for v in self.head])
        outputs = [Output(collector.output(collector.binder.node_of(column))) for column in self._rows()]
        return Called(partial(_listed, self.form), [head, *outputs])


def form_of(value: Any) -> Any:
    """What elements of one list have in common: the type of a tensor or number, a tuple of forms; ``None``: neither."""
    if type(value) is Tensor or is_number(value):
        return type_of(value)
    if type(value) is tuple and value:
        forms = tuple(map(form_of, value))
        return None if None in forms else forms
    return None


def _leaves(element: Any) -> Iterator[Any]:
    if isinstance(element, tuple):
        for part in element:
            yield from _leaves(part)
    else:
        yield element


def _row(leaf: Any) -> Any:
    """A tensor or number as the only row of a column."""
    if isinstance(leaf, Tensor):
        return reshape(leaf, shape=(1, *leaf.shape))
    kind: Any = type_of(leaf)
    dtype = ROWS[kind.kind]
    if isinstance(leaf, Scalar):
        return reshape(scalar_tensor(leaf, dtype=dtype), shape=(1,))
    return full(shape=(1,), value=leaf, dtype=dtype)


def _listed(form: Any, head: tuple[Any, ...], *columns: Tensor) -> list[Any]:
    """The list, each tensor in memory of its own."""
    parts = [_elements(leaf, column) for leaf, column in zip(_leaves(form), columns, strict=True)]
    return [*head, *[_element(form, iter(leaves)) for leaves in zip(*parts, strict=True)]]


def _elements(leaf: Any, column: Tensor) -> Sequence[Any]:
    array = column.array()
    return array.tolist() if isinstance(leaf, ScalarType) else [wrap(array[k, ...].copy()) for k in range(len(array))]


def _element(form: Any, leaves: Iterator[Any]) -> Any:
    return tuple([_element(part, leaves) for part in form]) if isinstance(form, tuple) else next(leaves)
