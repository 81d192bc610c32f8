"""Reading and writing parts of tensors, views, in-place methods (syntax notes, section 6)."""

import numpy as np

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

V = T([0.0, 1.0, 2.0, 3.0, 4.0])
M = T([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])
C = ms.Tensor(np.arange(24).reshape(2, 3, 4).astype(np.float32))


@program(M, grad=0)
def get_int(x):
    return x[1] * x[-1] + x[0][2] + x[2, 0]


@program(V, grad=0)
def get_slices(x):
    return x[1:4] * x[:3] + x[-3:] - x[::2] + x[::-1][:3]


@program(C)
def get_mixed(x):
    return x[0, 1:, ::2], x[..., 1], x[:, None, 0].shape, x[1, ..., 2], x[None].shape, x[-1, -1, -1]


@program(M)
def get_with_true(x):
    return x[True].shape


@program(V, T([0, 2, 2]), grad=0)
def get_tensor_index(x, i):
    return x[i] * 2


@program(M)
def get_list_index(x):
    return x[[0, 2]], x[[0, 2], [1, 1]], x[:, [2, 0]], x[[0], 1:]


@program(M, T([True, False, True]), captured=False)
def get_mask(x, m):
    return x[m], x[x > 4]


@program(V, 2, 4)
def get_with_variable_bounds(x, i, j):
    return x[i:j], x[i], x[: x.shape[0] - 1], x[-i]


@program(V, T(3))
def get_with_scalar_tensor(x, i):
    return x[i], x[i - 1] + 1


@program(V)
def get_out_of_range_error(x):
    return x[7]


@program(V)
def too_many_indices_error(x):
    return x[0, 0]


@program(V)
def bad_index_error(x):
    return x["a"]


@program(M)
def set_int(x):
    x[0] = 5
    x[1, 2] = 7.5
    x[-1][0] = -1
    return x


@program(M, T([9.0, 8.0, 7.0]))
def set_slices(x, v):
    x[:, 1] = v
    x[0:2, ::2] = 0
    x[2] = v * 2
    return x


@program(M, T([0, 2]), T([1.0, 2.0, 3.0]))
def set_advanced(x, i, v):
    x[i] = v
    x[[1, 1], [0, 2]] = 5
    return x


@program(M)
def set_mask(x):
    x[x > 4] = 0
    return x


@program(M)
def set_list_value(x):
    x[0] = [1, 2, 3]
    x[:, 0] = (7, 8, 9)
    return x


@program(M)
def set_augmented(x):
    x[0] += 1
    x[:, 1] *= 2
    x[2, 2] -= 3
    return x


@program(V, grad=0)
def gradient_through_set_on_temporary(x):
    y = x * 2
    y[1] = 0
    y[2:] = x[2:] * x[0]
    return y * x


@program(T([1, 2, 3]))
def set_casts_to_the_tensor(x):
    x[0] = 9.7
    return x


@program(M)
def view_of_index_is_written(x):
    row = x[0]
    row[1] = 9
    return x, row


@program(M)
def view_of_reshape_is_written(x):
    flat = x.reshape(-1)
    flat[4] = -1
    cut = x.view(9)[1:3]
    cut[:] = 5
    return x, flat


@program(M)
def view_of_transpose_is_written(x):
    t = x.T
    t[0] = 5
    x[2, 1] = -3
    return x, t


@program(M)
def base_write_is_seen_in_view(x):
    row, column = x[1], x[:, 0]
    x[1] = 0
    x[:, 0] = 1
    return row, column


@program(M)
def split_parts_are_views(x):
    a, b, c = x.split(1, axis=0)
    b[0, 0] = 50
    return x, a, c


@program(V)
def argument_changed_for_the_caller(x):
    x[0] = 100
    return x.sum()


@program(V)
def alias_by_assignment(x):
    y = x
    y[0] = 4
    return x is y, x


@program(V, T([1.0, 1.0, 1.0, 1.0, 1.0]))
def in_place_methods(x, y):
    x.add_(y)
    x.mul_(2)
    x.sub_(y)
    x.div_(4)
    return x, x.add_(1) is x


@program(V)
def in_place_on_view(x):
    x[1:3].add_(10)
    return x


