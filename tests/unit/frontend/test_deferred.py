"""Calls of `logging` and `warnings` in compiled code: what is told, with which place, how often, in which order."""

import functools
import io
import logging
import logging.handlers
import warnings

import pytest

import duograph as ms
from duograph import Tensor, nn
from duograph.ops import tanh

FORM = "%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(message)s"
XS = [Tensor([1.0, 2.0]), Tensor([5.0, 6.0]), Tensor([1.0, 2.0])]
log = logging.getLogger("tests.deferred")


def steps(x):
    y = x * 2
    log.info("y is %s, %d", y, 3)
    log.debug("off")
    if y.sum() > 10:
        log.warning(f"large: {float(y.sum()):.2f}")
    y.add_(1)
    logging.getLogger("tests.deferred").error("after %s", x.sum().item())
    return y + 1


def nested(x):
    def inner(y):
        log.log(logging.WARNING, "inside")
        return y * 3

    return inner(x) + inner(x).sum()


def raising(x):
    log.info("before")
    if x.sum() > 5:
        raise ValueError(f"too large: {x.sum()}")
    return x


def warned(x):
    warnings.warn("careful")
    warnings.warn("old", DeprecationWarning)
    return x + 1


def by_hand(x):
    if log.isEnabledFor(logging.INFO):
        log.info("on")
        x = x + 1
    return x


def in_comprehensions(x):
    made = [log.info("%d", i) for i in range(2)]
    return {str(log.info("s")) for _ in made}, {i: log.info("d") for i in range(1)}, list(log.info("g") for _ in "a"), x


def over_lines(x):
    (log
     .info("chained"))  # fmt: skip
    log.info(
        "%s",
        x,
    )
    return x


def after_functions_that_stay(x):
    scaled = [a * 2 for a in x]
    add = lambda y: y + scaled[0]  # noqa: E731
    z = add(x)
    log.info("after %s", z)
    list(map(log.info, ["one", "two"]))
    functools.partial(log.info, "%s")(z)
    return z


def tensors_that_change(x):
    y = x * 1
    log.info("%s", y)
    y.mul_(3)
    log.info("%s %s", y, (y[0:1], y.shape, y.dtype))
    return y


def containers_and_exceptions(x):
    rows = [1, x.sum()]
    log.info("%s %s", rows, {"loss": float(x.sum()), "of": (rows, None)})
    rows.append(2)
    log.info("%(loss).2f", {"loss": float(x.sum())})
    try:
        raise ValueError(f"bad {rows[1]}", rows[0])
    except ValueError as error:
        log.warning("%s %r", error, error)
    return x


def on_paths(x):
    y = x * 2
    if y.sum() > 10:
        log.warning("large %s %s %.1f", y, (1, {"of": x.sum()}), float(y[0]))
        if x[0] > 5.5:
            log.error("larger")
        elif x[1] > 5.5:
            y[0] = 1
            log.info("%s %s", y, (y > 1).any())
    else:
        log.info(f"small {y.sum()} {float(x[0]):.2f}")
        warnings.warn("small")
        y = y + 1
    log.info("after %s", y)
    return tanh(y)


PROGRAMS = [
    steps, nested, raising, warned, by_hand, in_comprehensions, over_lines, after_functions_that_stay,
    tensors_that_change, containers_and_exceptions, on_paths,
]  # fmt: skip


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def construct(self, x):
        log.info("scale %.1f", self.scale)
        return (x * self.scale).sum()


def told(fn, level=logging.INFO):
    """What two rounds of calls give, log and warn."""
    buffer = io.StringIO()
    handler = logging.StreamHandler(buffer)
    handler.setFormatter(logging.Formatter(FORM))
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            results = []
            for x in XS * 2:
                try:
                    results.append(str(fn(x)))
                except ValueError as error:
                    results.append(repr(error))
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
        log.propagate = True
    return results, buffer.getvalue(), [(str(w.message), w.category, w.filename, w.lineno) for w in given]


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_the_same_as_plain_python(fn, mode):
    assert told(ms.jit(fn, capture_mode=mode)) == told(fn)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_they_are_no_breaks(fn):
    compiled = ms.jit(fn, fullgraph=True)
    assert told(compiled) == told(fn)
    assert not compiled.explain().breaks
    assert not compiled.explain().fallbacks


