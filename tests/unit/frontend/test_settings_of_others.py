"""What a program changes for a while, and code that is not interpreted looks at: modules of Python and of this package,
loggers and their handlers, filters of warnings, the tables of Cells. It is changed at once, in plain Python."""

from __future__ import annotations

import builtins
import io
import logging
import sys
import warnings

import pytest

import duograph as ms
from duograph import Tensor, nn, ops

TOLD, ELSEWHERE = io.StringIO(), io.StringIO()
LOG = logging.getLogger("tests.settings")
HANDLER = logging.StreamHandler(TOLD)
HANDLER.setFormatter(logging.Formatter("%(name)s %(message)s"))
LOG.addHandler(HANDLER)
LOG.setLevel(logging.WARNING)
LOG.propagate = False


def printing_elsewhere(x):
    before, sys.stdout = sys.stdout, ELSEWHERE
    try:
        print("x is", x)
    finally:
        sys.stdout = before
    print("done")
    return x * 2


def built_in(x):
    builtins.vars, before = lambda _: 99, builtins.vars
    n = vars(x)
    builtins.vars = before
    return x * n


def of_this_package(x):
    before, ops.relu = ops.relu, lambda v: v * 7
    try:
        x = ops.relu(x)
    finally:
        ops.relu = before
    return ops.relu(x)


def levels(x):
    LOG.info("not told")
    LOG.level = logging.INFO
    LOG.info("told")
    is_on = LOG.isEnabledFor(logging.INFO)
    LOG.level = logging.WARNING
    LOG.info("not told")
    return x * 2, is_on


def set_levels(x):
    LOG.setLevel(logging.INFO)
    LOG.info("told")
    LOG.setLevel(logging.WARNING)
    LOG.info("not told")
    return x * 2


def disabled(x):
    LOG.warning("told")
    LOG.disabled = True
    LOG.warning("not told")
    LOG.disabled = False
    return x * 2


def renamed(x):
    LOG.name = "other"
    LOG.warning("told")
    LOG.name = "tests.settings"
    return x * 2


def streams(x):
    HANDLER.stream = ELSEWHERE
    LOG.warning("told")
    HANDLER.stream = TOLD
    return x * 2


def filtered(x):
    LOG.filters.append(lambda record: "not" not in record.msg)
    LOG.warning("not told")
    LOG.filters.pop()
    return x * 2


def errors_of_warnings(x):
    warnings.filters.insert(0, ("error", None, UserWarning, None, 0))
    try:
        warnings.warn("careful", UserWarning)
    except UserWarning:
        x = x * 3
    finally:
        warnings.filters.pop(0)
    return x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def construct(self, x):
        before = self._cells["act"]
        self._cells["act"] = nn.Tanh()
        x = self.act(x)
        self._cells["act"] = before
        return self.act(x) + x


NET = Net()


def tables_of_cells(x):
    return NET(x)


@pytest.mark.filterwarnings("ignore:DG0102")
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize(
    "fn",
    [
        *(printing_elsewhere, built_in, of_this_package, levels, set_levels, disabled, renamed, streams, filtered),
        *(errors_of_warnings, tables_of_cells),
    ],
)
def test_is_changed_at_once(fn, mode, capsys):
    compiled, found = ms.jit(fn, capture_mode=mode), []
    for call in (fn, compiled, compiled, compiled):
        for told in (TOLD, ELSEWHERE):
            told.seek(0)
            told.truncate()
        given = str(call(Tensor([-1.0, 2.0])))
        found.append((given, TOLD.getvalue(), ELSEWHERE.getvalue(), capsys.readouterr().out))
    assert found == found[:1] * 4
