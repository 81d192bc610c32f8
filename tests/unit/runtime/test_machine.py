"""LLVM text to object code to addresses."""

import gc
import itertools
import os
import signal
import sys
import threading
import weakref
from pathlib import Path

import pytest

from duograph.base.config import configure
from duograph.runtime.machine import llvm
from duograph.runtime.machine.llvm import LinkError, TextError, compile_text, link
from tests.unit.growth import growth
from tests.unit.runtime.native import call, np, scale
from tests.unit.runtime.processes import alone, child_agrees, python


def test_round_trip():
    linked = link(compile_text(scale(2)), ["scale"])
    x = np.arange(5, dtype=np.float32)
    assert call(linked, "scale", [x], [4]) == 0
    assert x.tolist() == [0, 2, 4, 6, 4]
    assert linked.names == ("scale",)


def test_one_text_may_hold_many_functions():
    text = scale(2) + scale(3).replace("@scale", "@triple")
    linked = link(compile_text(text), ["scale", "triple"])
    x = np.ones(1, np.float32)
    call(linked, "scale", [x], [1])
    call(linked, "triple", [x], [1])
    assert x.tolist() == [6]


def test_code_is_unmapped_with_its_last_reference():
    linked = link(compile_text(scale(2)), ["scale"])
    tracker = weakref.ref(linked._mapping.tracker)
    del linked
    gc.collect()
    assert tracker() is None


def test_a_destructor_does_not_wait_for_a_compilation():
    linked = link(compile_text(scale(2)), ["scale"])
    compiling, done = threading.Event(), threading.Event()

    def compilation():
        with llvm._lock:
            compiling.set()
            done.wait()

    worker = threading.Thread(target=compilation)
    worker.start()
    compiling.wait()
    tracker = weakref.ref(linked._mapping.tracker)
    del linked
    assert tracker() is not None
    done.set()
    worker.join()
    link(compile_text(scale(3)), ["scale"])
    assert tracker() is None


def test_code_can_call_given_addresses_and_the_c_library():
    callee = link(compile_text("define i32 @seven() nounwind { ret i32 7 }"), ["seven"])
    text = """
    declare i32 @given()
    declare i32 @abs(i32)
    define i32 @sum(ptr %bufs, ptr %dims) nounwind {
      %a = call i32 @given()
      %b = call i32 @abs(i32 -5)
      %c = add i32 %a, %b
      ret i32 %c
    }"""
    linked = link(compile_text(text), ["sum"], {"given": callee.address("seven")}, keep=(callee,))
    del callee
    gc.collect()
    assert call(linked, "sum", [], []) == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define i32 @f( {", "expected type"),
        ("define i32 @f() { ret i64 0 }", "i64"),
        ("define i32 @f() {\n%a = add i32 %b, 1\nret i32 %a\n}", "undefined value '%b'"),
    ],
)
def test_wrong_text_is_an_error_that_shows_the_line(text, message):
    with pytest.raises(TextError, match=message):
        compile_text(text)


def test_debug_verifies():
    """A block without a predecessor that uses its own value parses; only the verifier sees the fault."""
    text = "define i32 @f(i1 %c) {\nbr i1 %c, label %a, label %b\na:\n%v = add i32 1, 1\nbr label %b\nb:\nret i32 %v\n}"
    with configure(debug=True), pytest.raises(TextError, match="does not dominate"):
        compile_text(text)