@pytest.mark.parametrize("wrap", [ms.grad, ms.value_and_grad], ids=["grad", "value_and_grad"])
def test_under_gradients(wrap):
    def loss(x):
        log.info("loss of %s", x)
        return (x * x).sum()

    expected = told(wrap(loss))
    assert told(wrap(ms.jit(loss))) == expected
    assert told(ms.jit(wrap(loss))) == expected


def test_in_a_cell_of_graph_mode():
    net = Net()
    expected = told(net)
    with_graphs = Net()
    with_graphs.construct = ms.jit(with_graphs.construct)
    assert told(with_graphs) == expected


def test_a_level_that_is_switched_on_is_a_guard():
    compiled = ms.jit(steps)
    for level in (logging.ERROR, logging.DEBUG, logging.INFO, logging.ERROR):
        assert told(compiled, level) == told(steps, level)


def test_in_a_loop_that_a_tensor_ends_it_is_a_break():
    def doubled(x):
        while x.sum() < 50:
            x = x * 2
            log.info("%s", x)
        return x + 1

    compiled = ms.jit(doubled)
    assert told(compiled) == told(doubled)
    assert "how often it is done" in str(compiled.explain().breaks[0])


def test_what_follows_a_log_on_one_path_is_captured_once():
    compiled = ms.jit(on_paths)
    told(compiled)
    assert str(compiled.explain()).count("= tanh(") == 1


def test_what_is_shown_later_is_a_break():
    def kept(x):
        rows = [1]
        log.info("%s", rows)
        rows.append(2)
        return x * 2 - 1

    def shown(fn):
        target = logging.StreamHandler(io.StringIO())
        handler = logging.handlers.MemoryHandler(9, target=target)
        log.addHandler(handler)
        try:
            told(fn)
        finally:
            log.removeHandler(handler)
        handler.flush()
        return target.stream.getvalue()

    assert shown(ms.jit(kept)) == shown(kept)


def test_print_keeps_its_place_beside_a_log(capsys):
    def both(x):
        print("first")
        log.info("second")
        print("third")
        return x

    expected = told(both), capsys.readouterr().out
    assert (told(ms.jit(both)), capsys.readouterr().out) == expected


def test_a_handler_of_the_user_is_called_in_its_place():
    seen = []

    class Handler(logging.Handler):
        def emit(self, record):
            seen.append(len(seen))

    def reading(x):
        log.info("one more")
        return x * len(seen)

    def results(fn):
        seen.clear()
        handler = Handler()
        log.addHandler(handler)
        try:
            return told(fn)[0], list(seen)
        finally:
            log.removeHandler(handler)

    assert results(ms.jit(reading)) == results(reading)


def test_a_warning_that_is_an_error_is_raised():
    compiled = ms.jit(warned)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert str(compiled(XS[0])) == "[2. 3.]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="careful"):
            compiled(XS[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        with pytest.raises(DeprecationWarning, match="old"):
            compiled(XS[0])


def test_a_text_that_changes_is_told_as_it_is_now():
    names = ["a"]

    def naming(x):
        log.info("for " + names[0])
        return x

    compiled = ms.jit(naming)
    for name in ("a", "b", "a"):
        names[0] = name
        assert told(compiled) == told(naming)


def counting(x, given):
    warnings.warn("careful", UserWarning)
    return x * len(given)


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_a_program_that_has_what_it_warns_of(mode):
    compiled, x = ms.jit(counting, capture_mode=mode), XS[0]
    for _ in range(3):
        for fn in (counting, compiled):
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                assert fn(x, given).tolist() == x.tolist() and len(given) == 1


def test_warnings_that_code_of_the_user_shows_are_shown_at_once(monkeypatch):
    shown = []

    def warned(x):
        warnings.warn("careful", UserWarning)
        return x * len(shown)

    compiled, x = ms.jit(warned), XS[0]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        compiled(x)
        monkeypatch.setattr(warnings, "showwarning", lambda *_, **__: shown.append(1))
        for n in (1, 2, 3):
            assert compiled(x).tolist() == (x * n).tolist()


def test_filters_that_python_starts_with(monkeypatch):
    def warned(x):
        warnings.warn("old", DeprecationWarning)
        return x * 2

    monkeypatch.setattr(warnings, "filters", [("default", None, DeprecationWarning, "__main__", 0)])
    compiled, x = ms.jit(warned), XS[0]
    with warnings.catch_warnings(record=True) as given:
        assert [compiled(x).tolist() for _ in range(3)] == [(x * 2).tolist()] * 3
    assert [str(w.message) for w in given] == ["old"] and not compiled.explain().fallbacks
