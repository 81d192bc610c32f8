"""``globals()``: single variables of the module, by their names."""

from tests.conformance.harness import T, program

CALLS = [(T([1.0, -2.0, 3.0]),), (T([2.0, 1.0, 0.5]),), (T([-1.0, -2.0, -3.0]),)]
RATE = 3.0
HELD = [1]
COUNT = 5


def helper(v):
    return v * 2


@program(calls=CALLS)
def variables_by_name(x):
    return x * globals()["RATE"] + globals().get("MISSING", 2) + globals().get("RATE"), globals()["helper"](x)


@program(calls=CALLS, captured=False)
def a_missing_variable(x):
    try:
        return x * globals()["MISSING"]
    except KeyError as error:
        return x * 1, str(error)


@program(calls=CALLS, COUNT=5)
def a_variable_that_counts(x):
    globals()["COUNT"] += 1
    return x * COUNT, "COUNT" in globals(), "MISSING" not in globals()


@program(calls=CALLS, HELD=[1])
def a_list_by_its_name(x):
    globals()["HELD"][0] += 7
    return x * HELD[-1], (lambda: globals()["RATE"])() * 2


@program(calls=CALLS, captured=False)
def all_variables(x):
    return x * 1, [name for name in globals() if name == "RATE"], globals() is globals(), len(globals()) > 3


@program(calls=CALLS, COUNT=5)
def a_variable_on_one_path(x):
    if x.sum() > 0:
        globals()["COUNT"] = 9
    return x * COUNT


@program(calls=CALLS)
def another_function_of_that_name(x):
    def globals():
        return {"RATE": 9}

    return x * globals()["RATE"]