@pytest.mark.parametrize("damage", [b"", b"no object", "half", "missing"])
def test_what_cannot_be_linked_is_an_error(damage):
    object_code = compile_text(scale(2))
    if damage == "missing":
        object_code = compile_text("declare void @nowhere()\ndefine void @scale() { call void @nowhere() ret void }")
    elif damage == "half":
        object_code = object_code[: len(object_code) // 2]
    else:
        object_code = damage
    with pytest.raises(LinkError):
        link(object_code, ["scale"])


def test_threads_compile_at_once():
    results = {}

    def work(k):
        results[k] = len(compile_text(scale(k)))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(2, 10)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 8


def test_a_fork_while_another_thread_compiles():
    """The child can compile: it has no lock whose owner stayed behind."""
    going = True

    def work():
        while going:
            compile_text(scale(2))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(5):
            assert child_agrees(lambda: link(compile_text(scale(3)), ["scale"]).names)
    finally:
        going = False
        worker.join()


def test_ctrl_c_ends_a_long_compilation(monkeypatch):
    """The main thread waits where an exception reaches it, while LLVM works on another thread."""
    released, ended = threading.Event(), []

    def compile_for_long(*_):
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(released.wait(200))

    monkeypatch.setattr(llvm, "_compile", compile_for_long)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            compile_text(scale(2))
        assert not ended, "the compilation is still going on"
    finally:
        signal.signal(signal.SIGINT, before)
        released.set()


def test_what_was_interrupted_ends_before_the_next_compilation():
    """Ctrl-C ended the wait for parts that were made side by side; the next ones came to the same code generator."""
    ended, met = alone(interrupt_compilations)
    assert ended == [True] * 12
    assert not met


def interrupt_compilations():
    """Whether each of twelve interrupts, which come once both parts are begun, ends its compilation; and the parts that
    were begun while what was interrupted went on."""
    going, met, numbers = [], [], itertools.count()

    def noted(real):
        def compile_part(*args):
            trial = len(ended)
            met.extend(number for number in going if number != trial)
            going.append(trial)
            if next(numbers) == 1:
                os.kill(os.getpid(), signal.SIGUSR1)
            try:
                return real(*args)
            finally:
                going.remove(trial)

        return compile_part

    def interrupted(*_):
        raise KeyboardInterrupt

    def texts(first, count):
        return ["".join(scale(k).replace("@scale", f"@scale_{k}") for k in range(i, i + count))
                for i in (first, first + count)]  # fmt: skip

    signal.signal(signal.SIGUSR1, interrupted)
    for name in ("_compile_past_the_lock", "_compile"):  # side by side, or one after the other
        setattr(llvm, name, noted(getattr(llvm, name)))
    ended = []
    for _ in range(12):
        numbers = itertools.count()
        try:
            llvm.compile_texts(texts(2, 80))
            ended.append(False)
        except KeyboardInterrupt:
            ended.append(True)
        assert link(llvm.compile_texts(texts(500, 2)), ["scale_500", "scale_503"])
    return ended, met


def test_threads_of_little_stack_can_compile():
    found = []
    before = threading.stack_size(65536)
    try:
        worker = threading.Thread(target=lambda: found.append(link(compile_text(scale(7)), ["scale"]).names))
        worker.start()
    finally:
        threading.stack_size(before)
    worker.join()
    assert found == [("scale",)]


def test_importing_the_package_does_not_load_llvm():
    python("import sys, duograph; assert 'llvmlite' not in sys.modules")


FULL = """
import ctypes, sys
import duograph as ms
from duograph import Tensor
from duograph.base.events import record

def function(i):
    return ms.jit(lambda x: x * float(i) + 1)

x = Tensor([1.0, 2.0])
kept = [function(i) for i in range(2)]
for f in kept * 3:
    f(x)
library = ctypes.CDLL(None)
library.mmap.restype = address = ctypes.c_void_p
library.mmap.argtypes = [address, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
with open("/proc/self/maps") as maps:
    pages = MOST - sum(1 for _ in maps) - 50
start = library.mmap(None, 4096 * pages, 1, 0x22, -1, 0)
for page in range(0, pages, 2):
    library.mprotect(start + 4096 * page, 4096, 0)
with record() as log:
    for i in range(2, 6):
        kept.append(function(i))
        for _ in range(3):
            assert [f(x).asnumpy().tolist() for f in kept] == [[i + 1.0, 2.0 * i + 1] for i in range(len(kept))]
assert log.of_kind("machine code refused")
for page in range(0, pages, 2):
    library.mprotect(start + 4096 * page, 4096, 1)
assert function(50)(x).asnumpy().tolist() == [51, 101]
print("alive")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the number of mappings is Linux's")
def test_a_process_without_mappings_left_lives_and_computes(tmp_path):
    """LLVM itself would end it (`IPInFlightAlloc neither abandoned nor finalized`)."""
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    if most > 200_000:
        pytest.skip(f"this system allows {most} mappings")
    text = FULL.replace("MOST", str(most))
    assert python(text, DUOGRAPH_CACHE_DIR=str(tmp_path)) == "alive\n"


def test_code_that_is_dropped_leaves_no_memory_behind():
    """LLVM keeps 9 KB of each piece of code until the linker goes."""
    assert growth(links) < 100 * 10 * llvm.MOST_DEAD


def links():
    objects = compile_text(scale(2))

    def work():
        for _ in range(10 * llvm.MOST_DEAD):
            link(objects, ["scale"])

    return work


def test_code_outlives_other_code_that_was_linked_with_it():
    llvm._linker = None  # the last one may have code of other tests, and then outlives this one
    objects, linkers, kept = compile_text(scale(2)), set(), []
    for number in range(4 * llvm.MOST_DEAD):
        linked = link(objects, ["scale"])
        linkers.add(llvm._linker)
        if number % llvm.MOST_DEAD == 7:
            kept.append(linked)
    del linked
    assert len(linkers) >= 4
    x = np.ones(1, np.float32)
    for linked in kept:
        assert call(linked, "scale", [x], [1]) == 0
    assert x.tolist() == [2.0 ** len(kept)]
    assert not any(linker.jit.closed for linker in linkers if linker.live)
    del linked
    kept.clear()
    assert [linker for linker in linkers if not linker.jit.closed] == [llvm._linker]
