"""Modules as text: several made one, and one made several."""

import re

import pytest

from duograph.runtime.machine.code import load
from duograph.runtime.machine.llvm import TextError, compile_text, compile_texts
from duograph.runtime.machine.modules import merge, split
from duograph.runtime.pool import pool
from tests.unit.runtime.native import COUNT, NESTED, call, np, scale

SHARED = """
@table = private unnamed_addr constant [2 x i32] [i32 3, i32 4]
@calls = internal global i32 0
declare i32 @outside(i32)
define internal i32 @helper(i32 %x) #0 {
  ret i32 %x
}
define i32 @one(ptr nocapture readonly %p, i32 %n) #0 {
  %r = call i32 @helper(i32 1)
  ret i32 %r
}
define i32 @two() #0 {
  %a = load i32, ptr @table
  %b = call i32 @outside(i32 %a)
  ret i32 %b
}
define i32 @three() #0 {
  %a = load i32, ptr @table
  %b = call i32 @one(ptr null, i32 %a)
  ret i32 %b
}
define i32 @four() #0 {
  %a = load i32, ptr @calls
  ret i32 %a
}
define i32 @five() #0 {
  store i32 5, ptr @calls
  ret i32 5
}
attributes #0 = { nounwind }
"""


def test_merge_makes_one_module():
    renamed = NESTED.replace("@outer", "@rows").replace("@inner", "@row_of")
    text = merge([COUNT, renamed, scale(2), scale(2)])
    assert text.count("declare void @dg_parallel") == 1
    assert text.count("@scale") == 1
    linked = load(text, ["count", "nested", "scale"], pool.symbols())
    x = np.zeros((4, 16), np.int64)
    call(linked, "count", [x], [64, 8, 3])
    call(linked, "nested", [x], [4])
    assert np.all(x == 4)


def test_a_definition_replaces_a_declaration():
    caller = "declare i32 @f()\ndefine i32 @g() {\n  %r = call i32 @f()\n  ret i32 %r\n}"
    callee = "define i32 @f() {\n  ret i32 1\n}"
    for order in ([caller, callee], [callee, caller]):
        assert load(merge(order), ["f", "g"]).names == ("f", "g")


def test_merge_refuses_two_meanings_of_a_name():
    with pytest.raises(ValueError, match="two different definitions of @scale"):
        merge([scale(2), scale(3)])
    with pytest.raises(ValueError, match="not the beginning"):
        merge(["  ret void"])


def _defined(part):
    return set(re.findall(r"^define [^@]*@(\w+)", part, re.MULTILINE))


def test_split_keeps_together_what_only_the_module_sees():
    parts = split(SHARED, 10)
    assert sorted(map(sorted, map(_defined, parts))) == [["five", "four"], ["helper", "one"], ["three"], ["two"]]
    by_name = {min(_defined(part)): part for part in parts}
    assert "declare i32 @one(ptr nocapture readonly %p, i32 %n)" in by_name["three"]
    assert "@table" in by_name["three"] and "@table" in by_name["two"]
    assert "declare i32 @outside(i32)" in by_name["two"]
    assert "@outside" not in by_name["three"]
    assert all("attributes #0" in part for part in parts)


@pytest.mark.parametrize("number", [2, 3, 10])
def test_parts_compile_and_together_define_everything(number):
    parts = split(SHARED, number)
    assert len(parts) == min(number, 4)
    assert set().union(*map(_defined, parts)) == _defined(SHARED)
    assert all(compile_texts([part.replace("nocapture", "") for part in parts]))


@pytest.mark.parametrize("text", [scale(2), "@public = global i32 0\n" + SHARED, "what is this?"])
def test_what_cannot_be_divided_stays_whole(text):
    assert split(text, 4) == [text]


def test_side_by_side_makes_the_same_code():
    texts = [scale(k) for k in range(2, 6)]
    assert compile_texts(texts) == [compile_text(text) for text in texts]


def test_a_wrong_text_among_several():
    with pytest.raises(TextError, match="expected type"):
        compile_texts([scale(2), "define i32 @f( {", scale(3)])
