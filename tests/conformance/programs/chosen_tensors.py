"""What a tensor is besides its value (class, attributes, whose memory, whose gradient), where the program chooses it
while it runs: in a branch, a loop, a recursive function, or in a function that is called between graph breaks."""

import time

import duograph as ms
from duograph import Parameter, nn
from tests.conformance.harness import T, program

CALLS = [(T([1.0, 2.0]),), (T([-1.0, -2.0]),), (T([3.0, -1.0]),), (T([8.0, 9.0]),)]
FIRST = Parameter(T([1.0, 2.0]), name="first")
SECOND = Parameter(T([1.0, 3.0]), name="second", requires_grad=False)
HELD = T([1.0, 2.0])


@program(calls=CALLS)
def one_of_two_parameters(x):
    w = FIRST if x.sum() > 0 else SECOND
    return w.name, w.requires_grad, isinstance(w, Parameter), w * x


@program(calls=CALLS, captured=False)
def parameters_that_change_places_in_a_loop(x):
    v, w = FIRST, SECOND
    while (x * x).sum() < 100:
        x = x + w + 1
        v, w = w, v
    return x, w.name, isinstance(w, Parameter)


@program(calls=CALLS)
def a_loop_begins_with_a_parameter(x):
    w = FIRST
    x = x * x + 1
    while x.sum() < 100:
        x = x * w + 1
        w = w + 1
    return x, w * 2


@program(calls=CALLS, captured=False)
def a_loop_without_iterations_gives_a_parameter(x):
    w = FIRST
    x = x * x + 1
    while x.sum() < 100:
        x = x * w + 1
        w = w + 1
    return x, w


@program(calls=CALLS, captured=False)
def a_loop_looks_whether_it_is_at_a_parameter(x):
    w = FIRST
    x = x * x + 1
    while x.sum() < 100:
        x = x * (2 if isinstance(w, Parameter) else 3)
        w = w + 1
    return x, w


def _parameter_or_not(x):
    while x.sum() < 100:
        x = x * 2 + 1
        if x.sum() > 30:
            return FIRST
    return x


@program(calls=CALLS, captured=False)
def a_loop_returns_a_parameter(x):
    w = _parameter_or_not(x * x)
    return isinstance(w, Parameter), w * 2


def _grown(x, w, y):
    if x.sum() > 300:
        return x
    return _grown(x * (2 if isinstance(w, Parameter) else 3) * (5 if w is y else 1) + w, w, y)


@program(calls=CALLS)
def a_recursive_function_gets_a_parameter(x):
    x = x * x + 1
    return _grown(x, FIRST, None), _grown(x, FIRST + 0, None)


@program(calls=CALLS, captured=False)
def a_recursive_function_gets_a_tensor_twice(x):
    x = x * x + 1
    return _grown(x, x, x), _grown(x, x, x + 0)


@program(calls=CALLS, captured=False)
def an_attribute_that_one_path_sets(x):
    a = x * 2
    if x.sum() > 0:
        a.tag = 1
    return getattr(a, "tag", 0), a


@program(calls=CALLS, captured=False, build=True)
def an_attribute_of_a_constant():
    def make(x):
        one = ms.Tensor(1)
        one.tag = 5
        return one

    made = ms.jit(make)
    return lambda x: made(x).tag


@program(calls=CALLS, captured=False)
def an_attribute_that_a_loop_sets(x):
    a = x * 2
    a.tag = 0
    while 0 < x.sum() < 50:
        x = x * 3
        a.tag = a.tag + 1
    return a.tag, x


@program(calls=CALLS, captured=False)
def an_attribute_of_what_a_path_gives(x):
    a, b = x * 2, x * 3
    a.tag, b.tag = 1, 2
    w = a if x.sum() > 0 else b
    return w.tag, w


@program(calls=CALLS, captured=False, build=True)
def an_attribute_of_the_result():
    def make(x):
        y = x * 2
        y.tag = 5
        return y

    made = ms.jit(make)
    return lambda x: made(x).tag


def _doubled_until(x, y):
    while x.sum() < 10:
        x, y = x * 2, x
    return y


@program(calls=CALLS, captured=False)
def written_is_what_a_called_loop_gives(x):
    """The function is cut at the write; what it calls then is compiled by itself, and must not give a copy."""
    x = x * x + 1
    y = x + 1
    z = _doubled_until(x, y)
    z.add_(5)
    return y, z, y is z


@program(calls=CALLS * 2, captured=False)
def a_called_loop_gives_its_argument_between_breaks(x):
    time.sleep(0)
    x = x * x + 1
    y = x + 1
    z = _doubled_until(x, y)
    time.sleep(0)
    z.add_(5)
    return y, z, y is z


def _early(x, y):
    while x.sum() < 100:
        x = x * 2 + 1
        if x.sum() > 30:
            return y
    return x


