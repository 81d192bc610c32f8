"""What a program of several paths hands over: the paths share slots, as only one of them is taken."""

from __future__ import annotations

import duograph as ms
from duograph import Tensor


def compiled(function, *args):
    f = ms.jit(function)
    results = [f(*args), f(*args)]
    (version,) = f.explain().versions
    (entry,) = f._own.compiled
    return results, version["paths"], len(entry.program.graph.output.type.items)


def growing(x):
    out = {}
    for i in range(12):
        x = x + 1
        out[i] = x
        if x.sum() > 20 * i + 5:
            break
    return list(out.values())


def test_a_list_that_grows_needs_one_slot_per_element():
    results, paths, outputs = compiled(growing, Tensor([1.0, 2.0]))
    assert [[x.tolist() for x in r] for r in results] == [[x.tolist() for x in growing(Tensor([1.0, 2.0]))]] * 2
    assert paths == 13 and outputs == 13  # the elements, and the number of the path


def kinds(x):
    if x.sum() > 3:
        return x, x.astype(ms.int32)
    if x.max() > 3:
        return x.astype(ms.int32), x
    if x.min() > -1:
        return x
    return {"x": x * 2, "n": 1}


def test_outputs_of_different_types_are_apart():
    f = ms.jit(kinds)
    for values in ([1.0, 5.0], [-9.0, 4.0], [0.5, 0.5], [-3.0, 1.0]) * 2:
        x = Tensor(values)
        assert str(f(x)) == str(kinds(x))
    (version,) = f.explain().versions
    assert version["paths"] == 4 and not f.explain().fallbacks
