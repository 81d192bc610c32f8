"""PIJit's ``print_after_all``: what was captured, and why something was not, on standard output."""

import duograph as ms

REPORT = {"print_after_all": True}


def test_the_graph_is_printed_once_per_capture(capsys):
    f = ms.jit(lambda x: x + x, jit_config=REPORT)
    for _ in range(2):
        f(ms.Tensor([1.0]))
    text = capsys.readouterr().out
    assert "<lambda>" in text
    assert text.count("1 compiled version") == 1
    assert "add" in text


def test_the_reason_of_a_fallback_is_printed(capsys):
    def through_numpy(x):
        return ms.Tensor(x.asnumpy() + 1)

    ms.jit(through_numpy, mode="PIJit", jit_config=REPORT)(ms.Tensor([1.0]))
    text = capsys.readouterr().out
    assert "through_numpy" in text
    assert "asnumpy()" in text
    assert "test_report.py" in text


def test_without_it_nothing_is_printed(capsys):
    ms.jit(lambda x: x + x)(ms.Tensor([1.0]))
    assert capsys.readouterr().out == ""
