"""Workers give the rows, the order and the random numbers of one, and leave nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph.dataset import processes as forked
from duograph.dataset import transforms, vision
from duograph.dataset.workers import ordered, prefetched
from tests.children import PATIENCE

WAYS = [(3, False), (3, True)]
IDS = ["threads", "processes"]


@pytest.fixture(autouse=True)
def seed():
    ds.config.set_seed(7)
    yield
    ds.config._seed[0] = None


def rows_of(pipeline, epochs=1):
    iterator = pipeline.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[tuple(x.tobytes() for x in row) for row in iterator] for _ in range(epochs)]


@pytest.mark.parametrize(("workers", "processes"), WAYS, ids=IDS)
def test_rows_order_and_random_numbers_are_those_of_one_worker(workers, processes):
    images = np.random.default_rng(0).integers(0, 256, (30, 12, 12, 3), np.uint8)

    def made(n, forked):
        pipeline = ds.NumpySlicesDataset({"x": images, "y": np.arange(30)}, num_parallel_workers=n)
        steps = [vision.RandomCrop(8, 2), transforms.RandomApply([vision.RandomInvert(0.5)], 0.5), vision.ToTensor()]
        pipeline = pipeline.map(steps, "x", num_parallel_workers=n, python_multiprocessing=forked)
        pipeline = pipeline.filter(lambda y: y % 7, "y", num_parallel_workers=n)
        return pipeline.batch(4, num_parallel_workers=n, python_multiprocessing=forked)

    one = rows_of(made(1, False), 2)
    assert one[0] != one[1]
    assert rows_of(made(workers, processes), 2) == one


@pytest.mark.parametrize(("workers", "processes"), WAYS, ids=IDS)
def test_sources_with_places_are_read_by_workers(workers, processes):
    class Source:
        def __len__(self):
            return 20

        def __getitem__(self, index):
            return np.array([index, os.getpid(), threading.get_ident()])

    dataset = ds.GeneratorDataset(
        Source(), "x", shuffle=True, num_parallel_workers=workers, python_multiprocessing=processes
    )
    got = np.array([row[0] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)])
    plain = ds.GeneratorDataset(Source(), "x", shuffle=True)
    expected = [int(row[0][0]) for row in plain.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert got[:, 0].tolist() == expected
    beside = got[:, 1] != os.getpid() if processes else got[:, 2] != threading.get_ident()
    assert beside.all()


@pytest.mark.parametrize(("workers", "processes"), WAYS, ids=IDS)
@pytest.mark.parametrize("place", ["operation", "source"])
def test_an_error_comes_after_the_rows_before_it(workers, processes, place):
    def source():
        for i in range(10):
            if i == 6 and place == "source":
                raise KeyError("six")
            yield (np.array(i),)

    def step(x):
        if x == 6:
            raise KeyError("six")
        return x

    dataset = ds.GeneratorDataset(source, "x").map(step, num_parallel_workers=workers, python_multiprocessing=processes)
    got = []
    with pytest.raises(RuntimeError, match="KeyError: 'six'"):
        for (x,) in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
            got.append(int(x))
    assert got == [*range(6)]


class Squares:
    """A source whose rows are large enough for shared memory; some fail."""

    def __init__(self, fails=(), sizes=(40,)):
        self.fails, self.sizes = fails, sizes

    def __len__(self):
        return 43

    def __getitem__(self, index):
        if index in self.fails:
            raise KeyError(f"row {index}")
        size = self.sizes[index % len(self.sizes)]
        return np.full((size, 40), index, np.float32), np.asfortranarray(np.eye(40) * index), np.int64(os.getpid())


def _batches(workers, processes, drop=False, source=None, **options):
    made = ds.GeneratorDataset(
        source or Squares(), ["x", "y", "pid"], shuffle=True, num_parallel_workers=workers,
        python_multiprocessing=processes,
    ).map(lambda x: x + 1, "x", num_parallel_workers=workers, python_multiprocessing=processes)  # fmt: skip
    return made.batch(5, drop, **options)


@pytest.mark.parametrize(("workers", "processes"), WAYS, ids=IDS)
@pytest.mark.parametrize("drop", [False, True], ids=["rest", "no rest"])
def test_sources_operations_and_batches_go_together(workers, processes, drop):
    def arrays(pipeline):
        return [row[:2] for row in pipeline.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    one, several = arrays(_batches(1, False, drop)), arrays(_batches(workers, processes, drop))
    assert len(one) == len(several) == (8 if drop else 9)
    for row, expected in zip(several, one, strict=True):
        for x, y in zip(row, expected, strict=True):
            assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
            assert x.flags.owndata and x.flags.writeable
    makers = {
        int(p)
        for *_, pid in _batches(workers, processes).create_tuple_iterator(num_epochs=1, output_numpy=True)
        for p in pid
    }
    assert (os.getpid() in makers) == (not processes)


@pytest.mark.parametrize(("workers", "processes"), WAYS, ids=IDS)
def test_the_users_code_runs_in_other_processes_only_where_that_was_said(workers, processes):
    def batch_function(x, y, pid, info):
        return x, y, [np.int64(os.getpid()) for _ in pid]

    rows = _batches(workers, processes, per_batch_map=batch_function).create_tuple_iterator(
        num_epochs=1, output_numpy=True
    )
    assert {int(p) for *_, pid in rows for p in pid} == {os.getpid()}
    source = ds.GeneratorDataset(Squares(), ["x", "y", "pid"], shuffle=False)
    mapped = source.map(lambda x: x, "x", num_parallel_workers=workers, python_multiprocessing=processes).batch(5)
    assert {int(p) for *_, pid in mapped.create_tuple_iterator(num_epochs=1, output_numpy=True) for p in pid} == {
        os.getpid()
    }


@pytest.mark.parametrize(
    ("below", "above"), [((3, True), (2, False)), ((3, False), (2, True)), ((3, False), (1, False))]
)
def test_an_operation_has_the_workers_that_it_was_given(below, above):
    def options(given):
        return {"num_parallel_workers": given[0], "python_multiprocessing": given[1]}

    def first(x):
        return x, np.int64(os.getpid())

    def second(x):
        if above[0] == 1:
            order.append(int(x))
        return x, np.int64(os.getpid())

    order: list[int] = []
    made = ds.NumpySlicesDataset({"x": np.arange(40)}, shuffle=False).map(first, "x", ["x", "a"], **options(below))
    rows = list(
        made.map(second, "x", ["x", "b"], **options(above)).create_dict_iterator(num_epochs=1, output_numpy=True)
    )
    assert [int(row["x"]) for row in rows] == [*range(40)]
    assert {int(row["a"]) == os.getpid() for row in rows} == {not below[1]}
    assert {int(row["b"]) == os.getpid() for row in rows} == {not above[1]}
    assert above[0] > 1 or order == [*range(40)]


def _drawn(workers, batched=False):
    def draw(x):
        return np.array([random.random(), np.random.rand(), float(ms.ops.rand(1)[0])])

    made = ds.NumpySlicesDataset(np.arange(24), shuffle=False)
    made = made.map(draw, num_parallel_workers=workers, python_multiprocessing=True)
    rows = (made.batch(2) if batched else made).create_tuple_iterator(num_epochs=2, output_numpy=True)
    return np.array([[x for (x,) in rows] for _ in range(2)]).reshape(-1, 3)


@pytest.mark.parametrize("batched", [False, True], ids=["rows", "batches"])
def test_global_generators_of_processes_depend_on_the_seed_and_the_row_alone(batched):
    two = _drawn(2, batched)
    assert all(len(set(column)) == 48 for column in two.T)
    assert np.array_equal(two, _drawn(3, batched))


def test_global_generators_of_processes_differ_without_a_seed(monkeypatch):
    monkeypatch.setattr(ds.config, "chosen_seed", lambda: None)
    assert all(len(set(column)) == 48 for column in _drawn(3).T)


def test_no_other_worker_is_forked_while_pipes_are_made(monkeypatch):
    context, held = multiprocessing.get_context("fork"), []
    pipe = context.Pipe
    monkeypatch.setattr(context, "Pipe", lambda **options: held.append(forked._forking.locked()) or pipe(**options))
    assert list(ordered(lambda x: x, range(4), 2, True)) == [*range(4)]
    assert held == [True] * 4


@pytest.mark.parametrize(("workers", "processes"), [(1, False), *WAYS], ids=["one", *IDS])
@pytest.mark.parametrize("wrong", ["a row", "a row of the rest", "shapes"])
def test_what_fails_in_a_batch_fails_after_those_before_it(workers, processes, wrong):
    all_rows = _batches(1, False).create_tuple_iterator(num_epochs=1, output_numpy=True)
    order = [int(x[0, 0]) - 1 for batch, *_ in all_rows for x in batch]
    fails = {"a row": [order[12]], "a row of the rest": [order[42]], "shapes": []}[wrong]
    source = Squares(fails, (40, 41) if wrong == "shapes" else (40,))
    rows, got = _batches(workers, processes, True, source).create_tuple_iterator(num_epochs=1, output_numpy=True), 0
    with pytest.raises(RuntimeError) as caught:
        for _ in rows:
            got += 1
    assert got == {"a row": 2, "a row of the rest": 8, "shapes": 0}[wrong]
    told = "Inconsistent batch shapes" if wrong == "shapes" else f"KeyError: 'row {fails[0]}'"
    assert told in str(caught.value)


def test_what_processes_give_each_other_may_be_anything():
    """Large and small, pickled or not, in both directions at once."""

    def step(x):
        kinds = [np.full((300, 500), x), np.array("text " * 90000), np.array({"x": x}, object)]
        return [*kinds, np.asfortranarray(np.ones((80, 90)) * x)][x % 4]

    rows = ds.GeneratorDataset(lambda: ((np.int64(i), np.ones(200000) * i) for i in range(24)), ["x", "y"])
    rows = rows.map(step, "x", num_parallel_workers=3, python_multiprocessing=True)
    for i, (x, y) in enumerate(rows.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        expected = np.asarray(step(np.int64(i)))
        same = x == expected.item() if expected.dtype == object else x.tobytes() == expected.tobytes()
        assert same and y[0] == i and getattr(x, "shape", ()) == expected.shape


def test_a_result_that_cannot_be_given_is_an_error_in_its_place():
    made, got = ordered(lambda x: threading.Lock() if x == 5 else x, range(40), 2, True), []
    with pytest.raises(TypeError, match="pickle"):
        for x in made:
            got.append(x)
    assert got == [*range(5)]


def test_processes_that_were_forked_later_hold_nobody_up():
    first, second = ordered(lambda x: x, range(100), 2, True), ordered(lambda x: -x, range(100), 2, True)
    assert [next(first), next(second)] == [0, 0]
    assert [*first] == [*range(1, 100)]  # waits for its workers, while others live
    second.close()


def test_the_configured_number_is_that_of_nodes_without_one():
    kept = ds.config._workers[0]
    try:
        ds.config.set_num_parallel_workers(3)
        assert ds.NumpySlicesDataset([1, 2]).map(lambda x: x).workers == 3
    finally:
        ds.config._workers[0] = kept
    assert ds.NumpySlicesDataset([1, 2]).map(lambda x: x).workers == 1


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "2"])
def test_wrong_numbers(wrong):
    with pytest.raises((TypeError, ValueError), match="num_parallel_workers"):
        ds.NumpySlicesDataset([1, 2]).map(lambda x: x, num_parallel_workers=wrong)


def test_items_are_drawn_no_further_ahead_than_said(monkeypatch):
    monkeypatch.setitem(ds.config._kept.values, "prefetch_size", 4)
    drawn = []

    def items():
        for i in range(100):
            drawn.append(i)
            yield i

    made = ordered(lambda x: x, items(), 2)
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    assert len(drawn) <= 7
    made.close()


def test_an_iterator_goes_on_from_its_state():
    def pipeline():
        made = ds.NumpySlicesDataset(np.arange(40, dtype=np.uint8).reshape(10, 2, 2), shuffle=True)
        return made.map(vision.RandomHorizontalFlip(), num_parallel_workers=2).batch(3).repeat(2)

    whole = pipeline().create_tuple_iterator(num_epochs=2, output_numpy=True)
    first = [row[0].tobytes() for row in whole] + [next(whole)[0].tobytes() for _ in range(3)]
    state = whole.state_dict()
    rest = [row[0].tobytes() for row in whole]
    ds.config.set_seed(99)  # the state has the random numbers
    other = pipeline().create_tuple_iterator(num_epochs=2, output_numpy=True)
    other.load_state_dict(state)
    assert [row[0].tobytes() for row in other] == rest
    assert len(first) == 11


def test_threads_may_share_an_iterator():
    dataset = ds.NumpySlicesDataset(np.arange(200), shuffle=False, num_parallel_workers=2)
    iterator, got = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True), []
    threads = [threading.Thread(target=lambda: got.extend(next(iterator) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(x) for (x,) in got) == [*range(200)]


def test_what_is_left_half_way_ends():
    def threads():
        return {t for t in threading.enumerate() if t.name != "duograph"}  # which compiles, and is nobody's pipeline

    before = threads()
    for processes in (False, True):
        dataset = ds.NumpySlicesDataset(np.arange(1000), shuffle=False).map(
            lambda x: x, num_parallel_workers=2, python_multiprocessing=processes
        )
        iterator = dataset.create_tuple_iterator(num_epochs=1)
        next(iterator)
        iterator.stop()
        del iterator
    end = time.monotonic() + PATIENCE / 4
    while threads() - before and time.monotonic() < end:
        time.sleep(0.01)
    frames = sys._current_frames()
    left = {t.name: "".join(traceback.format_stack(frames[t.ident])) for t in threads() - before if t.ident in frames}
    assert not left, "\n".join(f"{name}:\n{stack}" for name, stack in left.items())


def test_errors_of_prefetched_rows_come_with_their_traceback():
    def rows():
        yield (np.zeros(1),)
        raise ValueError("from rows")

    made = prefetched(rows(), 3)
    next(made)
    with pytest.raises(ValueError, match="from rows") as caught:
        next(made)
    assert any(entry.name == "rows" for entry in caught.traceback)


def test_a_worker_that_is_killed_is_an_error():
    def step(x):
        if x == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    dataset = ds.NumpySlicesDataset(np.arange(20), shuffle=False).map(
        step, num_parallel_workers=2, python_multiprocessing=True
    )
    with pytest.raises(RuntimeError, match="worker process of the data pipeline has ended"):
        list(dataset)


def test_workers_outlive_the_thread_that_began_them():
    """One that dies with it takes the lock of the queue of calls along: the others wait, and so does Python's exit."""
    made, first = ordered(lambda x: (x, os.getpid()), range(4000), 3, True), []
    thread = threading.Thread(target=lambda: first.append(next(made)))
    thread.start()
    thread.join()
    rows = first + list(made)
    assert [x for x, _ in rows] == [*range(4000)]
    assert os.getpid() not in {pid for _, pid in rows}


