"""Views share storage, in-place methods write through them; augmented assignment makes a new tensor."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.api.tensor_methods import Tensor
from duograph.core import dtype as dt


def fresh():
    return Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


VIEWS = {
    "reshape": lambda x: x.reshape(3, 2),
    "view": lambda x: x.view(6),
    "flatten": lambda x: x.flatten(),
    "ravel": lambda x: x.ravel(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(1, 0),
    "permute": lambda x: x.permute(1, 0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: x.movedim(0, 1),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.reshape(1, 2, 3).squeeze(0),
    "expand_dims": lambda x: x.expand_dims(1),
    "split": lambda x: x.split(1)[0],
    "chunk": lambda x: x.chunk(2, 1)[0],
    "tensor_split": lambda x: x.tensor_split(2, 1)[0],
    "unbind": lambda x: x.unbind(1)[0],
    "narrow": lambda x: x.narrow(1, 0, 2),
    "select": lambda x: x.select(1, 0),
    "diagonal": lambda x: x.diagonal(),
    "slice": lambda x: x[:, ::2],
    "int": lambda x: x[0],
    "iter": lambda x: next(iter(x)),
    "Tensor": lambda x: Tensor(x),
    "data": lambda x: x.data,
    "view_as": lambda x: x.view_as(Tensor(np.zeros((3, 2)))),
    "t": lambda x: x.t(),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_storage(name):
    x = fresh()
    y = VIEWS[name](x)
    first = (0,) * y.ndim
    y[first] = 100
    assert x[0, 0].item() == 100
    x[0, 0] = -1
    assert y[first].item() == -1
    y.add_(1)
    assert x[0, 0].item() == 0


@pytest.mark.parametrize(
    "copying",
    [
        lambda x: x.copy(),
        lambda x: x.clone(),
        lambda x: x.astype(dt.float64),
        lambda x: x[[0]],
        lambda x: x[x > 0],
        lambda x: x.flip(0),
        lambda x: x.T.reshape(6),
        lambda x: x.tile((1, 2)),
    ],
)
def test_copies_do_not(copying):
    x = fresh()
    y = copying(x)
    y[(0,) * y.ndim] = 100
    assert 100 not in x


def test_the_same_object():
    x = fresh()
    for y in (x.astype(dt.float32), x.to(dt.float32), x.contiguous(), x.value(), +x):
        assert y is x


def test_strides_tell_the_layout():
    x = fresh()
    assert x.stride() == [3, 1]
    assert x.T.stride() == [1, 3]
    assert x.T.strides == (4, 12)
    assert x.is_contiguous()
    assert not x.T.is_contiguous()
    assert x.T.contiguous().is_contiguous()
    assert x[1].storage_offset() == 3
    assert x[1].data_ptr() == x.data_ptr() + 12


def test_broadcast_views_read_but_refuse_writes():
    x = Tensor([1.0, 2.0])
    y = x.broadcast_to((3, 2))
    x[0] = 5
    assert y.tolist() == [[5, 2]] * 3
    with pytest.raises(RuntimeError):
        y[0] = 1


def test_augmented_assignment_makes_a_new_tensor():
    x = y = Tensor([1, 2])
    x += 1.5
    assert y.tolist() == [1, 2]
    assert x.dtype is dt.float32
    x[0] *= 2
    assert x.tolist() == [5, 3.5]


def _index(*values):
    return Tensor(list(values))


X = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]
INPLACE = [
    ("add_", (1,), {}, lambda a: a + 1),
    ("add_", (Tensor([1.0, 2.0, 3.0]),), {"alpha": 2}, lambda a: a + [2, 4, 6]),
    ("sub_", (1.5,), {}, lambda a: a - 1.5),
    ("mul_", (2,), {}, lambda a: a * 2),
    ("div_", (2,), {}, lambda a: a / 2),
    ("div_", (2,), {"rounding_mode": "floor"}, lambda a: np.floor(a / 2)),
    ("div_", (2,), {"rounding_mode": "trunc"}, lambda a: np.trunc(a / 2)),
    ("floor_divide_", (2,), {}, lambda a: a // 2),
    ("remainder_", (4,), {}, lambda a: a % 4),
    ("exp_", (), {}, np.exp),
    ("abs_", (), {}, np.abs),
    ("neg_", (), {}, np.negative),
    ("sign_", (), {}, np.sign),
    ("tanh_", (), {}, np.tanh),
    ("floor_", (), {}, np.floor),
    ("zero_", (), {}, lambda a: a * 0),
    ("fill_", (7,), {}, lambda a: a * 0 + 7),
    ("clamp_", (-1, 3), {}, lambda a: np.clip(a, -1, 3)),
    ("clamp_", (), {"min": 0}, lambda a: np.maximum(a, 0)),
    ("copy_", (Tensor([7, 8, 9]),), {}, lambda a: a * 0 + [7, 8, 9]),
    ("masked_fill_", (Tensor([True, False, True]), 9.0), {}, lambda a: np.where([True, False, True], 9, a)),
    (
        "masked_scatter_",
        (Tensor([[True, False, False], [False, True, False]]), Tensor([8.0, 9.0])),
        {},
        lambda a: np.array([[8, a[0, 1], a[0, 2]], [a[1, 0], 9, a[1, 2]]]),
    ),
    ("fill_diagonal_", (5.0,), {}, lambda a: np.where(np.eye(2, 3) > 0, 5, a)),
    ("index_add_", (1, _index(0, 0), Tensor([[1.0, 2.0], [3.0, 4.0]])), {}, lambda a: a + [[3, 0, 0], [7, 0, 0]]),
    ("index_copy_", (0, _index(1), Tensor([[7.0, 8.0, 9.0]])), {}, lambda a: np.stack([a[0], [7, 8, 9]])),
    ("index_fill_", (1, _index(0, 2), 5), {}, lambda a: np.stack([[5, a[0, 1], 5], [5, a[1, 1], 5]])),
    ("index_put_", ((_index(0), _index(1)), Tensor([9.0])), {}, lambda a: np.where([[0, 1, 0], [0, 0, 0]], 9, a)),
    ("index_put_", ((_index(0, 0),), Tensor(1.0), True), {}, lambda a: a + [[2], [0]]),
    (
        "scatter_",
        (1, Tensor([[0], [1]]), Tensor([[8.0], [9.0]])),
        {},
        lambda a: np.array([[8, a[0, 1], a[0, 2]], [a[1, 0], 9, a[1, 2]]]),
    ),
    (
        "scatter_add_",
        (1, Tensor([[0, 0], [1, 1]]), Tensor([[1.0, 2.0], [3.0, 4.0]])),
        {},
        lambda a: a + [[3, 0, 0], [0, 7, 0]],
    ),
    ("put_", (_index(0, 5), Tensor([7.0, 8.0])), {}, lambda a: np.array([[7, -2, 3], [4, 5, 8]])),
]


@pytest.mark.parametrize(
    ("name", "args", "options", "expected"), INPLACE, ids=[f"{i[0]}{n}" for n, i in enumerate(INPLACE)]
)
@pytest.mark.parametrize("layout", ["whole", "view"])
def test_in_place(name, args, options, expected, layout):
    array = np.array(X, np.float32)
    if layout == "whole":
        base = x = Tensor(array)
    else:
        base = Tensor(np.stack([array.T, array.T]))
        x = base[1].T
    with np.errstate(all="ignore"):
        want = expected(array).astype(np.float32)
    assert getattr(x, name)(*args, **options) is x
    np.testing.assert_allclose(x.asnumpy(), want, rtol=1e-6)
    if layout == "view":
        np.testing.assert_allclose(base.asnumpy()[1].T, want, rtol=1e-6)
        np.testing.assert_array_equal(base.asnumpy()[0].T, array)


def test_in_place_keeps_dtype_and_shape():
    i = Tensor([1, 2])
    i.mul_(Tensor([2, 3], dt.int32))
    assert i.dtype is dt.int64
    assert i.tolist() == [2, 6]
    with pytest.raises(TypeError, match="cannot be stored"):
        i.add_(1.5)
    with pytest.raises(ValueError, match="For 'add_', in order to broadcast"):
        i.add_(Tensor([[1], [2]]))
    assert i.tolist() == [2, 6]
    i.copy_(Tensor([1.9, 2.9]))
    assert i.tolist() == [1, 2]
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        i.copy_(3.0)


def test_random_fills():
    x = Tensor(np.zeros(1000, np.float32))
    x.uniform_(2, 3)
    assert ((x >= 2) & (x <= 3)).all()
    x.normal_(5, 0.1)
    assert abs(x.mean().item() - 5) < 0.1
    x.bernoulli_(0.5)
    assert set(x.tolist()) == {0.0, 1.0}
    x.exponential_()
    assert (x >= 0).all()
    x.random_(3)
    assert set(x.tolist()) == {0.0, 1.0, 2.0}


def test_values_written_see_old_overlaps():
    x = Tensor([1.0, 2.0, 3.0])
    x[1:] = x[:-1]
    assert x.tolist() == [1, 1, 2]
