"""Readable things: operators and protocols of the user, called by the program or by native code."""

from __future__ import annotations

import copy
import operator

from .readable import item, reads

SCALE = 3.0
scale_changed = item(globals(), "SCALE", 5.0)


class Operand:
    """Every operator reads a global of this module."""

    def __init__(self, v=1):
        self.v = v

    def __add__(self, other):
        return self.v * SCALE

    def __radd__(self, other):
        return self.v * SCALE

    def __neg__(self):
        return self.v * SCALE

    def __getitem__(self, key):
        return SCALE

    def __call__(self):
        return SCALE

    def __len__(self):
        return int(SCALE)

    def __bool__(self):
        return SCALE > 4

    def __eq__(self, other):
        return SCALE > 4

    def __hash__(self):
        return int(SCALE)

    def __lt__(self, other):
        return (self.v < other.v) == (SCALE > 4)

    def __contains__(self, v):
        return SCALE > 4

    def __iter__(self):
        return iter([SCALE])

    def __int__(self):
        return int(SCALE)

    def __float__(self):
        return SCALE

    def __index__(self):
        return int(SCALE)

    def __complex__(self):
        return complex(SCALE)

    def __str__(self):
        return str(SCALE)

    def __repr__(self):
        return str(SCALE)

    def __format__(self, spec):
        return str(SCALE)

    def __abs__(self):
        return SCALE

    def __round__(self, n=0):
        return SCALE

    def __floor__(self):
        return SCALE

    def __trunc__(self):
        return int(SCALE)

    def __divmod__(self, other):
        return (SCALE, SCALE)

    def __pow__(self, other, mod=None):
        return SCALE

    def __reversed__(self):
        return iter([SCALE])

    def __enter__(self):
        return SCALE

    def __exit__(self, *args):
        return SCALE > 4

    def __dir__(self):
        return ["a"] * int(SCALE)

    def __copy__(self):
        return Operand(SCALE)

    def __deepcopy__(self, memo):
        return Operand(SCALE)

    def __bytes__(self):
        return b"a" * int(SCALE)

    def __length_hint__(self):
        return int(SCALE)

    def __fspath__(self):
        return str(SCALE)

    def __sizeof__(self):
        return int(SCALE)


ONE, TWO = Operand(1), Operand(2)
PAIR = [ONE, TWO]


@reads(scale_changed)
def operand_added(x):
    return x * (ONE + 1)


@reads(scale_changed)
def operand_added_from_the_right(x):
    return x * (1 + ONE)


@reads(scale_changed)
def operand_called_and_indexed(x):
    return x * ONE() * ONE[0] * -ONE


@reads(scale_changed)
def operand_measured(x):
    return x * len(ONE)


@reads(scale_changed)
def operand_is_true(x):
    return x * (2 if ONE else 1)


@reads(scale_changed)
def operand_in_filter(x):
    return x * (1 + len(list(filter(None, PAIR))))


@reads(scale_changed)
def operand_in_any(x):
    return x * (2 if any(PAIR) else 1)


@reads(scale_changed)
def operand_negated(x):
    return x * (not ONE)


@reads(scale_changed)
def operands_compared(x):
    return x * (2 if ONE == 3 else 1)


@reads(scale_changed)
def operands_compared_in_lists(x):
    return x * (2 if [ONE] == [4] else 1)


@reads(scale_changed)
def operands_compared_in_tuples(x):
    return x * (2 if (1, ONE) == (1, 3) else 1)


@reads(scale_changed)
def operands_compared_in_dicts(x):
    return x * (2 if {"a": ONE} == {"a": 3} else 1)


@reads(scale_changed)
def operand_found_in_a_list(x):
    return x * (2 if 7 in PAIR else 1)


@reads(scale_changed)
def operand_counted(x):
    return x * (1 + PAIR.count(7))


@reads(scale_changed)
def operand_found_by_index(x):
    try:
        return x * (1 + PAIR.index(7))
    except ValueError:
        return x * 9


@reads(scale_changed)
def operands_sorted(x):
    return x * next(iter(sorted(PAIR))).v


@reads(scale_changed)
def operands_sorted_in_place(x):
    values = [ONE, TWO]
    values.sort()
    return x * values[0].v


@reads(scale_changed)
def largest_operand(x):
    return x * max(PAIR).v, min(ONE, TWO).v


