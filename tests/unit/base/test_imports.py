"""`duograph.base.imports`: Ctrl-C during an import that a program did not ask for."""

import textwrap
import threading

import pytest

from duograph.base.imports import import_whole, start_thread
from tests.unit.runtime.processes import python


def test_an_interrupted_import_goes_on_to_its_end(tmp_path):
    """The module registers itself when its import begins, and cannot be imported twice."""
    (tmp_path / "slow_module.py").write_text(
        textwrap.dedent("""
            import builtins, time
            assert not hasattr(builtins, "slow_module_was_here")
            builtins.slow_module_was_here = True
            end = time.monotonic() + 0.5
            while time.monotonic() < end:
                pass
            whole = True
        """)
    )
    program = f"""
        import signal, sys
        from duograph.base.imports import import_whole, start_thread
        sys.path.insert(0, {str(tmp_path)!r})

        def interrupted(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupted)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            import_whole("slow_module")
        except KeyboardInterrupt:
            print("interrupted", end=" ")
        print(import_whole("slow_module").whole)
    """
    assert python(program) == "interrupted True\n"


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
