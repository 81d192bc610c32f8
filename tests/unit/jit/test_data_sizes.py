"""Programs in which the size of a value depends on data are machine code, too."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, ops
from tests.unit.jit.native_calls import is_native, warmed


@pytest.mark.parametrize("n", [1, 5, 100, 70_000])
def test_reductions_of_selected_elements(n):
    x = Tensor(np.random.default_rng(n).standard_normal(n).astype(np.float32))

    def f(x):
        chosen = ops.masked_select(x, x > 0)
        return chosen.sum(), ops.exp(chosen * 0.1).sum()

    compiled = ms.jit(f)
    for _ in range(3):
        for made, wanted in zip(compiled(x), f(x), strict=True):
            assert made.asnumpy().tobytes() == wanted.asnumpy().tobytes()
    (version,) = compiled.explain().versions
    assert not version["in_python"]


def chosen(x, limit):
    return ops.masked_select(x, x > limit)


SIZES_THAT_DIFFER = {
    "product": lambda x: ops.matmul(chosen(x, 2).reshape(1, -1), ops.ones((4, 2))),
    "sum": lambda x: chosen(x, 2) + ops.ones(4),
    "fused": lambda x: (chosen(x, 4) * ops.exp(chosen(x, 2))).sum(),
    "stack": lambda x: ops.stack((chosen(x, 2), ops.ones(4))),
    "few": lambda x: ops.topk(chosen(x, 3), 3)[0],
    "none": lambda x: chosen(x, 9).max(),
}


@pytest.mark.parametrize("name", SIZES_THAT_DIFFER)
def test_sizes_are_checked_when_they_are_known(name):
    """What shape rules took to be equal may turn out not to be: eager's answer, whether that is an error or a value."""
    function, x = SIZES_THAT_DIFFER[name], Tensor(np.arange(6, dtype=np.float32))
    compiled = ms.jit(function)

    def answer(f):
        try:
            return f(x).asnumpy().tolist()
        except (ValueError, RuntimeError) as error:
            return type(error), str(error)

    assert [answer(compiled) for _ in range(3)] == [answer(function)] * 3


