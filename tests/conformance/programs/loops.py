"""for and while (control-flow notes, sections 3, 4 and 8)."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0])


@program(X, grad=0)
def for_range(x):
    for i in range(3):
        x = x * 2 + i
    return x


@program(X, grad=0)
def for_2000(x):
    y = x
    for _ in range(2000):
        y = y * 1.0005
    return y


@program(X, 4)
def for_range_of_argument(x, n):
    total = x * 0
    for i in range(1, n, 2):
        total = total + x * i
    return total, i


@program(X, T(3))
def for_range_tensor(x, n):
    for i in range(n):
        x = x + i
    return x


@program(X, T(3), captured=False)
def for_range_int_of_tensor(x, n):
    for _ in range(int(n)):
        x = x * 2
    return x


@program(T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), grad=0)
def for_tensor_rows(x):
    y = x[0] * 0
    for row in x:
        y = y * 0.5 + row * row
    return y


@program(X)
def for_over_containers(x):
    out = []
    for i, (name, value) in enumerate(zip(["a", "b"], (x, x + 1))):
        out.append((i, name, value))
    for key in {"k": 1, "l": 2}:
        out.append(key)
    for c in "hi":
        out.append(c)
    return out


@program(X)
def for_else(x):
    for i in range(3):
        if i == 5:
            break
    else:
        x = x * 10
    for i in range(3):
        if i == 1:
            break
    else:
        x = x * 100
    return x, i


@program(X)
def for_break_continue(x):
    for i in range(10):
        if i % 2:
            continue
        if i > 6:
            break
        x = x + i
    return x, i


@program(calls=[(T([1.0, 2.0, 3.0, 4.0]),), (T([9.0, 2.0, 3.0, 4.0]),)], grad=0)
def for_tensor_break(x):
    total = x[0] * 0
    for v in x:
        if total > 4:
            break
        total = total + v
    return total


@program(calls=[(T([1.0, 2.0, 3.0]),), (T([9.0, 2.0, 3.0]),), (T([1.0, 1.0, 1.0]),)], grad=0, choice=True)
def for_tensor_return(x):
    for i in range(3):
        if x[i] > 2:
            return x * i
    return x


@program(T([1.0, -2.0, 3.0]), grad=0)
def for_tensor_continue(x):
    total = x[0] * 0
    for v in x:
        if v < 0:
            continue
        total = total + v * v
    return total


@program(X)
def loop_variable_afterwards(x):
    for i in range(4):
        y = x + i
    return i, y


@program(X)
def empty_loop_leaves_variable_error(x):
    for i in range(0):
        x = x + 1
    return i


@program(X)
def nested_for(x):
    total = 0
    for i in range(3):
        for j in range(i):
            total += i * j
            x = x + j
    return x, total


@program(X)
def list_growing_then_stack(x):
    out = []
    for i in range(4):
        x = x * 0.5 + i
        out.append(x)
    return ops.stack(out)


def countdown(n):
    while n > 0:
        yield n
        n -= 1


@program(X)
def for_generator(x):
    for n in countdown(3):
        x = x * n
    return x


@program(X, grad=0)
def while_tensor(x):
    while x.sum() < 50:
        x = x * x + 1
    return x


@program(X, grad=0)
def while_scalar_counter(x):
    i = 0
    while x.sum() < 100:
        x = x * 2
        i += 1
    return x * i


@program(X)
def while_counter_is_a_python_int(x):
    n = 0
    while x.sum() < 20:
        x = x + 1
        n += 2
    return n, n / 2, x


@program(X, 5)
def while_constant(x, n):
    while n > 0:
        x = x + n
        n -= 2
    return x, n


@program(calls=[(X,), (T([100.0, 0.0]),)], grad=0)
def while_zero_iterations(x):
    y = x * 3
    while y.sum() < 50:
        y = y * 2
    return y


@program(calls=[(X, T(3)), (X, T(100))], grad=0)
def while_return_inside(x, n):
    i = 0
    while x.sum() < 60:
        x = x * 2
        i += 1
        if n < i:
            return x * i
    return x


@program(X)
def while_true_break(x):
    while True:
        x = x * 2
        if x.max() > 30:
            break
    return x


@program(X)
def while_else(x):
    while x.sum() < 10:
        x = x + 1
    else:
        x = x * 100
    return x


@program(X)
def while_continue(x):
    i = 0
    while i < 6:
        i += 1
        if x.sum() > 8:
            continue
        x = x + i
    return x, i


@program(X)
def while_shape_change(x):
    while x.shape[0] < 10:
        x = ops.concat([x, x])
    return x


@program(X, captured=False)
def while_tensor_condition_shape_change(x):
    while x.sum() < 30:
        x = ops.concat([x, x])
    return x, x.shape


@program(T([1, 2]))
def while_dtype_change(x):
    while x.sum() < 10:
        x = x * 1.5
    return x


@program(X, grad=0)
def nested_while(x):
    while x.sum() < 100:
        y = x
        while y.sum() < 10:
            y = y * 2
        x = x + y
    return x


@program(X, captured=False)
def list_append_in_while(x):
    out = []
    while x.sum() < 30:
        x = x * 2
        out.append(x)
    return out, len(out)


@program(X)
def while_many_elements_error(x):
    while x < 3:
        x = x + 1
    return x


@program(X, grad=0)
def while_with_if(x):
    i = 0
    while i < 5:
        if x.sum() > 10:
            x = x - 3
        else:
            x = x * 2
        i += 1
    return x


@program(X)
def print_order(x):
    i = 0
    while x.sum() < 12:
        print("before", i)
        x = x * 2
        if x[0] > 2:
            print("large")
        i += 1
    print("done", i)
    return x


@program(X, captured=False)
def print_of_tensor_in_loop(x):
    for i in range(2):
        x = x + i
        print(i, x, x.shape)
    return x


@program(T([3.0, 1.0, 2.0]))
def bubble_sort(x):
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                t = x[j].copy()
                x[j] = x[j + 1]
                x[j + 1] = t
    return x


@program(T(2.0), grad=0)
def newton_root(a):
    x = a
    error = x * x - a
    while abs(error) > 1e-4:
        x = (x + a / x) / 2
        error = x * x - a
    return x


@program(T(27), captured=True)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps, n


@program(T(10))
def fibonacci_loop(n):
    a, b = ms.Tensor(0), ms.Tensor(1)
    i = 0
    while i < n:
        a, b = b, a + b
        i += 1
    return a


@program(X)
def random_numbers_in_loop(x):
    for _ in range(3):
        x = x + ops.rand(2)
    return x


@program(X)
def random_numbers_in_branch(x):
    if x.sum() > 0:
        y = ops.randn(2)
    else:
        y = ops.rand(2)
    return x + y, ops.rand(3)


@program(X)
def accumulate_in_dict(x):
    sums = {"even": x * 0, "odd": x * 0}
    for i in range(5):
        key = "odd" if i % 2 else "even"
        sums[key] = sums[key] + x * i
    return sums


@program(X, grad=0)
def second_value_from_loop(x):
    previous, current = x, x * 2
    for _ in range(4):
        previous, current = current, previous + current
    return previous * current


TABLE = T([[0.0, 3.0, 1.0], [1.0, 0.0, 2.0], [4.0, 1.0, 0.0]])


@program(calls=[(T(0), 4), (T(1), 4), (T(2), 1)])
def decoding_stops_at_a_token_or_a_length(token, longest):
    seen = []
    while True:
        token = (TABLE[token] * (len(seen) + 1)).argmax()
        if token == 0 or len(seen) >= longest:
            break
        seen.append(token.item())
    return seen, token


@program(calls=[(T(0), 9), (T(1), 9)])
def decoding_that_may_stop_at_every_step(token, longest):
    seen = []
    for step in range(longest):
        token = (TABLE[token] + step % 2 * T([0.0, 0.0, 3.0])).argmax()
        seen.append(token)
        if token == 0:
            break
        elif step % 5 == 4:
            continue
    return seen


@program(X, grad=0)
def for_long_in_long(x):
    total = 0  # becomes a tensor: the first iteration is peeled off
    for i in range(34):
        for j in range(33):
            total = total + x * i - j
            for k in range(35):
                x = x * 1.0001 + k / 4096
    return total


@program(X, T(40), 40)
def for_counted_in_counted(x, n, m):
    for i in range(n):
        for j in range(m):
            if x.sum() < i * j:
                break
            x = x + j
    return x, i, j


@program(calls=[(T(1.0), 2.0), (T(5.0), 9.0), (T(0.5), 2.0)])
def for_steps_of_newton(x, k):
    for i in range(20):
        value, slope = ms.value_and_grad(lambda t: t * t - k)(x)
        if value.abs() < 1e-3:
            return x, i
        x = x - value / slope
    return x, None


@program(calls=[(X, 5), (X, 50), (X, 5000)])
def for_left_with_what_was_collected(x, limit):
    weights, sums = list(range(12)), []
    for i in range(12):
        sums.append(x.sum() * weights[i])
        if x.max() > limit:
            break
        x = x * 2
    else:
        x = -x
    return x, sums
