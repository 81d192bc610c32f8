"""Collections and traversals whose order is defined.

The compiler must give the same output for the same input in every process, so nothing in it may iterate over a `set`.
`OrderedSet` iterates in order of insertion, `Worklist` is a queue that holds each item once, and the graph helpers
visit nodes in an order that depends only on the roots and the order of the edges.

All traversals are iterative: graphs are deeper than Python's stack.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableSet
from typing import Generic, TypeVar

__all__ = ["CycleError", "OrderedSet", "Worklist", "postorder", "reachable", "strongly_connected", "topological_sort"]

T = TypeVar("T", bound=Hashable)


class OrderedSet(MutableSet[T], Generic[T]):
    """A set that iterates in order of insertion. Equal to another OrderedSet only in the same order."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __reversed__(self) -> Iterator[T]:
        return reversed(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OrderedSet):
            return list(self) == list(other)
        return isinstance(other, set | frozenset) and self._items.keys() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"OrderedSet({list(self._items)!r})"

    def add(self, item: T) -> None:
        """Add an item at the end; one that is present stays where it is."""
        self._items[item] = None

    def discard(self, item: T) -> None:
        """Remove an item, if present."""
        self._items.pop(item, None)

    def update(self, items: Iterable[T]) -> None:
        """Add all items, in order."""
        self._items.update(dict.fromkeys(items))

    def clear(self) -> None:
        """Remove all items."""
        self._items.clear()

    def pop(self) -> T:
        """Remove and return the item added last."""
        if not self._items:
            raise KeyError("pop from an empty OrderedSet")
        return self._items.popitem()[0]

    def pop_first(self) -> T:
        """Remove and return the item added first."""
        for item in self._items:
            del self._items[item]
            return item
        raise KeyError("pop from an empty OrderedSet")

    def copy(self) -> OrderedSet[T]:
        """A shallow copy."""
        return OrderedSet(self._items)


class Worklist(Generic[T]):
    """A first-in, first-out queue in which an item waits at most once. Items may be added while it is iterated."""

    __slots__ = ("_queue", "_waiting")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._queue: deque[T] = deque()
        self._waiting: set[T] = set()
        for item in items:
            self.add(item)

    def add(self, item: T) -> None:
        """Put an item at the end, unless it waits already."""
        if item not in self._waiting:
            self._waiting.add(item)
            self._queue.append(item)

    def take(self) -> T:
        """Remove and return the first item; IndexError if there is none."""
        item = self._queue.popleft()
        self._waiting.discard(item)
        return item

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[T]:
        while self._queue:
            yield self.take()


class CycleError(ValueError):
    """A graph that should have no cycle has one. `cycle` lists its nodes, each a successor of the one before."""

    def __init__(self, cycle: list[object]) -> None:
        super().__init__("cycle: " + " -> ".join(str(node) for node in [*cycle, cycle[0]]))
        self.cycle = cycle


def postorder(roots: Iterable[T], successors: Callable[[T], Iterable[T]], *, allow_cycles: bool = False) -> list[T]:
    """All nodes reachable from `roots`, each after its successors (operands before users), each once.

    Args:
        roots: where to begin, in order.
        successors: the edges of a node, in order.
        allow_cycles: pass over an edge that closes a cycle, instead of raising.

    Raises:
        CycleError: there is a cycle.
    """
    done: dict[T, None] = {}
    open_: dict[T, None] = {}
    for root in roots:
        if root in done:
            continue
        open_[root] = None
        stack: list[tuple[T, Iterator[T]]] = [(root, iter(successors(root)))]
        while stack:
            node, edges = stack[-1]
            for successor in edges:
                if successor in done:
                    continue
                if successor in open_:
                    if allow_cycles:
                        continue
                    path = list(open_)
                    raise CycleError(list(path[path.index(successor) :]))
                open_[successor] = None
                stack.append((successor, iter(successors(successor))))
                break
            else:
                stack.pop()
                del open_[node]
                done[node] = None
    return list(done)


def topological_sort(nodes: Iterable[T], dependencies: Callable[[T], Iterable[T]]) -> list[T]:
    """`nodes` with each after those of its dependencies that are among them, otherwise in the given order.

    Raises:
        CycleError: there is none, because of a cycle.
    """
    wanted = OrderedSet(nodes)
    return postorder(wanted, lambda node: (other for other in dependencies(node) if other in wanted))


def reachable(roots: Iterable[T], successors: Callable[[T], Iterable[T]]) -> OrderedSet[T]:
    """All nodes reachable from `roots`, these included, breadth first."""
    found = OrderedSet(roots)
    queue = deque(found)
    while queue:
        for successor in successors(queue.popleft()):
            if successor not in found:
                found.add(successor)
                queue.append(successor)
    return found


def strongly_connected(roots: Iterable[T], successors: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """The strongly connected components reachable from `roots`, each after the components it leads to.

    (R. Tarjan, Depth-first search and linear graph algorithms, 1972; without recursion.)
    """
    index: dict[T, int] = {}
    low: dict[T, int] = {}
    path: dict[T, None] = {}
    components: list[list[T]] = []
    for root in roots:
        if root in index:
            continue
        stack: list[tuple[T, Iterator[T]]] = []

        def enter(node: T, stack: list[tuple[T, Iterator[T]]] = stack) -> None:
            index[node] = low[node] = len(index)
            path[node] = None
            stack.append((node, iter(successors(node))))

        enter(root)
        while stack:
            node, edges = stack[-1]
            for successor in edges:
                if successor not in index:
                    enter(successor)
                    break
                if successor in path:
                    low[node] = min(low[node], index[successor])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    component: list[T] = []
                    while node not in component:
                        component.append(path.popitem()[0])
                    components.append(component[::-1])
    return components
