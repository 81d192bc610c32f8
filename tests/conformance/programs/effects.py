"""Order and fate of effects: what has happened when an error comes, what is the same object, what shares memory."""

import contextlib

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.harness import T, program

X, Y = T([1.0, 2.0]), T([3.0, 4.0])
M = T([[1.0, 2.0], [3.0, 4.0]])
BOTH = [(X,), (-X,)]

LOG, COUNT, KEPT = [], 0, None  # each run sets its own values


@program(X, LOG=[])
def list_write_before_error(x):
    LOG.append("before")
    raise ValueError("stop")


@program(X, COUNT=0)
def global_write_before_index_error(x):
    global COUNT
    COUNT = 7
    return x[9]


@program(calls=BOTH, LOG=[])
def effects_before_conditional_error(x):
    print("one")
    LOG.append(1)
    if x.sum() < 0:
        LOG.append(2)
        raise RuntimeError("two")
    print("three")
    return x


@program(calls=BOTH, LOG=[])
def writes_before_conditional_error(x):
    LOG.append(1)
    if x.sum() < 0:
        LOG.append(2)
        raise RuntimeError("two")
    return x


@program(calls=BOTH, build=True)
def parameter_write_before_conditional_error():
    p = Parameter(Tensor([0.0, 0.0], ms.float32), name="p")

    def f(x):
        ops.assign_add(p, ops.ones_like(x))
        if x.sum() < 0:
            raise RuntimeError(f"{p.name}")
        return p + x

    return f


@program(calls=BOTH)
def argument_write_before_conditional_error(x):
    x[0] = 50
    if x[1] < 0:
        raise RuntimeError("negative")
    return x


@program(calls=BOTH)
def random_draw_before_conditional_error(x):
    y = ops.rand(2)
    if x.sum() < 0:
        raise RuntimeError("negative")
    return y, ops.rand(2)


@program(X)
def print_order_with_error(x):
    print("a", x.shape)
    y = x * 2
    print("b")
    return y @ T([[1.0], [2.0], [3.0]])


@program(calls=[(X, T([0])), (X, T([5])), (X, T([1]))])
def print_of_a_value_before_index_error(x, i):
    print("a", x.sum())
    y = ops.gather(x, i, 0)
    print("b")
    return y


@program(X, Y)
def returned_arguments_are_the_same_objects(x, y):
    return y, x, x


@program([X, Y])
def returned_list_is_the_argument(items):
    return items, items[0]


@program(M)
def returned_views_share_memory(x):
    return x[0], x.T, x.reshape(-1), x + 0


@program(M)
def returned_view_of_a_written_tensor(x):
    row = x[1]
    x[0] = 9
    row[0] = 7
    return row, x


@program(M)
def view_of_a_temporary(x):
    y = x * 2
    row = y[0]
    row[1] = 100
    return y, row


@program(calls=BOTH, choice=True)
def branch_returns_argument_or_new(x):
    return x if x.sum() > 0 else x * 1


@program(X)
def same_result_twice(x):
    y = x + 1
    return y, y, [y]


@program(X)
def equal_but_distinct_results(x):
    return x + 1, x + 1


@program(X, KEPT=None)
def tensor_kept_in_a_global(x):
    global KEPT
    KEPT = x * 3
    return KEPT


@program(calls=[(X,), (Y,)], KEPT=None)
def tensor_read_from_a_global(x):
    global KEPT
    before = KEPT
    KEPT = x
    return x if before is None else before + x


@program(X, {"out": None})
def tensor_written_into_a_dict_argument(x, d):
    d["out"] = x * 2
    d["same"] = x
    return d["out"] is d["out"], d["same"] is x


@program(X, [1, 2])
def argument_list_sorted_and_cleared(x, items):
    items.sort(reverse=True)
    first = items[0]
    items.clear()
    items.append(x)
    return first


@program(X, [[1], [2]])
def nested_argument_is_changed(x, rows):
    rows[0].append(x.shape[0])
    rows.append(rows[0])
    return rows[2] is rows[0]


class Node:
    def __init__(self, value, left=None):
        self.value, self.left = value, left


@program(X, Node(1, Node(2)))
def linked_objects_are_changed(x, node):
    node.left.value = x * node.value
    node.left.left = Node(3)
    node.value += 1
    return node.left.value


@program(calls=[(X, Node(1)), (X, Node(1)), (X, Node(2))])
def attribute_as_constant(x, node):
    return x * node.value


@program(X)
def evaluation_order(x):
    order = []

    def note(tag, value):
        order.append(tag)
        return value

    note("f", lambda a, b, c=0: a)(note("a", x), note("b", 1), c=note("c", 2))
    d = {note("k", "k"): note("v", x), note("k2", "l"): note("v2", 1)}
    order.append(note("left", 1) + note("right", 2))
    l = [0, 0]
    l[note("index", 1)] = note("value", 5)
    return order, d, l