@program(calls=CALLS, captured=False)
def a_loop_returns_an_argument_that_is_written(x):
    y = x * x
    z = _early(y + 1, y)
    z.add_(5)
    return y, z


@program(calls=CALLS)
def a_gradient_of_the_parameter_that_was_chosen(x):
    w = FIRST if x.sum() > 0 else SECOND
    return ms.value_and_grad(lambda v: (v * w).sum(), None, [FIRST])(x)


@program(calls=CALLS)
def how_the_chosen_tensor_lies_in_memory(x):
    y = (x.reshape(2, 1) + x).T if x.sum() > 0 else x.reshape(2, 1) * x
    return y.is_contiguous(), y.stride(), y


@program(calls=CALLS, captured=False)
def numbers_of_what_is_not_mapped(x):
    """What is the same for a whole batch has a value, in dynamic mode, too."""
    y = x * x
    rows = ms.vmap(lambda v: v * int((y + 1).sum()) if y.sum() > 6 else v * y.tolist()[0])(y)
    return rows, ms.vmap(lambda v: [v, -v][int(y[0]) % 2])(x)


@program(calls=CALLS, captured=False)
def a_hook_that_one_path_takes_away(x):
    def loss(v):
        y = v * 2
        hook = y.register_hook(lambda d: d * 10)
        if v.sum() > 0:
            hook.remove()
        return (y * y).sum()

    return ms.grad(loss)(x)


@program(calls=CALLS, captured=False, build=True)
def a_hook_of_a_cell_for_each_call():
    cell = nn.ReLU()

    def call(x):
        hook = cell.register_forward_hook(lambda cell, given, out: out * 2)
        if x[0] > 2:
            hook.remove()
        return cell(x), len(cell._forward_hooks)

    return call


@program(calls=CALLS, captured=False, build=True)
def a_parameter_is_frozen_on_some_paths():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")

    def call(x):
        net.weight.requires_grad = bool(x[0] > 2)
        weights = [net.weight, net.bias]
        return len(net.trainable_params()), ms.grad(lambda v: net(v).sum(), None, weights)(x.reshape(1, 2))

    return call


@program(calls=CALLS, captured=False)
def a_dtype_that_one_path_sets(x):
    y = x * 2
    if x.sum() > 0:
        y.set_dtype(ms.float16)
    return y


def _held_or_not(x):
    global HELD
    if x.sum() > 0:
        HELD = x
    time.sleep(0)
    HELD.add_(1)
    return HELD


@program(calls=CALLS, captured=False, HELD=T([1.0, 2.0]))
def a_global_that_one_path_sets_before_a_break(x):
    global HELD
    HELD = T([1.0, 2.0])
    y = _held_or_not(x)
    return y, y is x, HELD is y, x


@program(calls=CALLS, captured=False)
def a_list_gets_what_a_path_chose_before_a_break(x):
    held = [x]
    held.append(x if x.sum() > 0 else x * 1)
    time.sleep(0)
    held[-1].add_(1)
    return x, held, held[0] is held[1]


@program(calls=CALLS, captured=False)
def a_list_that_holds_itself_beside_paths_error(x):
    """Found by fuzzing: whoever looked for chosen tensors in what a cut program gives went round in it."""
    held = [x, 1]
    held.append(held)
    time.sleep(0)
    assert x.sum() > 0
    return len(held[2][2]), held[0] * 2


@program(calls=[(T([1, 2]),), (T([100, 2]),), (T([3, 4]),)])
def one_with_an_attribute_or_another(x):
    x.tag = 7
    y = x
    if x.sum() > 100:
        y += 1
    return y, getattr(y, "tag", None), y is x


@program(calls=[(T([1, 2]),), (T([100, 2]),), (T([3, 4]),)])
def one_with_an_attribute_or_another_leaves(x):
    x.tag = 7
    if x.sum() > 100:
        x += x
    return x


@program(T([[1.0, 2.0], [3.0, 4.0]]), grad=0)
def equal_views_of_both_paths(x):
    """Not chosen: whichever path it is, they share the memory of the argument, and of each other."""
    if x.sum() > 3:
        return x[1], x.T[0][None], x * 2
    return x[1], x.T[0][None], x * 3


@program(calls=[(T([[1.0, 2.0], [3.0, 4.0]]),), (T([[-1.0, 2.0], [3.0, -4.0]]),)], grad=0)
def views_beside_what_is_found(x):
    y = x * 1
    return y[1], 3.0 in y, list(zip(y, [1, 2], strict=True)), y


@program(calls=[(T([[1.0, 2.0], [3.0, 4.0]]), 2), (T([[-1.0, 2.0], [3.0, -4.0]]), 3)], grad=0)
def equal_views_are_written_through(x, n):
    y = x * n
    if y.sum() > 3:
        y[0] *= 2
        row, same = y[1], y[0, 1:]
    else:
        row, same = y[1], y[0, :-1]
    row[0] = 9.0
    row.mul_(same.sum())
    return y, row
