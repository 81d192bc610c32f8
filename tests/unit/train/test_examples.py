"""The examples about files run, small, and give the same bits in both modes."""

import importlib.util
from pathlib import Path

import pytest

import duograph as ms

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_both_modes(call):
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            found.append(call(mode))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    return found


def test_pictures(tmp_path):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    pictures = example("pictures")
    dynamic, graph = in_both_modes(lambda mode: pictures.run(tmp_path / str(mode), 1, 24))
    assert dynamic == graph
    (first, *_), folder = ms.train.read_events(str(tmp_path / "0" / "curves")), tmp_path / "0"
    assert {"loss", "learning_rate", "input_data/auto"} <= set(first["values"])
    assert {p.suffix for p in folder.iterdir() if p.is_file()} == {".ckpt", ".mindir", ".onnx"}


def test_reviews(tmp_path):
    reviews = example("reviews")
    reviews.write_reviews(tmp_path, 24)
    dynamic, graph = in_both_modes(lambda mode: reviews.run(tmp_path, 2))
    assert dynamic == graph
    assert len(dynamic[2]) == 2
