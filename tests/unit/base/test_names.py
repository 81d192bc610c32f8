"""Fresh names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duograph.base.names import NameSupply, identifier


def test_fresh():
    names = NameSupply(["y"])
    assert [names.fresh(hint) for hint in ["x", "x", "x", "y", "x_1", "_1", "_1", "x_1_1"]] == [
        "x",
        "x_1",
        "x_2",
        "y_1",
        "x_3",
        "_1",
        "_1_1",
        "x_1_1",
    ]


def test_reserve_and_child():
    names = NameSupply()
    names.reserve("x", "x_1")
    inner = names.child()
    assert inner.fresh("x") == "x_2" and names.fresh("x") == "x_2"
    assert "x_2" in inner and "z" not in inner


@given(st.lists(st.text("xy_12", min_size=1, max_size=4)))
def test_never_twice(hints):
    names = NameSupply()
    given_out = [names.fresh(hint) for hint in hints]
    assert len(set(given_out)) == len(given_out)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("layers.0.weight", "layers_0_weight"),
        ("3d", "_3d"),
        ("lambda", "lambda_"),
        ("<>", "x"),
        ("", "x"),
        ("_a_", "_a_"),
    ],
)
def test_identifier(text, name):
    assert identifier(text) == name


@given(st.text())
def test_identifier_is_one(text):
    assert identifier(text).isidentifier()
