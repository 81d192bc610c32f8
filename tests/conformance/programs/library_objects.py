"""Objects of libraries that are made inside: decimal numbers, files in memory, checksums, random generators."""

import contextlib
import dataclasses
import decimal
import hashlib
import io
import re
from decimal import Decimal

import numpy as np

from tests.conformance.harness import T, program

CALLS = [(T([1.0, -2.0, 3.0]),), (T([2.0, 1.0, 0.5]),), (T([-1.0, -2.0, -3.0]),)]

PRICE = Decimal("1.5")
PRICES = [Decimal("1.1"), Decimal("2.2")]
PAIRS = re.compile(r"(?P<key>[a-z]+)=(?P<value>-?\d+)")
KEPT: list = []
FILE: list = []


@dataclasses.dataclass
class Plan:
    rate: object
    steps: int = 2
    told: list = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.total = self.steps * 2
        self.told.append(self.total)


@dataclasses.dataclass
class Seeded:
    value: int = 1
    seed: dataclasses.InitVar[int] = 3

    def __post_init__(self, seed):
        self.value += seed


class Door:
    width = 2

    def __init__(self, fails=False):
        self.fails = fails

    def close(self):
        KEPT.append(self.width)
        if self.fails:
            raise KeyError("stuck")


def flags():
    return sorted(str(f) for f, is_set in decimal.getcontext().flags.items() if is_set)


@program(calls=CALLS)
def exact_decimals(x):
    return x * float(PRICE * 2), x * float(Decimal("1.25") + 1), PRICE * 3, {"a": Decimal("2")}


@program(calls=CALLS)
def inexact_decimals(x):
    return x * float(PRICE / 7), str(PRICE / 3), f"{PRICE / 3:.2f}", "%s" % (PRICE / 3), repr(round(PRICE / 3, 2))


@program(calls=CALLS)
def sums_and_orders_of_decimals(x):
    return x * float(sum(PRICES)), max(PRICES), sorted(PRICES, reverse=True), PRICE > 1, PRICE.quantize(Decimal(1))


@program(calls=CALLS)
def decimals_that_cannot_be(x):
    try:
        return x * float(PRICE / 0)
    except decimal.DivisionByZero:
        pass
    try:
        return x * float(Decimal("one"))
    except decimal.InvalidOperation:
        return x * 3


@program(calls=CALLS, captured=False)
def flags_of_decimals(x):
    decimal.getcontext().clear_flags()
    before = flags()
    y = x * float(PRICE / 7)
    return y, before, flags()


@program(calls=CALLS, captured=False)
def decimals_in_a_context(x):
    with decimal.localcontext() as context:
        context.prec = 3
        y = x * float(PRICE / 7)
    return y, PRICE / 7


@program(calls=CALLS)
def decimals_as_keys(x):
    found = {Decimal("1.0"): x}
    return found[Decimal(1)] * 2, found[1]


@program(calls=CALLS)
def decimals_and_tensors(x):
    try:
        return x * PRICE
    except TypeError as error:
        return x, type(error).__name__


@program(calls=CALLS)
def files_in_memory(x):
    file = io.StringIO()
    file.write("abc")
    file.write("de")
    file.seek(1)
    told = file.read(), file.tell(), file.getvalue()
    with io.StringIO("a\nb\n") as lines:
        found = [line.strip() for line in lines]
    data = io.BytesIO()
    data.write(b"abc")
    return x * len(told[0]), told, found, data.getvalue(), lines.closed


@program(calls=CALLS)
def files_that_are_printed_into(x):
    file = io.StringIO()
    print(1, [2], None, file=file, sep="-", end="!")
    print(file=file)
    print("x", file=file, flush=True)
    return x * 1, file.getvalue()


@program(calls=CALLS)
def files_that_are_closed(x):
    file = io.StringIO()
    file.close()
    try:
        file.write("a")
    except ValueError as error:
        return x * len(str(error))


