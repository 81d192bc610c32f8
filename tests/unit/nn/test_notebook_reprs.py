"""What notebooks show of tensors, layers and explanations: ``_repr_html_``, escaped, and cheap for large tensors."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn


class Reader(HTMLParser):
    """The text of a page; what is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(shown):
    return Reader(shown._repr_html_()).text


def test_tensors():
    assert read(Tensor([[1.0, -2.0]])) == (
        "Tensor float32[1, 2], 8 B, from -2 to 1Tensor(shape=[1, 2], dtype=Float32, value=\n"
        "[[ 1.00000000e+00, -2.00000000e+00]])"
    )
    assert read(Tensor([1.0, np.nan])).startswith("Tensor float32[2], 8 B, from 1 to 1, 1 of 2 NaN or infinite")
    assert read(ms.Parameter(Tensor([1, 2]), name="<w>")).startswith(
        "Parameter int64[2], 16 B, from 1 to 2Parameter (name=<w>"
    )
    assert read(Tensor([True])).startswith("Tensor bool[1], 1 BTensor(")
    assert read(Tensor(np.zeros((0, 3), np.float32))).startswith("Tensor float32[0, 3], 0 BTensor(")
    assert read(Tensor([1.5]).astype(ms.bfloat16)).startswith("Tensor bfloat16[1], 2 B, from 1.5 to 1.5Tensor(")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
@pytest.mark.parametrize("shape", [(3_000_000,), (1500, 2000)])
def test_only_what_is_shown_of_a_tensor_is_written(monkeypatch, dtype, shape):
    from duograph.tensor import format as tensor_format

    written = []
    formatter = tensor_format._formatter
    monkeypatch.setattr(
        tensor_format, "_formatter", lambda array: lambda v: (written.append(1), formatter(array)(v))[1]
    )
    read(Tensor(np.ones(shape, dtype)))
    assert len(written) < 2500


def test_the_text_of_large_tensors_is_that_of_small_ones():
    """Aligned to the widest element of all, shown or not; MindSpore's form."""
    x = np.zeros(2000)
    x[1000] = -1e200
    assert repr(Tensor(x)).count(" 0.00000000e+00") == 6
    assert "[  0.00000000e+00,   0.00000000e+00" in repr(Tensor(x))
    n = np.arange(9 * 9).reshape(9, 9)
    n[4, 4] = -123456
    assert "[[      0,       1,       2 ...       6,       7,       8]," in repr(Tensor(n))


def test_layers():
    net = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU(), nn.SequentialCell(nn.Dense(2, 1)))
    net[0].weight.requires_grad = False
    text = read(net)
    assert text.startswith(
        "SequentialCell 11 parameters0: Dense (input_channels=3, output_channels=2, has_bias=True) 8"
    )
    assert "weight float32[2, 3], not trained" in text and "2: SequentialCell 3 parameters0: Dense" in text
    page = net._repr_html_()
    assert page.count("<details open") == 1 and page.count("<details") == 4


def test_explanations_and_summaries():
    f = ms.jit(lambda x: x < 1)
    f(Tensor([1.0]))
    assert read(f.explain()) == str(f.explain()).replace("\n", "", 1)
    assert "<lambda>" not in f.explain()._repr_html_()
    table = ms.summary(nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32)))
    assert read(table) == repr(table)
    assert "<b></b>" not in table._repr_html_()


def test_graphs():
    f = ms.jit(lambda x: x < x.sum())
    f(Tensor([1.0, 2.0]))
    (graph,) = f.explain().graphs
    text = read(graph)
    assert text.startswith("graph @'<lambda>'") or text.startswith("graph @<lambda>")
    assert "reduce_sum(%x" in text
    assert "<details open" in graph._repr_html_() and "<lambda>" not in graph._repr_html_()
