"""Lists that loops make longer whose end depends on tensors: decoders, histories, searches."""

from __future__ import annotations

import functools

import duograph as ms
from duograph import nn, ops

from ..harness import T, program

NEXT = T([[0.0, 3.0, 1.0], [1.0, 0.0, 2.0], [4.0, 1.0, 0.0]])
STARTS = [(T(1), 12), (T(2), 30), (T(0), 30), (T(1), 12)]
X = T([[1.0, -2.0], [0.5, 3.0]])


@program(calls=STARTS)
def until_a_token_or_a_length(token, longest):
    seen = []
    while True:
        token = (NEXT[token] * (len(seen) + 1)).argmax()
        if token == 0 or len(seen) >= longest:
            break
        seen.append(token.item())
    return seen


@program(calls=STARTS)
def the_latest_element_is_the_next_input(token, longest):
    ids = [token]
    for _ in range(longest):
        following = (NEXT[ids[-1]] * len(ids)).argmax()
        ids.append(following)
        if following == 0:
            break
    return ops.stack(ids), len(ids)


@program(calls=STARTS)
def returned_from_within_the_loop(token, longest):
    seen = []
    for step in range(longest):
        token = (NEXT[token] + step % 3).argmax()
        if token == 0:
            return seen
        seen.append(token + step)
    return [seen, "too long"]


@program(calls=[(X, 40.0), (X, 3.0), (X, -100.0), (X, 900.0)])
def elements_of_several_values(x, limit):
    history = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        history.append((x.max(), len(history), (float(x.mean()), x > 2)))
    return history, x * 1


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def two_lists_one_of_them_in_a_branch(x, limit):
    every, some = [], [1.5]
    while x.sum() < limit:
        x = x * 1.5 + 1
        every.append(x * 1)
        if x[0, 1] > 4:
            some.append(float(x[0, 0]))
        elif x[0, 0] > 2:
            some.append(float(x[0, 1]))
            some.append(0.5)
    return every, len(every), some


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def in_an_inner_loop(x, limit):
    sums = []
    while x.sum() < limit:
        y = x
        while y.max() < 12:
            y = y + 3
            sums.append(y.sum())
        x = x * 2 + 1
    return sums


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def read_walked_and_asked_afterwards(x, limit):
    out = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        out.append((x.max(), len(out)))
    total = x * 0
    for value, k in out:
        total = total + value * k
    if out:
        total = total + out[-1][0] + out[0][1]
    return total, not out


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def concatenated(x, limit):
    rows = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        rows.append(x[:1] * 2)
    rows.append(x[1:] * 1)
    return ops.concat(rows), ms.mint.stack(rows, dim=0)


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def stacked_though_it_may_be_empty_error(x, limit):
    rows = []
    while x.sum() + 20 < limit:
        x = x * 1.5 + 1
        rows.append(x.sum())
    return ops.stack(rows)


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def written_to_after_it_was_appended(x, limit):
    out = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        y = x * 2
        out.append(y)
        y += 1
        y[0] = 5
    return out


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def one_tensor_appended_again_and_again(x, limit):
    out, shown = [], x * 1
    while x.sum() < limit:
        x = x * 1.5 + 1
        shown[0] = x[1]
        out.append(shown)
    return len(out), [o.sum() for o in out[:2]]


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def appended_twice(x, limit):
    out = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        y = x + 1
        out.append(y)
        out.append(y)
    return [a is b for a, b in zip(out[::2], out[1::2])], len(out)


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def held_by_a_bound_method_and_a_partial_object(x, limit):
    out, other = [], []
    push = out.append
    add = functools.partial(list.append, other)
    while x.sum() < limit:
        x = x * 1.5 + 1
        push(float(x.sum()))
        other.append(1)
        add(len(other))
    return out, other


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def known_by_two_names(x, limit):
    out = []
    held = {"out": out}
    while x.sum() < limit:
        x = x * 1.5 + 1
        out.append(x.sum())
    return held


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def shown_summed_and_reversed(x, limit):
    out = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        out.append(float(x.sum()))
    print(len(out), sum(out), out[::-1])
    return sorted(out, reverse=True)


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def elements_of_other_types(x, limit):
    out = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        out.append(x.sum() if len(out) % 2 else len(out))
    return out


