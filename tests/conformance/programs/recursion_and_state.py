"""Recursive functions that become graphs, and what is changed before, between and within their calls."""

from tests.conformance.harness import T, program

CALLS = [(30, T([1.0])), (50, T([2.0])), (10, T([3.0])), (100, T([1.0]))]
GAIN = 1
HELD = [1]
WEIGHT = T([1.0])


class Settings:
    gain = 1


class Tree:
    pass


def _grown(n, x):
    return x if x.sum() > n else _grown(n, x * 2 + WEIGHT + GAIN + HELD[0])


@program(calls=CALLS, WEIGHT=T([1.0]))
def a_tensor_written_between_two_calls(n, x):
    y = _grown(n, x)
    WEIGHT.add_(1.0)
    return y, _grown(n, x)


@program(calls=CALLS, WEIGHT=T([1.0]))
def a_tensor_written_on_one_path_only(n, x):
    if n > 40:
        WEIGHT.add_(1.0)
        return _grown(n, x)
    return _grown(n, x)


@program(calls=CALLS, GAIN=1)
def a_global_written_between_two_calls(n, x):
    global GAIN
    y = _grown(n, x)
    GAIN = 5
    return y, _grown(n, x)


@program(calls=CALLS, HELD=[1])
def a_list_written_between_two_calls(n, x):
    y = _grown(n, x)
    HELD[0] = 5
    return y, _grown(n, x)


@program(calls=CALLS)
def a_variable_written_between_two_calls(n, x):
    gain = 1

    def grown(x):
        return x if x.sum() > n else grown(x * 2 + gain)

    y = grown(x)
    gain = 5
    return y, grown(x)


@program(calls=CALLS)
def an_argument_written_between_two_calls(n, x):
    def grown(x, held):
        return x if x.sum() > n else grown(x * 2 + held[0], held)

    held = [1]
    y = grown(x, held)
    held[0] = 5
    return y, grown(x, held)


@program(calls=CALLS, GAIN=1)
def a_global_written_in_a_loop_of_calls(n, x):
    global GAIN
    total = x
    for GAIN in range(3):
        total = total + _grown(n, x)
    return total


@program(calls=CALLS)
def calls_that_nothing_comes_between(n, x):
    def grown(x):
        if x.sum() > n:
            return x
        return grown(x * 2 + 1) + grown(x * 3)

    return [grown(x + i) for i in range(3)], grown(x) + grown(x)


@program(calls=CALLS, captured=False)
def a_number_of_calls_is_counted(n, x):
    count = 0

    def grown(x):
        nonlocal count
        count += 1
        return x if x.sum() > n else grown(x * 2)

    return grown(x), count


@program(calls=CALLS, captured=False)
def the_depth_is_a_variable(n, x):
    depth = 0

    def grown(x):
        nonlocal depth
        if x.sum() > n:
            return x
        depth += 1
        y = grown(x * 2 + depth)
        depth -= 1
        return y

    return grown(x), depth


def _deeper(n, x):
    global GAIN
    if x.sum() > n:
        return x
    GAIN += 1
    y = _deeper(n, x * 2 + GAIN)
    GAIN -= 1
    return y


@program(calls=CALLS, captured=False, GAIN=1)
def the_depth_is_a_global(n, x):
    return _deeper(n, x), GAIN


@program(calls=CALLS, captured=False)
def the_depth_is_the_length_of_a_list(n, x):
    path = [0]

    def grown(x):
        if x.sum() > n:
            return x
        path.append(1)
        y = grown(x * 2 + len(path))
        path.pop()
        return y

    return grown(x), path


@program(calls=CALLS, captured=False)
def the_depth_is_an_attribute(n, x):
    tree = Tree()
    tree.depth = 1

    def grown(x):
        if x.sum() > n:
            return x
        tree.depth *= 2
        y = grown(x + tree.depth)
        tree.depth //= 2
        return y

    return grown(x), tree.depth


@program(calls=CALLS, captured=False)
def the_depth_is_an_attribute_of_a_class(n, x):
    def grown(x):
        if x.sum() > n:
            return x
        Settings.gain += 1
        y = grown(x * 2 + Settings.gain)
        Settings.gain -= 1
        return y

    return grown(x), Settings.gain


def _halved(k, x):
    if k <= 0:
        return x
    if k % 2:
        pass
    return _halved(k - 2, x * 2)


@program(calls=[(1, T([1.0])), (7, T([1.0])), (-2, T([1.0])), (5, T([1.0]))])
def a_decision_after_recursion_by_a_number(n, x):
    """One path makes a graph of the function; on the next, the code before the decision must run as it did."""
    y = _halved(n % 6, x)
    between = abs(1 < n < 5)
    if between > 5:
        y += 1
    return between
