"""Rows of settings: a class lists what it takes, and gets the constructor, the checks and the docstring."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import KW_ONLY
from typing import Annotated

import pytest

from duograph import Tensor, nn
from duograph.nn import checks
from duograph.nn.kinds import Anything, Flag, Init, PositiveInt
from duograph.nn.settings import Fixed, Kind, absent, option, with_settings

Half = Annotated[
    float, Kind("float", checks.that(checks.real, lambda x: x <= 0.5, "be at most 0.5, but got {}"), "a share")
]


@with_settings
class Scaled(nn.Cell):
    """Its input, scaled.

    Examples:
        >>> Scaled(2)
    """

    times: PositiveInt = option("how often")
    factor: Half = 0.25
    start: Init = None
    _: KW_ONLY
    shift: Anything = option("added at the end", default=0)

    def _settings_taken(self, given):
        self.first = given["start"]

    def construct(self, x):
        return x * (self.factor * self.times) + self.shift


@with_settings
class Moved(Scaled):
    """Scaled by one factor, with an offset behind ``times``."""

    offset: Flag = option("whether 1 is added", default=True, after="times")
    factor: Fixed = 0.5
    start: Fixed = absent

    def _settings_taken(self, given):
        self.shift += self.offset


def test_the_constructor_is_what_the_body_lists():
    assert str(inspect.signature(Scaled)) == "(times, factor=0.25, start=None, *, shift=0)"
    assert str(inspect.signature(Moved)) == "(times, offset=True, *, shift=0)"
    layer = Scaled(2, start="x", shift=1)
    assert (layer.times, layer.factor, layer.shift, layer.first) == (2, 0.25, 1, "x")
    assert layer(Tensor([4.0])) == 3.0 and Moved(2)(Tensor([4.0])) == 5.0


def test_settings_leave_nothing_in_the_class():
    assert not hasattr(Scaled, "factor") and "start" not in vars(Scaled(1))
    assert not hasattr(Moved(1), "start") and Moved(1).factor == 0.5


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Scaled(), TypeError, "Scaled.__init__() missing 1 required positional argument: 'times'"),
        (lambda: Scaled(0), ValueError, "For 'Scaled', the 'times' must be int and must > 0, but got '0' with type"),
        (lambda: Moved("1"), TypeError, "For 'Moved', the 'times' must be int, but got 'str'"),
        (lambda: Scaled(1, 0.75), ValueError, "For 'Scaled', the 'factor' must be at most 0.5, but got 0.75."),
        (lambda: Scaled(1, 0.5, None, 3), TypeError, "Scaled.__init__() takes from 2 to 4 positional arguments"),
        (lambda: Moved(1, factor=1.0), TypeError, "Moved.__init__() got an unexpected keyword argument 'factor'"),
    ],
)  # fmt: skip
def test_errors_name_the_class_and_the_setting(make, error, text):
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value).startswith(text)


def test_the_docstring_has_every_section():
    assert Scaled.__doc__ == inspect.cleandoc("""
        Its input, scaled.

        Args:
            times (int): how often.
            factor (float): a share. Default ``0.25``.
            start (Union[Tensor, str, Initializer, numbers.Number]): Default ``None``.
            shift (any): added at the end. Default ``0``.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: an argument is out of range.

        Supported Platforms:
            ``CPU``

        Examples:
            >>> Scaled(2)
    """) + "\n"  # fmt: skip


def test_layers_can_be_copied_and_pickled():
    for twin in (
        copy.deepcopy(Scaled(2)),
        pickle.loads(pickle.dumps(nn.Conv2d(2, 4, 3))),
        copy.deepcopy(nn.LPPool2d(2.0, 2)),
    ):
        assert type(twin)._settings


class Subclass(Scaled):
    """What users do: a constructor of their own."""

    def __init__(self, factor):
        super().__init__(3, factor)
        self.more = factor


def test_users_may_subclass():
    assert Subclass(0.5)(Tensor([2.0])) == 3.0
    with pytest.raises(ValueError, match="For 'Subclass', the 'factor'"):
        Subclass(1.0)
