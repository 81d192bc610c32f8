"""The groups of a directed graph whose nodes all lead to each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["strongly_connected"]

T = TypeVar("T", bound=Hashable)


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
