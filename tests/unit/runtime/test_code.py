"""From text to code, as seldom as possible."""

import gc
import threading

import pytest

from duograph.base.config import configure
from duograph.runtime import code, pool
from duograph.runtime.code import load, merge, statistics
from tests.unit.runtime.native import COUNT, NESTED, call, np, scale, scaled


@pytest.fixture
def compiled(tmp_path):
    """The number of compilations since the last question, with a disk cache of the test's own."""
    before = statistics()["compiled"]

    def since():
        nonlocal before
        number, before = statistics()["compiled"] - before, statistics()["compiled"]
        return number

    with configure(cache_dir=str(tmp_path)):
        yield since


def test_the_same_text_is_the_same_code(compiled):
    one, two = load(scale(2.5), ["scale"]), load(scale(2.5), ["scale"])
    assert one is two
    assert compiled() == 1


def test_code_nobody_keeps_is_not_kept(compiled):
    load(scale(2.5), ["scale"])
    gc.collect()
    assert not [identity for identity in code._loaded if identity[2] == ("scale",)]
    load(scale(2.5), ["scale"])
    assert compiled() == 1  # the second time from disk


def test_threads_that_load_and_drop_the_same_code(compiled):
    """What one thread finds in memory is not what another is just unmapping."""

    def work():
        for _ in range(300):
            assert scaled(4.5) == [4.5, 9, 13.5]

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert compiled() <= 4


def test_targets_do_not_share_code(compiled):
    load(scale(2.5), ["scale"])
    with configure(target="baseline"):
        load(scale(2.5), ["scale"])
    assert compiled() == 2


def test_symbols_are_part_of_the_identity(compiled):
    """The address of a symbol is linked in: the code for another address is other code, of one object."""
    first = load("define i32 @f() nounwind { ret i32 1 }", ["f"])
    second = load("define i32 @g() nounwind { ret i32 2 }", ["g"])
    text = """
    declare i32 @callee()
    define i32 @caller(ptr %bufs, ptr %dims) nounwind {
      %r = call i32 @callee()
      ret i32 %r
    }"""
    assert compiled() == 2
    one = load(text, ["caller"], {"callee": first.address("f")}, keep=(first,))
    two = load(text, ["caller"], {"callee": second.address("g")}, keep=(second,))
    assert (call(one, "caller", [], []), call(two, "caller", [], [])) == (1, 2)
    assert compiled() == 1


def test_the_cache_can_be_off(compiled):
    with configure(compiler_cache=False):
        assert scaled(3.5) == [3.5, 7, 10.5]
        gc.collect()
        assert scaled(3.5) == [3.5, 7, 10.5]
    assert compiled() == 2


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
