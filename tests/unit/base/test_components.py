"""Strongly connected components."""

from hypothesis import given
from hypothesis import strategies as st

from duograph.base.components import strongly_connected


def graphs():
    edge = st.tuples(st.integers(0, 7), st.integers(0, 7))
    return st.lists(edge).map(lambda edges: {n: [b for a, b in edges if a == n] for n in range(8)})


def reachable(start, graph):
    found, work = {start}, [start]
    while work:
        new = set(graph[work.pop()]) - found
        found |= new
        work += new
    return found


@given(graphs())
def test_strongly_connected_against_reachability(graph):
    reach = {n: reachable(n, graph) for n in graph}
    components = strongly_connected(graph, graph.__getitem__)
    assert sorted(n for c in components for n in c) == sorted(graph)
    where = {n: i for i, c in enumerate(components) for n in c}
    for a in graph:
        for b in graph:
            assert (where[a] == where[b]) == (b in reach[a] and a in reach[b])
            if b in reach[a]:
                assert where[b] <= where[a]
