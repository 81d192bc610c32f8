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

A program may append, ask for the length, and let the list leave. Whatever else it does (an element is read, the list is
handed to a function) needs to know the elements: the capture starts again with the loop unrolled, as if there were no
such lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from duograph.autodiff.stacks import stack_new, stack_push, stack_rows, stack_size
from duograph.core.types import ScalarType
from duograph.ir.node import Apply
from duograph.ops.scalar import is_number
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor, type_of

from ..rules.errors import Restart, Uncapturable
from .recipe import Called, Container, Output
from .restricted import Restricted


class GrownList(Restricted):
    """A list of elements of one form, of which there are so many as a run makes. Its contents are tracked.

    Attributes:
        head: the elements that it had before the loop: these very objects.
        stack: the node of the stack of all others.
    """

    __slots__ = ("__dict__", "_key", "_session", "form")

    def __init__(self, session: Any, key: Any, form: Any, head: tuple[Any, ...]) -> None:
        self._session, self._key, self.form = session, key, form
        self.head = head
        self.stack = stack_new(items=tuple(_leaves(form)))

    def refuse(self, *_: Any) -> NoReturn:
        self._session.log.never_grown.add(self._key)
        raise Restart

    def append(self, element: Any) -> None:
        """One more element.

        Raises:
            Uncapturable: it is of another form, or it matters which object it is.
        """
        if form_of(element) != self.form:
            raise Uncapturable("a list that gets elements of different types in a loop whose end depends on tensors")
        leaves = list(_leaves(element))
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self._check_new(leaf)
        self.stack = stack_push(self.stack, *leaves)

    def _check_new(self, tensor: Tensor) -> None:
        """What leaves are copies: a tensor must have been made in this iteration, and nothing may write to it later."""
        session = self._session
        node, scope = tensor._data, session.builder.current
        while scope is not None and node not in scope.emitted and not scope.repeats:
            scope = scope.parent
        is_new = isinstance(node, Apply) and scope is not None and node in scope.emitted and tensor._view is None
        if not is_new or root_of(tensor) is not tensor or id(tensor) in session.choices.made:
            raise Uncapturable("a list that gets what another iteration may have made, in a loop that tensors end")
        session.choices.note_source(tensor)

    def length(self) -> Any:
        """``len`` of it, a run-time number."""
        size = stack_size(self.stack)
        return size + len(self.head) if self.head else size

    def make_python_object(self, collector: Any) -> Called:
        """A recipe of the list: one object, wherever it leaves."""
        if collector.values_only:
            self.refuse()
        rows = stack_rows(self.stack, items=tuple(_leaves(self.form)))
        head = Container(tuple, items=[collector.recipe(v) for v in self.head])
        outputs = [Output(collector.output(collector.binder.node_of(column))) for column in rows]
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


def _listed(form: Any, head: tuple[Any, ...], *columns: Tensor) -> list[Any]:
    """The list, each tensor in memory of its own."""
    parts = [_elements(leaf, column) for leaf, column in zip(_leaves(form), columns, strict=True)]
    return [*head, *[_element(form, iter(leaves)) for leaves in zip(*parts, strict=True)]]


def _elements(leaf: Any, column: Tensor) -> Sequence[Any]:
    array = column.asnumpy()
    return array.tolist() if isinstance(leaf, ScalarType) else [Tensor(row.copy(), column.dtype) for row in array]


def _element(form: Any, leaves: Iterator[Any]) -> Any:
    return tuple([_element(part, leaves) for part in form]) if isinstance(form, tuple) else next(leaves)
