"""if on tensors and on constants (control-flow notes, sections 1, 2 and 8)."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

P, N = T([1.0, 2.0]), T([-1.0, -2.0])
BOTH = [(P,), (N,)]

LOG = []  # each run sets its own value


@program(calls=BOTH, grad=0)
def if_tensor(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * x
    return y + 1


@program(calls=BOTH, grad=0)
def if_without_else(x):
    if x.sum() < 0:
        x = -x
    return x * 3


@program(calls=[(T(v),) for v in (0.5, 5.0, 50.0)], grad=0, choice=True)
def elif_chain(x):
    if x < 1:
        y = x
    elif x < 10:
        y = x * x
    else:
        y = x.sqrt()
    return y


@program(calls=BOTH, grad=0)
def nested_if(x):
    if x[0] > 0:
        if x[1] > 1:
            y = x * 2
        else:
            y = x * 3
    else:
        y = x * x if x[1] < -5 else -x
    return y


@program(calls=BOTH, grad=0)
def return_in_branches(x):
    if x.sum() > 0:
        return x * 2
    y = x * x
    if y.max() > 3:
        return y
    return x


@program(calls=BOTH)
def if_shape_mismatch(x):
    if x.sum() > 0:
        y = ops.concat([x, x])
    else:
        y = x
    return y * 2, y.shape


@program(calls=BOTH)
def if_rank_mismatch(x):
    if x.sum() > 0:
        y = x.reshape(1, 2)
    else:
        y = x
    return y, y.ndim


@program(calls=BOTH)
def if_dtype_mismatch(x):
    if x.sum() > 0:
        y = x.astype(ms.int32)
    else:
        y = x
    return y, y.dtype


@program(calls=BOTH)
def if_tensor_or_number(x):
    y = x if x.sum() > 0 else 1
    return y


@program(calls=BOTH)
def if_int_or_float(x):
    if x.sum() > 0:
        return 1
    return 2.5


@program(calls=BOTH)
def if_int_or_int(x):
    n = 3 if x.sum() > 0 else 4
    return n + 1, x * n


@program(calls=BOTH, choice=True)
def if_tensor_none(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        return x
    return y


@program(calls=BOTH)
def if_none_on_one_path(x):
    if x.sum() > 0:
        return x


@program(calls=BOTH)
def if_str(x):
    name = "up" if x.sum() > 0 else "down"
    return name, len(name)


@program(calls=BOTH)
def if_tuples_of_different_length(x):
    if x.sum() > 0:
        out = (x, x + 1)
    else:
        out = (x,)
    return out, len(out)


@program(calls=BOTH)
def if_dicts_with_different_keys(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x * 2
    return d


@program(calls=BOTH)
def if_list_grows(x):
    out = [x]
    if x.sum() > 0:
        out.append(x * 2)
    out.append(1)
    return out


@program(calls=BOTH, grad=0)
def if_function_select(x):
    f = (lambda v: v * 2) if x.sum() > 0 else (lambda v: v * v)
    return f(x)


@program(P)
def if_defined_in_taken_branch(x):
    if x.sum() > 0:
        y = x * 2
    return y


@program(N)
def if_undefined_error(x):
    if x.sum() > 0:
        y = x * 2
    return y


@program(P)
def if_on_many_elements_error(x):
    if x > 0:
        return x
    return -x


@program(calls=[(T([2.0]),), (T([-2.0]),)], grad=0)
def if_one_element_shape_1(x):
    if x > 0:
        return x * 2
    return x * x


@program(calls=BOTH, grad=0)
def ternary_value(x):
    return (x if x.sum() > 0 else -x) * 2


@program(calls=[(T(2.0), T(0.0)), (T(0.0), T(2.0))])
def and_or_in_condition(x, y):
    if x and not y:
        return x + 1
    if y or x:
        return y + 2
    return x


@program(calls=BOTH)
def raise_in_branch_error(x):
    if x.sum() < 0:
        raise ValueError(f"negative: {x.shape}")
    return x


@program(calls=BOTH)
def assert_tensor_error(x):
    assert x.sum() > 0, "must be positive"
    return x * 2


@program(calls=BOTH)
def print_in_branch(x):
    print("start")
    if x.sum() > 0:
        print("positive", 1)
    else:
        print("negative", 2)
    print("end")
    return x


@program(calls=BOTH, LOG=[])
def python_write_in_branch(x):
    if x.sum() > 0:
        LOG.append("up")
    else:
        LOG.append("down")
    return x


@program(calls=[(P, True), (P, False)], grad=0)
def if_constant_condition(x, flag):
    if flag:
        return x * 2
    return ops.concat([x, x])


@program(calls=[(P,), (T([[1.0]]),)])
def if_on_shape(x):
    if x.ndim == 1 and x.shape[0] == 2:
        return x.sum()
    return x


@program(calls=[(P,), ([P],), (2,)])
def if_isinstance(x):
    if isinstance(x, ms.Tensor):
        return x + 1
    if isinstance(x, list):
        return x[0] + 2
    return x * 3


@program(calls=[(T(4.0),), (T(-4.0),)], grad=0)
def gradient_never_nan_in_untaken_branch(x):
    if x > 0:
        return x.sqrt()
    return x * 0.5


@program(T([4.0, -4.0]), grad=0)
def where_is_an_operator(x):
    return ops.where(x > 0, x * 2, x * x)


@program(calls=[(T(2.0), T(3.0)), (T(3.0), T(2.0))], grad=(0, 1))
def swap_in_branch(a, b):
    if a > b:
        a, b = b, a
    return a * 10 + b


@program(calls=BOTH, choice=True)
def condition_from_bool_tensor_logic(x):
    if (x[0] > 0) & (x[1] > 1):
        return x
    return x - 1


@program(calls=BOTH, captured=False, choice=True)
def condition_from_item(x):
    if x.sum().item() > 0:
        return x * 2
    return x


@program(calls=BOTH, grad=0)
def different_outer_variables(x):
    a, b = x, x * 2
    if x.sum() > 0:
        a = a + 1
    else:
        b = b * b
    return a * b


@program(calls=BOTH)
def pass_and_constant_branch(x):
    if x.sum() > 0:
        pass
    if 0:
        x = None
    return x


@program(calls=BOTH, grad=0)
def pair_of_which_half_joins(x):
    # The tuple has no common value behind the branch; the tensor in it, which the list holds, too, has.
    pair, held, count = (x, 0.0), [x], 0
    if x.sum() > 0:
        pair, count = (x * 2, x.sum()), 1
    else:
        pair, count = (x * 3, 0.0), 2
    held[0] = pair[0]
    if x[0] > 0:
        pair = (held[0] + 1, 0.0)
        held[0] = pair[0]
        count = count + 1
    else:
        pair = (held[0] - 1, x.sum())
        held[0] = pair[0]
    return held[0] * x * count