HISTORY, STEPS = [], []


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], HISTORY=[], STEPS=["first"])
def histories_outside(x, limit):
    while x.sum() < limit:
        x = x * 1.5 + 1
        HISTORY.append(x.sum())
        if x.max() > 9:
            STEPS.append((2, float(x.max())))
    STEPS.append("last")
    return x * 1


@program(build=True, calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def histories_of_a_cell():
    class Searching(nn.Cell):
        def __init__(self):
            super().__init__()
            self.history = []

        def construct(self, x, limit):
            while x.sum() < limit:
                x = x * 1.5 + 1
                while x.max() < 5:
                    x = x + 1
                    self.history.append(x.sum())
            self.history.append(x.min())
            return self.history

    return Searching()


@program(X, grad=0, captured=False)
def the_gradient_of_what_was_collected(x):
    out = []
    while x.sum() < 90:
        x = x * 1.5 + 1
        out.append(x * x)
    return ops.stack(out).sum() + out[-1].max()


@program(calls=[(X, 40.0), (X, 3.0), (X, -100.0), (X, 900.0)])
def appended_before_the_step(x, limit):
    seen = []
    while x.sum() < limit:
        seen.append(x)
        x = x * 1.5 + 1
    return seen


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def appended_before_a_step_that_may_keep_it(x, limit):
    seen, k, y = [], 0, x
    while y.sum() < limit:
        seen.append(y)
        k += 1
        if y.max() > 4 or k > 2:
            y = y * 1.5 + k
    return len(seen), [s * 1 for s in seen[:3]]


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)])
def parts_of_what_was_made(x, limit):
    rows, flat = [], []
    while x.sum() < limit:
        x = x * 1.5 + 1
        y = x + 1
        rows.append(y[0])
        flat.append((x * 2).reshape(4)[1:])
    return rows, flat


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def held_by_the_arguments_of_a_partial_object(x, limit):
    found, others = [], []
    count, total = functools.partial(len, found), functools.partial(dict, values=others)
    while x.sum() < limit:
        x = x * 1.5 + 1
        found.append(x)
        others.append(x.sum())
    return count(), total()


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def held_by_the_arguments_of_an_exception(x, limit):
    found = []
    error = ValueError(found)
    while x.sum() < limit:
        x = x * 1.5 + 1
        found.append(x)
    return len(error.args[0])


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def replaced_and_still_held_by_others(x, limit):
    row, table, n = [x], {"x": x}, 0
    length, error, first = functools.partial(len, row), ValueError(table), row.count
    while x.sum() < limit:
        x = x * 1.5 + 1
        n += (length.args[0] is row) + 2 * (error.args[0] is table) + 4 * (first.__self__ is row)
        row, table = [x], {"x": x}
    return n, row[0] + table["x"]


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def parts_of_what_is_outside(x, limit):
    rows, k = [], 0
    while x.sum() < limit:
        x = x * 1.5 + 1
        rows.append(NEXT[k])
        k = (k + 1) % 3
    return rows


@program(calls=[(X, 40.0), (X, 0.5), (X, 900.0)])
def the_latest_of_an_empty_list_error(x, limit):
    found = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        found.append(float(x.max()))
    return found[-1]


@program(calls=[(X, 40.0), (X, 3.0), (X, 900.0)], captured=False)
def longer_while_it_is_walked_through(x, limit):
    found = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        found.append(x.sum())
    for value in found:
        if len(found) < 20:
            found.append(value * 2)
    return found


@program(calls=[(X.astype(ms.bfloat16), 40.0), (X.astype(ms.bfloat16), 3.0), (X.astype(ms.float16), 900.0)])
def of_half_types(x, limit):
    found = []
    while x.sum() < limit:
        x = x * 1.5 + 1
        found.append((x.max(), x * 2, x.astype(ms.int8) + 1))
    return found, found[-1][0] * 2 if found else x * 1
