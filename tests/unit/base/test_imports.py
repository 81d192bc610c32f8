"""`duograph.base.imports`: Ctrl-C during an import that a program did not ask for."""

import threading

import pytest

from duograph.base.imports import import_whole, start_thread
from tests.unit.runtime.processes import python

BEGIN = """
import _imp, builtins, importlib, signal, sys, threading
from duograph.base import imports
sys.path.insert(0, {!r})
builtins.was_interrupted, builtins.waits_again = threading.Event(), threading.Event()
"""

INTERRUPTING = """
import builtins, signal, threading
while not builtins.was_interrupted.wait(0.01):  # a signal just before the wait for this import is not heard
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
"""
"""Of a module: interrupts the main thread, which waits for it."""

NOTED = """
import_module, wait = importlib.import_module, imports._Import.wait
def noted(name, *args):
    here = threading.current_thread()
    if here is threading.main_thread() or builtins.was_interrupted.is_set():
        print("importlib on", here.name, end=" ")
        builtins.waits_again.set()
    return import_module(name, *args)
def waited(worker):
    builtins.waits_again.set()
    return wait(worker)
importlib.import_module, imports._Import.wait = noted, waited
"""
"""Says what begins an import: the main thread never does, and nobody after an interrupted one."""


def interrupted(module: str) -> str:
    """The text of a program whose import of ``module`` is interrupted once."""
    return f"""
def interrupted(*_):
    if not builtins.was_interrupted.is_set():
        builtins.was_interrupted.set()
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupted)
try:
    imports.import_whole("{module}")
except KeyboardInterrupt:
    print("interrupted", end=" ")
"""


def test_an_interrupted_import_goes_on_to_its_end(tmp_path):
    """The module registers itself when its import begins, and cannot be imported twice."""
    once = "assert not hasattr(builtins, 'was_here')\nbuiltins.was_here = True\n"
    (tmp_path / "slow_module.py").write_text("import builtins\n" + once + INTERRUPTING + "whole = True\n")
    asked = 'print(imports.import_whole("slow_module").whole)'
    assert python(BEGIN.format(str(tmp_path)) + interrupted("slow_module") + asked) == "interrupted True\n"


def test_an_error_of_the_import_is_raised():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_whole("no_such_module")


def test_what_a_signal_handler_raises_while_a_thread_starts_is_raised():
    class Interrupted(threading.Thread):
        """`Thread.start` as it is with an alarm after the thread has begun: it takes it out of a table, again."""

        def start(self):
            try:
                raise TimeoutError("an alarm")
            except TimeoutError:
                del {}[self]

    with pytest.raises(TimeoutError, match="an alarm"):
        start_thread(Interrupted())


def test_a_wait_that_was_interrupted_is_taken_up_outside_the_import_system(tmp_path):
    """`importlib` on the main thread may be interrupted with its global lock held: the other import then never ends."""
    (tmp_path / "slow_module.py").write_text(INTERRUPTING + "assert builtins.waits_again.wait(60)\nwhole = True\n")
    asked = 'print(imports.import_whole("slow_module").whole)'
    assert python(BEGIN.format(str(tmp_path)) + interrupted("slow_module") + NOTED + asked) == "interrupted True\n"


def test_an_import_that_failed_begins_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    module = tmp_path / "module_that_is_mended.py"
    module.write_text("raise ValueError('not yet')")
    with pytest.raises(ValueError, match="not yet"):
        import_whole("module_that_is_mended")
    module.write_text("there = True  # mended")
    assert import_whole("module_that_is_mended").there


def test_an_import_under_the_global_import_lock_of_a_finder_ends(tmp_path):
    """Finders of CPython 3.11 run under it: a thread that imports for the main thread would never get it."""
    (tmp_path / "module_of_a_finder.py").write_text("there = True")
    program = f"""
        import _imp, faulthandler, sys
        from duograph.base.imports import import_whole
        faulthandler.dump_traceback_later(100, exit=True)
        sys.path.insert(0, {str(tmp_path)!r})
        _imp.acquire_lock()
        try:
            print(import_whole("module_of_a_finder").there)
        finally:
            _imp.release_lock()
    """
    assert python(program) == "True\n"


def test_the_global_import_lock_of_another_thread_keeps_the_main_thread_out_of_the_import_system(tmp_path):
    """Each thread that imports holds it for moments; a signal in `importlib` on the main thread would leave it held."""
    (tmp_path / "slow_module.py").write_text("whole = True")
    program = """
def hold():
    _imp.acquire_lock()
    is_held.set()
    builtins.waits_again.wait(60)
    _imp.release_lock()

is_held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
is_held.wait(60)
print(imports.import_whole("slow_module").whole)
"""
    assert python(BEGIN.format(str(tmp_path)) + NOTED + program) == "True\n"


def test_what_an_interrupted_import_has_come_to_is_waited_for(tmp_path):
    """A module that the other thread imports for the one that was asked for before."""
    (tmp_path / "outer_module.py").write_text("import inner_module")
    (tmp_path / "inner_module.py").write_text(INTERRUPTING + "assert builtins.waits_again.wait(60)\nwhole = True\n")
    asked = 'print(imports.import_whole("inner_module").whole)'
    assert python(BEGIN.format(str(tmp_path)) + interrupted("outer_module") + NOTED + asked) == "interrupted True\n"