@program(calls=CALLS, captured=False)
def files_that_leave(x):
    file = io.StringIO("abc")
    file.read(1)
    return x * 1, file.read(1), [file.getvalue()], type(file).__name__, (lambda: file.read())()


@program(calls=CALLS, captured=False)
def files_on_one_path(x):
    file = io.StringIO()
    if x.sum() > 0:
        file.write("a")
    return x * 2, file.getvalue()


@program(calls=CALLS, captured=False)
def files_with_numbers_of_tensors(x):
    file = io.StringIO()
    file.write(str(float(x.sum())))
    print(x.sum(), file=file)
    return x * 1, file.getvalue()


@program(calls=CALLS, FILE=[io.BytesIO()], captured=False)
def files_from_outside(x):
    FILE[0].write(b"a")
    return x * len(FILE[0].getvalue())


@program(calls=CALLS)
def checksums(x):
    one = hashlib.md5(b"a")
    two = one.copy()
    two.update(b"c")
    return x * one.digest_size, one.hexdigest(), two.hexdigest(), hashlib.sha256(b"b").digest()


@program(calls=CALLS, captured=False)
def checksums_on_one_path(x):
    one = hashlib.md5()
    one.update(b"a")
    if x.sum() > 0:
        one.update(b"b")
    return x * 1, one.hexdigest()


@program(calls=CALLS)
def random_generators_of_numpy(x):
    new, old = np.random.default_rng(3), np.random.RandomState(3)
    order = old.permutation(3)
    old.shuffle(order)
    for _ in range(3):
        x = x * float(new.random())
    return x[order.tolist()], new.integers(5, size=3).tolist(), old.randint(5), old.choice([1, 2, 3]), new.normal()


@program(calls=CALLS, captured=False)
def random_generators_of_numpy_on_paths(x):
    new, old = np.random.default_rng(3), np.random.RandomState(3)
    while x.sum() < 10:
        x = x + 1 + float(old.rand())
    return x * new.random() if x.sum() > 12 else x * new.random() * new.random()


@program(calls=CALLS, captured=False, KEPT=[])
def random_generators_of_numpy_that_leave(x):
    new = np.random.RandomState(3)
    new.rand()
    KEPT.append(new.rand)
    return x * 1, new.rand()


@program(calls=CALLS, captured=False)
def random_generators_and_their_bits(x):
    new = np.random.default_rng(3)
    return x * 1, new.bit_generator.random_raw(), new.bit_generator.state["state"]["state"], new.random()


@program(calls=CALLS, KEPT=[])
def things_that_are_closed(x):
    with contextlib.closing(Door()) as door:
        x = x * door.width
    with contextlib.suppress(KeyError), contextlib.closing(Door(fails=True)):
        if x.sum() > 0:
            x = x + 1
    return x


@program(calls=CALLS)
def generators_that_are_closed(x):
    told = []

    def rows():
        try:
            yield from x
        finally:
            told.append("closed")

    with contextlib.closing(rows()) as each:
        return next(each) + next(each), told


@program(calls=CALLS)
def dataclasses_with_other_fields(x):
    plan = Plan(x)
    other = dataclasses.replace(plan, steps=5)
    return other.rate * other.total, plan.told is other.told, plan.told, dataclasses.replace(other, rate=1).total


@program(calls=CALLS, captured=False)
def dataclasses_that_cannot_be_replaced(x):
    told = []
    for obj, changes in ((Plan(x), {"total": 1}), (Plan(x), {"none": 1}), (Seeded(), {"value": 2})):
        try:
            told.append(dataclasses.replace(obj, **changes).value)
        except (TypeError, ValueError) as error:
            told.append(str(error))
    return x * 1, told, dataclasses.replace(Seeded(), seed=1).value


@program(T([1.0, 2.0]), "a=2, b=-3")
def methods_of_a_pattern(x, text):
    for m in PAIRS.finditer(text):
        x = x * int(m["value"])
    first = PAIRS.match(text)
    return x, first["key"], first.span(), PAIRS.findall(text), PAIRS.sub("-", text), PAIRS.search("") is None
