"""Texts that are others in each call: where they are only handed on, one version serves all calls."""

from __future__ import annotations

import copy

import pytest

import duograph as ms
from duograph import Tensor

CALLS = 30


class Kept:
    tag = ""


def returned(x, tag, kept):
    return x * 2, tag


def unused(x, tag, kept):
    return (x * 2,)


def in_a_text(x, tag, kept):
    return x * 2, f"{tag}: done", "%-5s" % tag, tag + "!"


def stored(x, tag, kept):
    kept.tag = tag
    return x * 2, [tag], {"tag": tag}


def asked_for_its_kind(x, tag, kept):
    return x * 2, tag is None, isinstance(tag, str), type(tag) is str


def with_a_flag(x, tag, kept):
    return (x * 2 if kept.mode == "train" else x * 3), tag


def with_numbers(x, tag, kept):
    return x * kept.number, tag


@pytest.mark.parametrize(
    "function", [returned, unused, in_a_text, stored, asked_for_its_kind, with_a_flag, with_numbers]
)
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_one_version_for_all_texts(function, mode):
    compiled = ms.jit(function, capture_mode=mode)
    x = Tensor([1.0, 2.0])
    for i in range(CALLS):
        kept, tag = Kept(), f"tag {i}"
        kept.mode, kept.number = "train", i
        found, *rest = compiled(x, tag, kept)
        wanted, *others = function(x, tag, copy.copy(kept))
        assert (found.tolist(), rest) == (wanted.tolist(), others)
        assert function is not returned or rest[0] is tag
        assert function is not stored or kept.tag is tag
    explained = compiled.explain()
    assert not explained.fallbacks and explained.versions[0]["hits"] >= CALLS - 3
    assert len(explained.versions) == 2 + (function is with_numbers)  # the first, and that for all others


def test_a_flag_has_a_version_for_each_value():
    @ms.jit
    def f(x, mode, tag):
        return (x * 2 if mode == "train" else x * 3), tag

    for i in range(CALLS):
        assert f(Tensor([1.0]), "train" if i % 2 else "eval", f"tag {i}")[0].item() == (2 if i % 2 else 3)
    assert len(f.explain().versions) == 3 and not f.explain().fallbacks


def test_a_text_that_a_rule_of_the_framework_is_given():
    @ms.jit
    def f(x, name):
        return ms.Parameter(x * 2, name=name).name, x.astype(name)

    for name in ("float32", "int32", "float16", "float64"):
        found, y = f(Tensor([1.5]), name)
        assert found == name and y.dtype == getattr(ms, name)