PROGRAM = r"""
import os, sys, time
import numpy as np
import duograph.dataset as ds

def step(x):
    os.write(1, b"%d\n" % os.getpid())  # whole lines, from several processes
    time.sleep(600 if x else 0)
    return x

pipeline = ds.NumpySlicesDataset(np.arange(8), shuffle=False)
pipeline = pipeline.map(step, num_parallel_workers=2, python_multiprocessing=True)
for row in pipeline:
    os.write(1, b"row\n")
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent(sent):
    """Also those that never come back from the user's code: Python waits for them at its exit."""
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        workers: set[int] = set()
        try:
            while len(workers) < 2:
                line = child.stdout.readline().strip()
                workers |= {int(line)} if line != "row" else set()
        finally:
            child.send_signal(sent)
        child.wait(PATIENCE)
    end = time.monotonic() + PATIENCE
    while any(_lives(pid) for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.01)


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_errors_of_workers_show_lines_of_the_user_only():
    program = """
import numpy as np
import duograph.dataset as ds

def wrong(x):
    return x["no"]

rows = ds.NumpySlicesDataset(np.ones((4, 2)), ["x"]).map(
    wrong, ["x"], num_parallel_workers=2, python_multiprocessing=PROCESSES
)
list(rows)
"""
    for processes in ("True", "False"):
        text = program.replace("PROCESSES", processes)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
        assert "IndexError: only integers" in done.stderr and "in wrong" in done.stderr
        assert "concurrent" not in done.stderr and "dataset/nodes.py" not in done.stderr
