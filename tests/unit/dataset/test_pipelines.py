"""Pipelines: sources, samplers, nodes, iterators, seeds, training from them."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph import nn
from duograph.dataset import transforms, vision
from duograph.dataset.run import Run


@pytest.fixture(autouse=True)
def seeded():
    before = ds.config._seed[0]
    ds.config.set_seed(7)
    yield
    ds.config._seed[0] = before


def numbers(n=6, **kwargs):
    return ds.NumpySlicesDataset({"x": np.arange(n, dtype=np.int32)}, **kwargs)


def values(dataset, epochs=1):
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    out = [[row[0].tolist() for row in iterator] for _ in range(epochs)]
    return out[0] if epochs == 1 else out


def rows():
    for i in range(5):
        yield np.array([i]), np.array(i * 2.0, np.float32)


class Table:
    def __getitem__(self, i):
        return i, i * 10

    def __len__(self):
        return 6


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda d: d.batch(4), [[0, 1, 2, 3], [4, 5]]),
        (lambda d: d.batch(4, drop_remainder=True), [[0, 1, 2, 3]]),
        (lambda d: d.batch(lambda info: info.get_batch_num() + 1), [[0], [1, 2], [3, 4, 5]]),
        (lambda d: d.map(lambda x: x * 2, ["x"]), [0, 2, 4, 6, 8, 10]),
        (lambda d: d.map([lambda x: x + 1, lambda x: x * 2], "x", "y"), [2, 4, 6, 8, 10, 12]),
        (lambda d: d.filter(lambda x: x % 2 == 0, "x"), [0, 2, 4]),
        (lambda d: d.repeat(2).take(8), [0, 1, 2, 3, 4, 5, 0, 1]),
        (lambda d: d.skip(4), [4, 5]),
        (lambda d: d + d.take(1), [0, 1, 2, 3, 4, 5, 0]),
        (lambda d: d.split([4, 2], randomize=False)[1], [4, 5]),
        (lambda d: d.flat_map(lambda x: numbers(int(x), shuffle=False)).take(4), [0, 0, 1, 0]),
    ],
)
def test_nodes(make, expected):
    made = make(numbers(shuffle=False))
    assert values(made) == expected
    assert made.get_dataset_size() == len(expected)


def test_columns():
    both = ds.zip((ds.GeneratorDataset(rows, ["a", "b"]), ds.GeneratorDataset(rows, ["c", "d"])))
    assert both.get_col_names() == ["a", "b", "c", "d"]
    made = both.project(["d", "a"]).rename("d", "e").map(lambda a: (a, a + 1), "a", ["a", "f"])
    assert made.get_col_names() == ["a", "f", "e"]
    first = next(made.create_dict_iterator())
    assert {k: v.shape for k, v in first.items()} == {"a": (1,), "f": (1,), "e": ()}
    assert isinstance(first["a"], ms.Tensor) and first["e"].dtype == ms.float32
    assert made.output_shapes() == [[1], [1], []]


def test_batch_maps_and_padding():
    batches = numbers(5, shuffle=False).batch(2, per_batch_map=lambda x, info: ([v + info.get_batch_num() for v in x],))
    assert values(batches) == [[0, 1], [3, 4], [6]]
    ragged = ds.GeneratorDataset([np.ones(2), np.ones(3)], ["a"], shuffle=False)
    assert values(ragged.padded_batch(2, pad_info={"a": ([4], 9)})) == [[[1, 1, 9, 9], [1, 1, 1, 9]]]
    with pytest.raises(RuntimeError, match="Inconsistent batch shapes"):
        values(ragged.batch(2))
    words = ds.GeneratorDataset([np.ones(n) for n in (1, 4, 2, 5)], ["a"], shuffle=False)
    got = words.bucket_batch_by_length(["a"], [3], [2, 2], pad_info={"a": ([None], 0)})
    assert values(got) == [[[1, 0], [1, 1]], [[1, 1, 1, 1, 0], [1] * 5]]


def test_samplers():
    def chosen(sampler):
        return values(ds.GeneratorDataset(Table(), ["a", "b"], sampler=sampler))

    assert chosen(ds.SequentialSampler(1, 3)) == [1, 2, 3]
    assert chosen(ds.SubsetSampler([3, 1])) == [3, 1]
    assert sorted(chosen(ds.SubsetRandomSampler([3, 1, 5]))) == [1, 3, 5]
    assert sorted(chosen(ds.RandomSampler())) == list(range(6))
    assert set(chosen(ds.WeightedRandomSampler([0, 1, 0, 1, 0, 0], 20))) == {1, 3}
    assert chosen([5, 0]) == [5, 0]
    parts = [chosen(ds.DistributedSampler(2, i, shuffle=True)) for i in range(2)]
    assert sorted(parts[0] + parts[1]) == list(range(6))


def test_seeds_decide_every_order():
    mixed = numbers(20)
    one, two = values(mixed, epochs=2)
    assert sorted(one) == sorted(two) == list(range(20)) and one != two
    assert values(mixed) == one
    ds.config.set_seed(8)
    assert values(mixed) != one
    buffered = numbers(20, shuffle=False).shuffle(4)
    assert values(buffered) == values(buffered) != list(range(20))
    a, b = (values(part) for part in numbers(10).split([0.5, 0.5]))
    assert sorted(a + b) == list(range(10))


def test_iterators():
    data = numbers(3, shuffle=False)
    assert [x.asnumpy().item() for (x,) in data] == [0, 1, 2]
    iterator = data.create_tuple_iterator(num_epochs=2)
    assert [len(list(iterator)) for _ in range(2)] == [3, 3]
    with pytest.raises(RuntimeError, match="num_epochs"):
        next(iterator)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: ds.GeneratorDataset(3, ["a"]), TypeError, "should be callable, iterable or random accessible"),
        (lambda: ds.GeneratorDataset(Table()), ValueError, "Neither columns_names nor schema"),
        (lambda: numbers(num_shards=2), ValueError, "need to be passed in together"),
        (lambda: numbers(sampler=[1], shuffle=True), RuntimeError, "cannot be specified at the same time"),
        (lambda: numbers().batch(0), ValueError, "batch_size is not within"),
        (lambda: numbers().batch("a"), TypeError, "batch_size should either be an int or a callable"),
        (lambda: numbers().map(3), ValueError, "should be a python function"),
        (lambda: numbers().repeat(0), ValueError, "count should be either -1"),
        (lambda: numbers().shuffle(1), ValueError, "buffer_size is not within"),
        (lambda: ds.NumpySlicesDataset(([1, 2], [3])), ValueError, "length in each column is not equal"),
        (lambda: values(numbers().map(lambda x: 1 / 0)), RuntimeError, "ZeroDivisionError"),
        (lambda: values(numbers().project("q")), RuntimeError, "column name: q doesn't exist"),
        (lambda: values(ds.GeneratorDataset(Table(), ["a"])), RuntimeError, "column_names is:1"),
        (lambda: ds.MnistDataset("/nowhere"), ValueError, "does not exist"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_files(tmp_path):
    images = np.arange(2 * 28 * 28, dtype=np.uint8).reshape(2, 28, 28)
    header = b"\0\0\x08\x03" + np.array([2, 28, 28], ">i4").tobytes()
    (tmp_path / "train-images-idx3-ubyte").write_bytes(header + images.tobytes())
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + np.array([2], ">i4").tobytes() + b"\x07\x03")
    mnist = ds.MnistDataset(str(tmp_path), "train", shuffle=False)
    got = list(mnist.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [r[1].item() for r in got] == [7, 3] and got[0][1].dtype == np.uint32
    np.testing.assert_array_equal(got[1][0][..., 0], images[1])
    assert len(ds.MnistDataset(str(tmp_path))) == 2  # what is there
    with pytest.raises(RuntimeError, match="no file t10k-images-idx3-ubyte"):
        len(ds.MnistDataset(str(tmp_path), "test"))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes((tmp_path / "train-labels-idx1-ubyte").read_bytes())
    with pytest.raises(RuntimeError, match="t10k-labels-idx1-ubyte is there, but not"):
        len(ds.MnistDataset(str(tmp_path)))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(header + images.tobytes())
    assert len(ds.MnistDataset(str(tmp_path))) == 4
    record = np.concatenate([[5], np.arange(3072) % 256]).astype(np.uint8)
    (tmp_path / "test_batch.bin").write_bytes(record.tobytes())
    ((image, label),) = ds.Cifar10Dataset(str(tmp_path), "test").create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert image.shape == (32, 32, 3) and label == 5 and image[0, 1].tolist() == [1, 1, 1]
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    table = ds.CSVDataset(str(tmp_path / "t.csv"), column_defaults=[0, ""], shuffle=False)
    assert table.get_col_names() == ["a", "b"] and values(table) == [1, 2]


@pytest.mark.parametrize(
    "content", [b"", b"\0\0", b"\0\0\x08\x03\0\0", b"\0\0\x08\x01\0\0\0\x05abc", b"\0\0\x0d\x01\0\0\0\0"]
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_damaged_idx_files(tmp_path, content, end):
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        (tmp_path / (name + end)).write_bytes(content)
    with pytest.raises(RuntimeError, match="Invalid file"):
        len(ds.MnistDataset(str(tmp_path)))


def test_random_operations_follow_the_seed():
    images = np.arange(8 * 4 * 4 * 3, dtype=np.uint8).reshape(8, 4, 4, 3)
    data = ds.NumpySlicesDataset({"image": images}, shuffle=False)
    data = data.map([vision.RandomCrop(3), vision.RandomHorizontalFlip(0.5), vision.ToTensor()], "image").batch(8)
    (one,), (two,) = (next(data.create_tuple_iterator(output_numpy=True)) for _ in range(2))
    assert one.shape == (8, 3, 3, 3) and one.dtype == np.float32
    np.testing.assert_array_equal(one, two)


def test_operations():
    image = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    assert vision.HWC2CHW()(image).shape == (3, 2, 3)
    np.testing.assert_allclose(vision.Normalize([1, 2, 3], [2, 2, 2])(image)[0, 0], [-0.5, -0.5, -0.5])
    np.testing.assert_allclose(vision.Rescale(2.0, 1.0)(image), image * 2.0 + 1.0)
    assert vision.Resize((4, 4))(image)[..., 0].tolist() == [
        [0, 2, 4, 6],
        [2, 4, 6, 8],
        [7, 9, 11, 13],
        [9, 11, 13, 15],
    ]
    assert vision.CenterCrop((4, 2))(image).shape == (4, 2, 3)
    assert transforms.TypeCast(ms.float32)(image).dtype == np.float32
    assert transforms.OneHot(3)(np.array([1, 2])).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert transforms.Compose([transforms.Fill(2), lambda x: x + 1])(np.zeros(2)).tolist() == [3, 3]
    assert transforms.PadEnd([3], 9)(np.zeros(2)).tolist() == [0, 0, 9]
    with pytest.raises(RuntimeError, match="cannot be decoded"):
        vision.Decode()(np.zeros(3, np.uint8))


def test_training_from_a_pipeline():
    x = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": x @ np.ones((3, 1), np.float32)}).batch(8)
    net = nn.Dense(3, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.2), metrics={"mse"})
    model.train(20, data, dataset_sink_mode=False)
    assert model.eval(data)["mse"] < 1e-2


def test_rows_of_different_lengths():
    data = ds.NumpySlicesDataset({"x": [[1], [2, 3], []]}, shuffle=False)
    assert [row[0].tolist() for row in data.create_tuple_iterator(output_numpy=True)] == [[1], [2, 3], []]
    padded = data.padded_batch(3, pad_info={"x": ([2], 0)})
    assert [row[0].tolist() for row in padded.create_tuple_iterator(output_numpy=True)] == [[[1, 0], [2, 3], [0, 0]]]
    assert ds.NumpySlicesDataset(np.ones((2, 3), np.float32)).output_types() == [np.dtype("float32")]


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("workers", [1, 2])
def test_tensors_of_a_pipeline_share_no_memory_with_what_others_have(size, workers):
    kept = []
    rows = np.ones((6, 4), np.float32)

    def mapped(column, info):
        kept.extend(column)
        return (column,)

    plain = ds.NumpySlicesDataset(rows, "x", shuffle=False)
    batched = plain.batch(size, per_batch_map=mapped, num_parallel_workers=workers).repeat(2).take(9)
    noted = plain.batch(size).map(lambda x: kept.append(x) or x)
    for pipeline in (plain, batched, batched.project("x"), noted, noted.batch(1)):
        seen = []
        for (x,) in pipeline.create_tuple_iterator(num_epochs=1):
            x[...] = 7
            seen.append(x)
        assert all((x.asnumpy() == 7).all() for x in seen)
    assert (rows == 1).all()
    assert all((x == 1).all() for x in kept)


def test_rows_of_a_source_may_be_lists_and_a_dataset_is_a_source():
    pairs = ds.GeneratorDataset([[1, 2.5], [3, 4.5]], ["a", "b"], shuffle=False)
    again = ds.GeneratorDataset(pairs, ["c", "d"], shuffle=False)
    assert [[int(a), float(b)] for a, b in again.create_tuple_iterator(output_numpy=True)] == [[1, 2.5], [3, 4.5]]
    with pytest.raises(TypeError, match=r"list/tuple of them, but got dict\."):
        next(iter(ds.GeneratorDataset([{"a": 1}], ["a"])))


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**127 + 5])
@pytest.mark.parametrize("extra", [0, 1, 2**31, 2**33 + 3])
def test_the_random_numbers_of_a_run(seed, extra):
    node = ds.NumpySlicesDataset([1, 2])
    made = Run({id(node): 3}, (seed,), 2).rng(node, extra)
    assert made.bit_generator.state == np.random.default_rng([seed, 3, 2, extra]).bit_generator.state


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_bfloat16_are_tensors(workers):
    def half(x):
        return ms.Tensor(x, ms.bfloat16)

    dataset = ds.NumpySlicesDataset(np.ones((4, 3), np.float32)).map(
        half, num_parallel_workers=workers, python_multiprocessing=True
    )
    for made in (dataset, dataset.batch(2)):
        assert {x.dtype for (x,) in made.create_tuple_iterator(num_epochs=1)} == {ms.bfloat16}