@program(V)
def fill_zero_copy(x):
    y = ops.ones_like(x)
    x[0:1].fill_(7)
    z = y.copy()
    z.zero_()
    y[1:].copy_(x[1:])
    return x, y, z


@program(V, grad=0)
def gradient_through_in_place(x):
    y = x * 3
    y.add_(x)
    return (y * y).sum()


@program(V, grad=0)
def gradient_through_view_write(x):
    y = x * 1
    part = y[1:3]
    part[:] = x[:2] * x[3]
    return (y * y).sum()


@program(V)
def write_in_branch(x):
    if x.sum() > 3:
        x[0] = -1
    else:
        x[1] = -1
    return x


@program(V)
def write_in_loop(x):
    for i in range(len(x)):
        x[i] = x[i] * i
    return x


@program(V)
def write_in_tensor_loop(x):
    i = 0
    while x.sum() < 40:
        x[i] = x[i] + 10
        i += 1
    return x, i


@program(M)
def copies_do_not_alias(x):
    y, z, w = x.copy(), x + 0, x[[0]]
    x[0] = 9
    return y, z, w


@program(C)
def shapes_and_rearrangement(x):
    return (
        x.transpose(2, 0, 1).shape, x.swapaxes(0, 2).shape, x.permute(1, 0, 2)[0], x.squeeze().shape,
        x.expand_dims(0).shape, x.flatten().shape, x.reshape(6, -1).shape, x.tile((2, 1, 1)).shape,
    )  # fmt: skip


@program(M)
def gather_and_where(x):
    return ops.where(x > 4, x, -x), x.masked_fill(x > 4, 0.0), ops.gather(x, ms.Tensor([2, 0]), 0)


@program(M)
def bad_reshape_error(x):
    return x.reshape(4, 2)


@program(V)
def saved_value_overwritten_still_right(x):
    y = x * 2
    z = y * y
    y[0] = 100
    return z, y


_PLACES = [(1, 2), (2, 3), (0, 0), (-1, 1), (3, -5), (4, 0), (1, 1)]


@program(calls=[(T([[1.0] * 3] * 6), T([[2.0] * 3] * 6), T([4.0, 5.0, 6.0]), i, j) for i, j in _PLACES])
def updates_at_places_that_vary(k, v, x, i, j):
    k[i] = x
    v[j] = k[i] * 2
    k[j + 1] = v[0] + x
    k[i : i + 2] = x * 3
    return k[j].sum() + v[i].sum()


@program(
    calls=[(T([[1.0] * 3] * 6), T([[2.0] * 3] * 6), T([4.0, 5.0, 6.0]), i, j) for i, j in [*_PLACES, (2, 6), (6, 2)]]
)
def updates_at_places_that_vary_and_one_is_outside_error(k, v, x, i, j):
    k[i] = x
    v[j] = x * 2
    return k[j - 1].sum()


@program(calls=[(T([[float(a * b) for a in range(6)] for b in range(5)]), i) for i in (0, 1, -2, 4)])
def small_parts_of_what_is_transposed(x, i):
    y = x.reshape(5, 2, 3).transpose(2, 0, 1)
    return x.T[3, 4], x.T[i], x.swapaxes(0, 1)[1:2, ::-2], y[1, i], y[:, i, 1].sum(), y[i % 3], x.T[i + 1, i]


@program(calls=[(T([[1.0] * 3] * 4), i) for i in (0, 1, 2, 3)])
def a_part_outside_of_what_is_transposed_error(x, i):
    return x.T[i].sum()


@program(V, grad=0)
def grids_and_filled_tensors_are_written(x):
    rows, columns = ops.meshgrid(x, x * 2)
    rows[0] = x[1]
    columns[:, 1] += rows[2]
    filled, alike, scalars = ms.numpy.full((2, 5), x), ms.numpy.full_like(rows, x), ms.numpy.full(3, -1.0)
    filled[0, 1] = x[4]
    scalars[1] = x[2]
    made = ops.FillV2()((2,), x[3])
    made[0] = 7.0
    return rows.sum() * columns.sum() + (filled * alike[:2]).sum() + (scalars * scalars).sum() + made.sum()