@program(X)
def print_flush_and_file_arguments(x):
    print("a", "b", sep="", flush=True)
    print("c", end="")
    print("d")
    return x


@program(calls=BOTH)
def print_tensor_in_branch(x):
    if x.sum() > 0:
        print("positive", x)
    else:
        print(x * 2)
    print("end", x.sum())
    return x


@program(X, captured=False)
def print_in_nested_function_and_loop(x):
    def show(i, v):
        print(f"{i}: {v}")
        return v * 2

    for i in range(3):
        x = show(i, x)
    return x


@program(calls=[(X,), (X,)], build=True)
def effects_through_a_cell_and_a_closure():
    calls = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor([1.0, 1.0], ms.float32), name="p")

        def construct(self, x):
            calls.append(len(calls))
            ops.assign_add(self.p, x)
            return x * self.p

    net = Net()

    def f(x):
        y = net(x)
        z = net(y)
        return z, list(calls), net.p + 0

    return f


@program(X, grad=0)
def effects_do_not_disturb_gradients(x):
    seen = []
    y = x
    for i in range(3):
        y = y * x
        seen.append(i)
        if i == 1:
            y = y + len(seen)
    return y


@program(X, build=True)
def value_and_grad_runs_effects_once():
    p = Parameter(Tensor([0.0], ms.float32), name="p")

    def loss(x):
        ops.assign_add(p, Tensor([1.0], ms.float32))
        print("forward")
        return (x * x).sum() * p

    return lambda x: (ms.value_and_grad(loss)(x), p + 0)


@program(calls=[(X, 0), (X, 1), (X, 2), (X, 5)])
def while_with_python_counter_argument(x, n):
    while n < 3:
        x = x + n
        n += 1
    else:
        x = -x
    return x, n


@program(T([0.0, -0.0, float("nan"), float("inf")]))
def special_values_through_comparisons(x):
    return x == x, x > 0, x < 0, ops.maximum(x, T([1.0])), x.max(), ops.isnan(x), 1 / x, -x


@program(ms.Tensor([], ms.float32))
def empty_tensors(x):
    return x.sum(), x * 2, ops.concat([x, x]), x.shape, x.reshape(0, 3)


@program(T([1, 2, 3]), T([1.5, 2.5, 3.5], ms.float64))
def integers_and_doubles(n, d):
    return n * d, n / n, d.astype(ms.float32) + n, n.sum() / 2, d // n, (n > 1) * d


@program(calls=[(X,), (T([1, 2], ms.int32),), (X,)], captured=False)
def argument_that_is_given_another_dtype(x):
    x.set_dtype(ms.float64)
    return x * 2


@program(calls=[(X, Y), (Y, X), (X, Y)], captured=False)
def argument_that_becomes_another_handle(x, y):
    x.set_(y)
    x += 1
    return x * 2


@program(X, KEPT=T([1.0, 1.0]), captured=False)
def global_that_is_given_another_dtype(x):
    KEPT.set_dtype(ms.float64)
    return x + KEPT


@contextlib.contextmanager
def _telling(log):
    try:
        yield 2
    finally:
        log.append("closed")


@program(calls=[(T([1.0, 2.0]), [])] * 2, captured=False)
def a_context_dropped_behind_a_break_by_an_error(x, log):
    """Found by fuzzing: what a part of the function had raised while it was captured kept the frames around it."""
    manager = _telling(log)
    value = manager.__enter__()
    value.missing(None)
    return x * value


HISTORY: list = []
NOTES: dict = {}
SEEN: set = set()
THREE = [(X, 1), (-X, 2), (X * 3, 2), (-X, 1), (X, 3)]


@program(calls=THREE, HISTORY=[], NOTES={}, SEEN=set())
def writes_on_one_path(x, n):
    total = x.sum()
    if total > 0:
        HISTORY.append("positive")
        NOTES[n] = float(total)
        if x[0] > 2:
            HISTORY.extend([n, float(x[0])])
            SEEN.add(n)
        elif n > 1:
            HISTORY.append((n, "small"))
    else:
        HISTORY.append(float(total))
        SEEN.discard(1)
    HISTORY.append(n)
    return ops.tanh(x)


@program(calls=THREE, HISTORY=[1, 2], captured=False)
def writes_on_one_path_that_are_read(x, n):
    if x.sum() > 0:
        HISTORY.append(n)
    x = x * HISTORY[-1]
    if x[0] > 2:
        HISTORY.append(0)
    return x + len(HISTORY)


@program(calls=THREE, HISTORY=[], captured=False)
def tensors_that_are_kept_on_one_path(x, n):
    y = x * 2
    if y.sum() > 4:
        HISTORY.append(y)
    else:
        HISTORY.insert(0, [n])
    y += 1
    return y, HISTORY[0]