@pytest.mark.parametrize(
    "target",
    [lambda x: (chosen(x, 2) % 2).astype(ms.int32), lambda x: chosen(x, 3).reshape(-1, 2)],
    ids=["classes", "probabilities"],
)
def test_a_loss_wants_one_target_per_row(target):
    compiled, x = ms.jit(lambda x: ops.cross_entropy(ops.ones((4, 2)), target(x))), Tensor(np.arange(6, dtype="f"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\b4, "):
            compiled(x)


def head(x, mask):
    return x[: int(mask.sum())].sum()


def cubes_of_a_branch(x, mask):
    if x.sum() > 0:
        chosen = x[mask]
        return (chosen * chosen * chosen).sum()
    return x.sum()


@pytest.mark.parametrize("function", [head, cubes_of_a_branch])
@pytest.mark.parametrize("order", [1, 2])
def test_backward_graphs_get_what_tells_the_sizes_that_only_attributes_mention(function, order):
    x, mask = Tensor([1.0, 2.0, 0.5, 3.0]), Tensor([True, False, True, True])

    def gradient(fn):
        def first(x):
            return ms.grad(fn)(x, mask)

        return first if order == 1 else ms.grad(lambda x: (first(x) * x).sum())

    compiled = ms.jit(function)
    for _ in range(3):
        for given in (x, -x):
            assert gradient(compiled)(given).tolist() == gradient(function)(given).tolist()
    assert not compiled.explain().fallbacks


def masks(n):
    """Masks of ``n`` elements: none, some and all."""
    random = np.random.default_rng(0)
    return [Tensor(random.random(n) < share) for share in (0.0, 0.3, 0.7, 1.0)]


def two_by_a_mask(x, y, mask):
    return (x[mask] * y[mask]).sum()


def two_by_masks_that_are_computed_twice(x, y, mask):
    return (x[x[:, 0] > 0] * y[x[:, 0] > 0]).sum()


def two_by_one_number(x, y, mask):
    n = int(mask.sum())
    return (x[:n] * y[:n]).sum() + (x[n::2] - y[n::2]).sum()


def two_selections(x, y, mask):
    mask = mask.reshape(-1, 1).broadcast_to(x.shape)
    return (mint.masked_select(x, mask) * mint.masked_select(y, mask)).sum()


def in_a_branch(x, y, mask):
    chosen = x[mask]
    if chosen.shape[0] > 1:
        return (chosen * y[mask]).sum()
    return y.sum()


def in_a_loop(x, y, mask):
    total = x.sum()
    for k in range(3):
        total = total + (x[y[:, k] > 0] * y[y[:, k] > 0]).sum()
    return total


def in_a_loop_of_unknown_length(x, y, mask):
    total, k = (x * 0).sum(), 0
    while total < 8 and k < 3:
        total, k = total + 1 + (x[x[:, 0] > 0] * 0.5).sum(), k + 1
    return total


EQUAL_SIZES = [
    two_by_a_mask, two_by_masks_that_are_computed_twice, two_by_one_number, two_selections, in_a_branch, in_a_loop,
    in_a_loop_of_unknown_length,
]  # fmt: skip


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("function", EQUAL_SIZES, ids=lambda function: function.__name__)
def test_what_one_mask_or_number_selects_is_equally_long(function, mode):
    """Also under a gradient, which has to know whether operands were broadcast."""
    random, fullgraph = np.random.default_rng(1), mode != "trace"  # a trace leaves where another decision is taken
    compiled = ms.jit(function, capture_mode=mode, fullgraph=fullgraph)
    gradient = ms.value_and_grad(function, (0, 1))
    of_gradient = ms.jit(lambda *args: gradient(*args), capture_mode=mode, fullgraph=fullgraph)
    for mask in masks(6) * 2:
        x, y = (Tensor(random.standard_normal((6, 3)).astype(np.float32)) for _ in range(2))
        assert bits(compiled(x, y, mask)) == bits(function(x, y, mask))
        assert bits(of_gradient(x, y, mask)) == bits(gradient(x, y, mask))
    for f, args in ((compiled, (x, y, mask)), (of_gradient, (x, y, mask))):
        assert is_native(warmed(f, *args), *args)


def bits(value):
    if isinstance(value, tuple | list):
        return [bits(v) for v in value]
    return (str(value.dtype), value.shape, value.asnumpy().tobytes()) if isinstance(value, Tensor) else value


DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"]


def found(x, mask):
    return x.nonzero(), mask.nonzero(), x[mask], mint.masked_select(x, x != 1), mask.sum()


def slices(x, mask):
    n = int(mask.sum())
    return x[:n], x[-n:], x[n::-1], x[:, n : n + 2], x[9:n:-2], x[:, :-n:3], x[n - 9 :]


def of_a_branch(x, mask):
    rows = x[mask] if mask.sum() > 2 else x[:1]
    return rows, rows.sum(), x[mask]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [found, slices, of_a_branch], ids=lambda function: function.__name__)
def test_results_whose_sizes_the_program_finds(function, dtype):
    """They are results of native calls, empty ones included."""
    numbers = np.random.default_rng(2).integers(-1, 2, (5, 4)).astype(dtype)
    if numbers.dtype.kind in "fc":
        numbers[0, :3] = np.nan, -0.0, np.inf
    x, compiled = Tensor(numbers), ms.jit(function, fullgraph=True)
    for mask in masks(5) * 2:
        assert bits(compiled(x, mask)) == bits(function(x, mask))
    if dtype != "complex64" or function is not found:  # `nonzero` of complex numbers is NumPy's
        assert is_native(warmed(compiled, x, mask), x, mask)


def test_native_results_of_late_sizes_own_their_memory():
    compiled = ms.jit(lambda x, mask: (x[mask], x[mask] * 2))
    x, none, every = Tensor(np.arange(64, dtype=np.float32)), Tensor(np.zeros(64, bool)), Tensor(np.ones(64, bool))
    kept = [compiled(x, mask) for mask in (every, none, every) * 4]
    kept[0][0][:] = -1.0
    assert is_native(compiled, x, every)
    for (rows, doubled), n in zip(kept[1:], [0, 64, *(64, 0, 64) * 3], strict=True):
        assert rows.tolist() == x.tolist()[:n] and doubled.tolist() == (x * 2).tolist()[:n]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_hits_of_masks_of_any_length(share):
    """Eight elements at a time, those of another length behind them, and masks that begin anywhere."""
    random = np.random.default_rng(5)
    compiled = ms.jit(lambda x, mask, wide: (mint.masked_select(x, mask), mask.nonzero(), wide.nonzero(), mask.sum()))
    for n in (*range(41), 127, 128, 1000, 4099):
        for start in (0, 1, 5):
            mask = (random.random(n + start) < share)[start:]
            wide = (random.random((3, n)) < share)[:, : max(1, n - start)]
            x = random.standard_normal(n).astype(np.float32)
            found = compiled(Tensor(x), Tensor(mask), Tensor(wide))
            assert found[0].asnumpy().tobytes() == x[mask].tobytes()
            assert np.array_equal(found[1].asnumpy(), np.argwhere(mask))
            assert np.array_equal(found[2].asnumpy(), np.argwhere(wide))
            assert found[3] == mask.sum()


def test_bools_that_are_views_of_other_bytes():
    bytes_ = np.random.default_rng(6).integers(0, 256, 203).astype(np.uint8)
    bytes_[::3] = 0
    mask, x = Tensor(bytes_.view(bool)), Tensor(np.arange(203, dtype=np.float32))
    compiled = ms.jit(lambda x, mask: (mint.masked_select(x, mask), x[mask], mask.nonzero()))
    for _ in range(3):
        selected, taken, places = (found.tolist() for found in compiled(x, mask))
        assert selected == taken == np.flatnonzero(bytes_).tolist() and places == [[int(k)] for k in selected]
