"""Diagnostics are data; the exceptions that carry them are also the builtin ones."""

import pickle
from pathlib import Path

import pytest

from duograph.base.diagnostics import (
    CODES,
    CaptureError,
    Diagnostic,
    DuographError,
    InternalError,
    Label,
    category,
    diagnostic_error,
    without_internal_frames,
)
from duograph.base.source import PACKAGE_DIR, Span

SOURCE = Path(PACKAGE_DIR)
SPAN = Span("<gone>", 3, 4, 3, 9)
WRONG = Diagnostic("DG0412", "matmul: inner dimensions differ, 16 and 8", (Label(SPAN, "here"),))


@pytest.mark.parametrize(
    "builtin", [TypeError, ValueError, IndexError, RuntimeError, KeyError, AttributeError, ZeroDivisionError, NameError]
)
def test_diagnostic_error_is_the_builtin(builtin):
    error = diagnostic_error(builtin, WRONG)
    assert isinstance(error, builtin) and isinstance(error, DuographError)
    assert type(error).__name__ == builtin.__name__
    assert type(error) is type(diagnostic_error(builtin, WRONG))
    assert error.diagnostic is WRONG and error.code == "DG0412"
    assert error.args == (WRONG.message,)
    assert str(error).startswith("matmul: inner dimensions differ, 16 and 8 [DG0412]\n")
    with pytest.raises(builtin, match="inner dimensions"):
        raise error


@pytest.mark.parametrize("builtin", [TypeError, KeyError, CaptureError, InternalError])
def test_errors_pickle(builtin):
    error = diagnostic_error(builtin, WRONG)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.diagnostic == WRONG and str(again) == str(error)


def test_own_exceptions():
    error = diagnostic_error(CaptureError, WRONG)
    assert type(error) is CaptureError and error.diagnostic is WRONG
    plain = DuographError("just words")
    assert str(plain) == "just words" and plain.code is None
    assert str(pickle.loads(pickle.dumps(plain))) == "just words"
    assert str(DuographError(Diagnostic("DG0401", "no place"))) == "no place [DG0401]"


def test_internal_error_says_so():
    error = InternalError("operand 3 has no type", stage="simplify")
    assert error.code == "DG0901"
    assert str(error).splitlines()[0] == "internal error in simplify: operand 3 has no type [DG0901]"
    assert "fault of duograph" in str(error)


def test_unknown_codes_are_refused():
    with pytest.raises(ValueError, match="DG9999"):
        Diagnostic("DG9999", "what")


def test_codes_have_categories_and_titles():
    for code, title in CODES.items():
        assert category(code) and title and not title.endswith(".")


def test_every_code_is_raised_somewhere():
    table = SOURCE / "base" / "diagnostics.py"
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path != table]
    texts.append(table.read_text(encoding="utf-8").partition("def category")[2])
    assert not [code for code in CODES if not any(f'"{code}"' in text for text in texts)]


def test_span_and_additions():
    second = Label(Span("<gone>", 1, 0, 1, 1), "made here", primary=False)
    diagnostic = Diagnostic("DG0412", "m", (second, Label(SPAN)))
    assert diagnostic.span == SPAN
    assert Diagnostic("DG0412", "m", (second,)).span == second.span
    assert Diagnostic("DG0412", "m").span is None
    assert diagnostic.with_label(None) is diagnostic
    assert diagnostic.with_label(SPAN, "more").labels[-1] == Label(SPAN, "more")
    assert Diagnostic("DG0412", "m", [second], ["n"]) == Diagnostic("DG0412", "m", (second,), ("n",))
    assert hash(diagnostic) == hash(Diagnostic("DG0412", "m", (second, Label(SPAN))))


def test_without_internal_frames():
    namespace = {}
    exec(compile("def call(f):\n    return f()\n", PACKAGE_DIR + "somewhere.py", "exec"), namespace)

    def user():
        raise KeyError("x")

    def files(tb):
        while tb is not None:
            yield tb.tb_frame.f_code.co_name
            tb = tb.tb_next

    with pytest.raises(KeyError) as caught:
        namespace["call"](user)
    assert list(files(caught.tb)) == ["test_without_internal_frames", "call", "user"]
    assert list(files(without_internal_frames(caught.tb))) == ["test_without_internal_frames", "user"]
    inner = caught.tb.tb_next
    inner.tb_next = None
    assert without_internal_frames(inner) is inner
    assert without_internal_frames(None) is None
