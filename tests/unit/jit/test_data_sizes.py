"""Programs in which the size of a value depends on data are machine code, too."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops


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
    assert all("masked_select" in note for note in version["in_python"])


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
