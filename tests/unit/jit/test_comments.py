"""Comments about types and conditions: right ones change nothing, wrong ones are errors."""

import textwrap

import pytest

import duograph as ms
from duograph import Tensor

X = Tensor([1.0, 2.0])


def made(statement, comment):
    space = {}
    exec(textwrap.dedent(f"""
        def f(x, d=None):
            # {comment}
            {statement}
            return y
        """), space)  # fmt: skip
    return space["f"]


@pytest.mark.parametrize(
    "comment",
    [
        *("@jit.typing: () -> tensor_type[float32]", "@jit.typing: () -> tensor_type[{d}]", "@jit.typing: side_effect"),
        *("@jit.typing: () -> tuple_[int, list_[tensor_type[int64]]]", "@jit.typing: ()->float", "@jit.cond: True"),
        *("@jit.cond: False", "an address: me@jit.typing", "jit.cond: maybe"),
    ],
)
def test_right_comments_change_nothing(comment):
    f = ms.jit(made("y = x * 2 if x.sum() > 0 else x", comment))
    assert [f(X).tolist(), f(-X).tolist()] == [[2.0, 4.0], [-1.0, -2.0]] and f.stats["versions"] == 1


@pytest.mark.parametrize(
    "comment, hint",
    [
        ("@jit.typing: tensor_type[float32]", "() -> type"),
        ("@jit.typing: () -> tensor_type[float33]", "() -> type"),
        ("@jit.typing: () -> tensor_type(float32)", "() -> type"),
        ("@jit.typing () -> float", "() -> type"),
        ("@jit.cond: maybe", "'True' or 'False'"),
        ("@jit.condition: True", "@jit.typing"),
    ],
)
def test_wrong_comments_are_errors(comment, hint):
    f = ms.jit(made("y = x * 2", comment))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="is wrong") as raised:
            f(X)
        assert hint in str(raised.value) and ":3 " in str(raised.value)


def test_texts_are_no_comments():
    f = ms.jit(made('y = (x * 2, "# @jit.cond: maybe")[0]', ""))
    assert f(X).tolist() == [2.0, 4.0]
