"""Objects of libraries that a compiled function makes and gives away: each call gives one of its own, as it was."""

import hashlib
import random

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor


def new_generator(x):
    made = np.random.default_rng(3)
    made.random()
    return x * 1, made, [made]


def old_generator(x):
    made = np.random.RandomState(3)
    made.rand()
    return x * 1, made, [made]


def python_generator(x):
    made = random.Random(3)
    made.random()
    return x * 1, made, [made]


def checksum(x):
    made = hashlib.md5(b"a")
    return x * 1, made, [made]


def bits(x):
    made = np.random.default_rng(3).bit_generator
    return x * 1, made, [made]


def draw(made):
    if hasattr(made, "update"):
        made.update(b"c")
        return made.hexdigest()
    if hasattr(made, "random_raw"):
        return made.random_raw()
    return made.random() if hasattr(made, "random") else made.rand()


@pytest.mark.parametrize("fn", [new_generator, old_generator, python_generator, checksum, bits])
def test_each_call_gives_its_own(fn):
    compiled, x = ms.jit(fn), Tensor([1.0])
    want = [draw(fn(x)[1]) for _ in range(3)]
    given = [compiled(x) for _ in range(3)]
    assert [draw(made) for _, made, _ in given] == want
    assert all(made is held[0] for _, made, held in given)
    assert len({id(made) for _, made, _ in given}) == 3
    assert draw(given[0][1]) == draw(given[1][1])
