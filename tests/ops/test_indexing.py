"""Advanced indexing against NumPy on generated indices: values, shapes, writing, and the batch rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.ops.advanced_indexing import advanced_get, advanced_put
from duograph.tensor.tensor import wrap


@st.composite
def indexings(draw: Any) -> tuple[np.ndarray, tuple[Any, ...], list[np.ndarray]]:
    """An array, a spec for some of its axes, and index arrays that broadcast."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    block = draw(st.sampled_from([(3,), (2, 3), (1,), (0,), ()]))
    spec: list[Any] = []
    indices: list[np.ndarray] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if draw(st.booleans()) and len(spec) < 7:
            spec.append(None)
        match draw(st.sampled_from(["slice", "int", "index", "index"])):
            case "slice":
                bound = st.one_of(st.none(), st.integers(-n - 1, n + 1))
                spec.append((draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2]))))
            case "int":
                spec.append(draw(st.integers(-n, n - 1)))
            case "index":
                own = draw(st.sampled_from([block, block[1:], tuple(1 for _ in block)]))
                size = int(np.prod(own))
                flat = draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
                indices.append(np.array(flat, np.int64).reshape(own))
                spec.append("index")
    return x, tuple(spec), indices


def numpy_index(spec: tuple[Any, ...], indices: list[np.ndarray]) -> tuple[Any, ...]:
    rest = iter(indices)
    return tuple(slice(*e) if isinstance(e, tuple) else next(rest) if e == "index" else e for e in spec)


@settings(max_examples=300, deadline=None)
@given(indexings())
def test_get_and_put(case: Any) -> None:
    x, spec, indices = case
    index = numpy_index(spec, indices)
    want = np.asarray(x[index])
    operands = [wrap(i) for i in indices]
    got = advanced_get(wrap(x), *operands, spec=spec)
    np.testing.assert_array_equal(got.array(), want)
    promised = advanced_get.infer(wrap(x).abstract, *[i.abstract for i in operands], spec=spec)
    assert tuple(promised.shape) == want.shape
    value = np.asarray(-1.0 - np.arange(float(want.size)).reshape(want.shape))
    put = advanced_put(wrap(x), wrap(value), *operands, spec=spec)
    expected = x.copy()
    expected[index] = value
    np.testing.assert_array_equal(put.array(), expected)
    added = advanced_put(wrap(x), wrap(value), *operands, spec=spec, reduction="add")
    expected = x.copy()
    np.add.at(expected, index, value)
    np.testing.assert_array_equal(added.array(), expected)


@settings(max_examples=200, deadline=None)
@given(indexings(), st.integers(1, 7))
def test_batch_rule(case: Any, choice: int) -> None:
    x, spec, indices = case
    flags = [bool(choice >> min(k, 2) & 1) for k in range(1 + len(indices))]
    if not any(flags):
        flags[0] = True
    parts = [
        np.stack([a, np.flip(a, 0) if a.ndim else a]) if f else a for a, f in zip([x, *indices], flags, strict=True)
    ]
    in_axes = tuple(0 if f else None for f in flags)
    got, axis = advanced_get.batch(in_axes, tuple(wrap(p) for p in parts), spec=spec)
    assert axis == 0
    for b in range(2):
        each = [p[b] if f else p for p, f in zip(parts, flags, strict=True)]
        np.testing.assert_array_equal(got.array()[b], each[0][numpy_index(spec, each[1:])])
    value = np.asarray(-1.0 - np.arange(float(got.array()[0].size)).reshape(got.shape[1:]))
    operands = tuple(wrap(p) for p in (parts[0], value, *parts[1:]))
    put, _ = advanced_put.batch((in_axes[0], None, *in_axes[1:]), operands, spec=spec, reduction="none")
    for b in range(2):
        each = [np.array(p[b]) if f else p.copy() for p, f in zip(parts, flags, strict=True)]
        each[0][numpy_index(spec, each[1:])] = value
        np.testing.assert_array_equal(put.array()[b], each[0])
