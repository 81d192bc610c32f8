# ruff: noqa: F507, F524, F525, UP030, UP031, UP032
"""Texts of objects whose methods are the user's: ``%``, ``format``, f-strings, in the order of Python."""

from tests.conformance.harness import T, program

CALLS = [(T([1.0, -2.0, 3.0]),), (T([2.0, 1.0, 0.5]),), (T([-1.0, -2.0, -3.0]),)]

LOG: list = []


class Told:
    def __init__(self, n):
        self.n = n

    def __str__(self):
        LOG.append(self.n)
        return f"Told{self.n}"

    def __repr__(self):
        return f"<Told {self.n}>"

    def __format__(self, spec):
        return f"F{self.n}{spec}"


class Shown:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"<Shown {self.n}>"


class Text(str):
    def __str__(self):
        return "other"


class Number:
    def __index__(self):
        return 7

    def __int__(self):
        return 8

    def __float__(self):
        return 2.5


class Fails:
    def __str__(self):
        raise ValueError("no text")


KEPT = Shown(5)


@program(calls=CALLS, LOG=[])
def percent_in_turn(x):
    LOG.clear()
    return "%s-%r %5s %-8r|%.2s" % (Told(3), Told(4), Shown(2), Shown(3), Told(5)), x * 1, list(LOG)


@program(calls=CALLS, LOG=[])
def percent_by_name(x):
    return "%(a)s %(b)r %%" % {"a": Told(1), "b": Shown(2)}, x * 1


@program(calls=CALLS, LOG=[])
def percent_of_one(x):
    return "%s" % Told(3), "%% %s %d%%" % (Shown(1), 5), "%c%s %+5.1f" % ("a", Told(1), 2), x * 1


@program(calls=CALLS, LOG=[], captured=False)
def percent_of_one_name_twice(x):
    return "%(a)s %(a)r" % {"a": Told(1)}, x * 1


@program(calls=CALLS, LOG=[], captured=False)
def percent_of_numbers(x):
    return "%d %f %s" % (Number(), Number(), Told(2)), x * 1


@program(calls=CALLS, LOG=[], captured=False)
def percent_with_too_few_error(x):
    return "%s %s" % (Told(3),), x * 1


@program(calls=CALLS, LOG=[], captured=False)
def percent_with_too_many_error(x):
    return "%s" % (Told(3), 4), x * 1


@program(calls=CALLS, LOG=[], captured=False)
def percent_with_widths(x):
    return "%*s|%-*s" % (5, Told(3), 7, Shown(1)), x * 1


@program(calls=CALLS, LOG=[])
def percent_beside_a_number_of_a_tensor(x):
    LOG.clear()
    return "%s %s" % (Told(3), float(x.sum())), x * 1, list(LOG)


@program(calls=CALLS, LOG=[])
def percent_of_what_fails(x):
    LOG.clear()
    try:
        return "%s %s" % (Told(1), Fails()), x * 1
    except ValueError as error:
        return str(error), list(LOG), x * 2


@program(calls=CALLS, LOG=[])
def fields_in_turn(x):
    LOG.clear()
    return "{} {!r} {!s:>9} {:>7}{{}}".format(Told(1), Told(2), Told(3), Told(4)), x * 1, list(LOG)


@program(calls=CALLS, LOG=[])
def fields_by_number_and_name(x):
    return "{0} {1} {0!r} {k}".format(Told(1), Shown(2), k=Shown(4)), x * 1


@program(calls=CALLS, captured=False)
def fields_with_too_few_error(x):
    return "{}{}".format(Shown(1)), x * 1


@program(calls=CALLS, captured=False)
def fields_of_both_kinds_error(x):
    return "{0}{}".format(
        Shown(1),
    ), x * 1


@program(calls=CALLS, LOG=[], captured=False)
def fields_of_attributes(x):
    return "{.n}{}".format(Told(1), Shown(2)), x * 1


@program(calls=CALLS, captured=False)
def fields_with_what_object_does_not_take_error(x):
    return "{:>5}".format(Shown(1)), x * 1


@program(calls=CALLS)
def fields_beside_numbers_of_tensors(x):
    return "{} {} {:.1f}".format(Shown(1), float(x.sum()), x.sum().item()), x * 1


@program(calls=CALLS, captured=False)
def texts_of_a_derived_text(x):
    return "%s" % Text("a"), "{}".format(Text("a")), "%10s" % Text("b"), f"{Text('c')}", Text("%s") % Shown(1), x * 1


@program(calls=CALLS)
def texts_of_an_outside_object(x):
    return "%s %r" % (KEPT, KEPT), "{}".format(KEPT), f"{KEPT}", x * KEPT.n


@program(calls=CALLS, LOG=[], captured=False)
def texts_of_what_holds_objects(x):
    return "%s" % [Told(1)], "%a %s" % (Told(1), Told(2)), x * 1
