"""From text to code, as seldom as possible."""

import gc
import threading

import pytest

from duograph.base.config import configure
from duograph.base.events import record
from duograph.runtime.machine import code
from duograph.runtime.machine.code import load, statistics
from duograph.runtime.machine.modules import merge
from duograph.runtime.pool import pool
from tests.unit.runtime.native import COUNT, call, np, scale, scaled
from tests.unit.runtime.processes import child_agrees


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


def test_a_fork_while_another_thread_loads(compiled):
    going = True

    def work():
        while going:
            assert scaled(5.5) == [5.5, 11, 16.5]

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            assert child_agrees(lambda: scaled(6.5) == [6.5, 13, 19.5])
    finally:
        going = False
        worker.join()


def test_the_cache_can_be_off(compiled):
    with configure(compiler_cache=False):
        assert scaled(3.5) == [3.5, 7, 10.5]
        gc.collect()
        assert scaled(3.5) == [3.5, 7, 10.5]
    assert compiled() == 2


def test_a_long_text_is_compiled_in_parts_and_linked_as_one(compiled, monkeypatch):
    """Functions call each other across the parts, the cache holds them in one entry."""
    monkeypatch.setattr(code, "PART", 200)
    monkeypatch.setattr(code, "available_cores", lambda: 3)
    caller = """
    declare i32 @count(ptr, ptr)
    define i32 @twice(ptr %bufs, ptr %dims) nounwind {
      %a = call i32 @count(ptr %bufs, ptr %dims)
      %b = call i32 @count(ptr %bufs, ptr %dims)
      ret i32 %b
    }"""
    symbols = pool.symbols()
    compiled()
    text = merge([COUNT, scale(2), "\n".join(line[4:] if line else line for line in caller.splitlines())])
    for _ in range(2):
        with record() as log:
            linked = load(text, ["count", "scale", "twice"], symbols)
        x = np.zeros(64, np.int64)
        assert call(linked, "twice", [x], [64, 1, 3]) == 0
        assert np.all(x == 6)
        del linked
        gc.collect()
        assert all(event.data["parts"] == 3 for event in log if event.kind == "compiled")
    assert compiled() == 1