@reads(scale_changed)
def operand_as_a_key(x):
    return x * (1 + {3: 4, 5: 6}.get(ONE, 0))


@reads(scale_changed)
def operands_in_a_set(x):
    return x * len({ONE, TWO})


@reads(scale_changed)
def hash_of_an_operand(x):
    return x * hash(ONE)


@reads(scale_changed)
def hash_of_a_tuple(x):
    return x, hash((1, ONE))


@reads(scale_changed)
def operand_contains(x):
    return x * (2 if 3 in ONE else 1)


@reads(scale_changed)
def operand_iterated(x):
    for v in ONE:
        x = x * v
    return x


@reads(scale_changed)
def operand_unpacked(x):
    (v,) = ONE
    return x * v


@reads(scale_changed)
def operand_splatted(x):
    return x * max(*ONE, 1)


@reads(scale_changed)
def operand_extends_a_list(x):
    values = [1]
    values.extend(ONE)
    return x * sum(values)


@reads(scale_changed)
def operand_reversed(x):
    return x * next(reversed(ONE))


@reads(scale_changed)
def operand_as_int(x):
    return x * int(ONE)


@reads(scale_changed)
def operand_as_float(x):
    return x * float(ONE)


@reads(scale_changed)
def operand_as_complex(x):
    return x * complex(ONE).real


@reads(scale_changed)
def operand_as_index(x):
    return x * [1, 2, 3, 4, 5, 6, 7][ONE]


@reads(scale_changed)
def operand_as_slice(x):
    return x * len([1, 2, 3, 4, 5, 6, 7][:ONE])


@reads(scale_changed)
def operand_as_range(x):
    for i in range(ONE):
        x = x + i
    return x


@reads(scale_changed)
def operand_repeats(x):
    return x * len([1] * ONE), "a" * ONE


@reads(scale_changed)
def operand_in_operator_index(x):
    return x * operator.index(ONE)


@reads(scale_changed)
def operand_in_hex(x):
    return x, hex(ONE), bin(ONE)


@reads(scale_changed)
def operand_in_chr(x):
    return x, chr(ONE)


@reads(scale_changed)
def operand_as_text(x):
    return x, str(ONE)


@reads(scale_changed)
def operand_in_a_format_string(x):
    return x, f"{ONE}", f"{ONE!r}", f"{ONE!s:>9}"


@reads(scale_changed)
def operand_in_format(x):
    return x, "{}".format(ONE)  # noqa: UP032


@reads(scale_changed)
def operand_in_builtin_format(x):
    return x, format(ONE, "3")


@reads(scale_changed)
def operand_in_percent(x):
    return x, "%s" % ONE, "%r %d" % (ONE, 3)  # noqa: UP031


@reads(scale_changed)
def list_of_operands_as_text(x):
    return x, str(PAIR), repr({"a": ONE}), f"{PAIR}"


@reads(scale_changed)
def ascii_of_an_operand(x):
    return x, ascii(ONE)


@reads(scale_changed)
def operand_rounded(x):
    import math

    return x * abs(ONE) * round(ONE, 1) * math.floor(ONE) * math.trunc(ONE)


@reads(scale_changed)
def operand_divided(x):
    return x * divmod(ONE, 2)[0] * pow(ONE, 2)


@reads(scale_changed)
def operand_in_operator_add(x):
    return x * operator.add(ONE, 1)


@reads(scale_changed)
def operands_summed(x):
    return x * sum(PAIR)


@reads(scale_changed)
def operand_as_context(x):
    with ONE as v:
        x = x * v
    return x


@reads(scale_changed)
def operand_copied(x):
    return x * copy.copy(ONE).v


@reads(scale_changed)
def operand_copied_deeply(x):
    return x * copy.deepcopy(ONE).v


@reads(scale_changed)
def operand_as_bytes(x):
    return x, bytes(ONE)


@reads(scale_changed)
def operand_in_math(x):
    import math

    return x * math.sqrt(ONE)


@reads(scale_changed)
def operand_by_methodcaller(x):
    return x * operator.methodcaller("__abs__")(ONE)


@reads(scale_changed)
def operand_by_bound_method(x):
    method = ONE.__len__
    return x * method()


@reads(scale_changed)
def operand_in_match(x):
    match 3:
        case ONE.v:
            return x
    return x * (2 if ONE == 1 else 1)
