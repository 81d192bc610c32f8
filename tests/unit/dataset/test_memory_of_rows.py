"""Rows are nobody else's memory: a source may use its array again, and operations may write to what they are given."""

from __future__ import annotations

import numpy as np
import pytest

import duograph.dataset as ds


class OneArray:
    def __init__(self):
        self.array = np.zeros(3, np.float32)

    def __getitem__(self, place):
        self.array[:] = place
        return self.array

    def __len__(self):
        return 6


def one_array():
    array = np.zeros(3, np.float32)
    for place in range(6):
        array[:] = place
        yield (array,)


def values(dataset):
    return np.concatenate([row["x"].reshape(-1, 3)[:, 0] for row in list(rows(dataset))]).tolist()


def rows(dataset):
    return dataset.create_dict_iterator(num_epochs=1, output_numpy=True)


def add_one(x):
    x += 1
    return x


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("source", [OneArray, lambda: one_array], ids=["by number", "in order"])
def test_sources_that_use_their_array_again(source, workers):
    made = ds.GeneratorDataset(source(), ["x"], shuffle=False, num_parallel_workers=workers)
    wanted = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for dataset in (made, made.batch(4), made.map(lambda x: x, "x"), made.map(lambda x: x, "x").batch(2)):
        assert values(dataset) == wanted
    assert sorted(values(made.shuffle(4).batch(3))) == wanted


@pytest.mark.parametrize("workers", [1, 2])
def test_operations_that_use_their_array_again(workers):
    kept = np.zeros((2, 3), np.float32)

    def made(x):
        kept[0] = x
        return kept[0]

    source = ds.NumpySlicesDataset(np.arange(18, dtype=np.float32).reshape(6, 3), ["x"], shuffle=False)
    dataset = source.map(made, "x", num_parallel_workers=workers, python_multiprocessing=True)
    assert values(dataset) == values(dataset.batch(6)) == [0.0, 3.0, 6.0, 9.0, 12.0, 15.0]


@pytest.mark.parametrize("kind", ["slices", "list", "padded"])
def test_operations_that_write_to_what_they_are_given(kind):
    data = [np.full(3, place, np.float32) for place in range(4)]
    dataset = {
        "slices": lambda: ds.NumpySlicesDataset(data, ["x"], shuffle=False),
        "list": lambda: ds.GeneratorDataset(data, ["x"], shuffle=False),
        "padded": lambda: ds.PaddedDataset([{"x": row} for row in data]),
    }[kind]().map(add_one, "x")
    for _ in range(3):
        assert values(dataset) == [1.0, 2.0, 3.0, 4.0]
        for row in rows(dataset):
            row["x"][:] = 9
    assert [row.tolist() for row in data] == [[float(i)] * 3 for i in range(4)]
