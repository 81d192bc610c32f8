"""What users do to native code, on purpose or not: every mode gives the same answer or the same clear error."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, nn, ops
from tests.children import PATIENCE


def both(function, *args):
    """What ``function`` gives or raises, dynamically and compiled; checked to be the same."""
    made = []
    for f in (function, ms.jit(function)):
        try:
            made.append(f(*args).asnumpy())
        except Exception as error:  # noqa: BLE001 - any error is a result here
            made.append((type(error), str(error)))
    if isinstance(made[0], tuple) or isinstance(made[1], tuple):
        assert made[0] == made[1]
    else:
        assert made[0].dtype == made[1].dtype and made[0].tobytes() == made[1].tobytes()
    return made[0]


def script(text: str, **environment: str) -> str:
    """What a new process prints that runs this program; it must end well."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], env={**os.environ, **environment}, capture_output=True,
        text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


TRAINING = """
    import numpy as np, duograph as ms
    from duograph import nn, Tensor
    rng = np.random.default_rng(0)
    net = nn.SequentialCell([nn.Dense(20, 30, weight_init=Tensor(rng.standard_normal((30, 20)).astype('f'))), nn.Tanh(),
                             nn.Dense(30, 4, weight_init=Tensor(rng.standard_normal((4, 30)).astype('f')))])
    opt = nn.SGD(net.trainable_params(), 0.1)
    loss = nn.CrossEntropyLoss()
    grad = ms.value_and_grad(lambda x, y: loss(net(x), y), None, net.trainable_params())
    @ms.jit
    def step(x, y):
        value, grads = grad(x, y)
        opt(grads)
        return value
    x = Tensor(rng.standard_normal((16, 20)).astype('f'))
    y = Tensor(rng.integers(0, 4, 16).astype('i'))
"""


# ---- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [5, -6, 10**6])
def test_index_out_of_range(bad):
    table = Tensor(np.arange(10, dtype=np.float32).reshape(5, 2))
    index = Tensor(np.array([0, bad, 1]))
    kind, text = both(lambda t, i: ops.gather_elements(t, 0, i.reshape(3, 1)), table, index)
    assert issubclass(kind, (IndexError, ValueError, RuntimeError)) and text


def test_index_out_of_range_leaves_nothing_behind():
    counter = ms.Parameter(Tensor(np.zeros(1, np.float32)), name="counter")

    @ms.jit
    def f(t, i):
        counter.set_data(counter + 1)
        return t[i]

    table = Tensor(np.arange(4, dtype=np.float32))
    with pytest.raises(IndexError):
        f(table, Tensor(np.array([1, 99])))
    before = counter.asnumpy().copy()
    assert f(table, Tensor(np.array([1, 3]))).asnumpy().tolist() == [1, 3]
    assert counter.asnumpy() == before + 1


def test_shapes_that_do_not_fit():
    a, b = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 4), np.float32))
    kind, _ = both(lambda a, b: a + b, a, b)
    assert kind is ValueError
    kind, text = both(lambda a, b: ops.matmul(a, b), a, b)
    assert kind in (ValueError, RuntimeError) and text


def test_integers_at_the_end_of_their_range():
    largest = 2**63 - 1
    kind, text = both(lambda x: ops.bincount(x), Tensor(np.array([0, largest])))
    assert kind is MemoryError and "no memory" in text
    assert (both(lambda x: ops.tril(x, largest), ramp(3, 3)) == ramp(3, 3).asnumpy()).all()
    assert not both(lambda x: ops.triu(x, largest), ramp(3, 3)).any()


def ramp(*shape):
    return Tensor(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.diagonal_scatter(x[0, 0], ramp(3)),
        lambda x: ops.diagonal_scatter(x[0, 0], ramp(2, 8)),
        lambda x: ops.max_unpool2d(x, Tensor(np.zeros((1, 1, 4, 4), np.int64)), 2),
        lambda x: ops.interpolate(x[:, :, :0], size=(3, 3), mode="nearest"),
        lambda x: nn.Conv2dTranspose(4, 2, 3, weight_init="ones")(x),
        lambda x: ops.Conv2DBackpropInput(4, 3)(x, ramp(4, 2, 3, 3), (1, 2, 6, 6)),
        lambda x: ops.Conv2DBackpropInput(2, 3)(x, ramp(2, 2, 3, 3), (1, 2, 3, 3)),
    ],
)
def test_shapes_beyond_which_kernels_would_read(function):
    kind, _ = both(function, ramp(1, 2, 4, 4))
    assert kind is ValueError


@pytest.mark.parametrize(
    ("function", "fits", "does_not"),
    [
        (ops.matmul, ((3, 4), (4, 2)), ((3, 4), (5, 2))),
        (lambda a, b: ops.cat((a, b)), ((3, 4), (1, 4)), ((3, 4), (1, 5))),
        (lambda a, b: ops.stack((a, b)), ((3, 4), (3, 4)), ((3, 4), (4, 4))),
        (lambda a, b: ops.diagonal_scatter(a, b[0]), ((4, 4), (1, 4)), ((4, 4), (1, 9))),
        (lambda a, b: mint.index_add(a, 0, Tensor([0, 1]), b), ((3, 4), (2, 4)), ((3, 4), (3, 4))),
        (lambda a, b: ops.unsorted_segment_sum(a, ops.cast(b[0] * 0, ms.int32), 3), ((3, 4), (1, 3)), ((3, 4), (1, 2))),
        (lambda a, b: ops.topk(a, 3)[0] + b[0, 0], ((2, 4), (1, 1)), ((2, 2), (1, 1))),
        (lambda a, b: ops.argmax(a, 0) + b[0, 0], ((2, 4), (1, 1)), ((0, 4), (1, 1))),
    ],
)
def test_sizes_that_are_only_known_at_the_call(function, fits, does_not):
    """One program for all sizes: what shape rules could not know is checked before kernels rely on it."""
    compiled = ms.jit(function, input_signature=[Tensor(shape=[None, None], dtype=ms.float32)] * 2)
    for _ in range(3):
        made, wanted = (f(*[ramp(*shape) for shape in fits]).asnumpy() for f in (compiled, function))
        assert made.tobytes() == wanted.tobytes()
    for f in (function, compiled):
        with pytest.raises((ValueError, RuntimeError)):
            f(*[ramp(*shape) for shape in does_not])


def test_arrays_as_they_come():
    """Transposed, strided, reversed, misaligned, read-only."""
    base = np.arange(60, dtype=np.float32).reshape(6, 10)
    raw = np.zeros(61 * 4 + 1, np.uint8)
    misaligned = raw[1 : 1 + 60 * 4].view(np.float32).reshape(6, 10)
    misaligned[:] = base
    frozen = base.copy()
    frozen.flags.writeable = False
    for array in (base.T, base[::2, 1::3], base[::-1], misaligned, frozen, np.broadcast_to(base[0], (4, 10))):
        for tensor in (Tensor(array), ms.from_numpy(array)):
            made = both(lambda x: ops.exp(x * 0.1).sum(0) + x[0], tensor)
            fresh = both(lambda x: ops.exp(x * 0.1).sum(0) + x[0], Tensor(np.ascontiguousarray(array)))
            assert made.tobytes() == fresh.tobytes()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (2, 0, 5)])
def test_nothing_at_all(shape):
    x = Tensor(np.zeros(shape, np.float32))
    assert both(lambda x: ops.tanh(x) * 2 + 1, x).shape == shape
    assert both(lambda x: x.sum(), x) == 0
    assert both(lambda x: ops.matmul(x.reshape(0, 3), x.reshape(3, 0)), x).shape == (0, 0)
    assert not both(lambda x: ops.matmul(x.reshape(3, 0), x.reshape(0, 3)), x).any()


def test_more_memory_than_there_is():
    x = Tensor(np.ones(1, np.float32))
    for f in (lambda x: ops.zeros((1 << 44,), ms.float32), lambda x: x.broadcast_to((1 << 44,)) + 1):
        for g in (f, ms.jit(f)):
            with pytest.raises((MemoryError, RuntimeError, ValueError)) as info:
                g(x)
            assert str(info.value)
    assert both(lambda x: x + 1, x) == 2


# ---- surroundings ----------------------------------------------------------------------------------------------------


def test_a_cache_that_cannot_be_used(tmp_path: Path):
    program = """
    import duograph as ms
    x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
    print((x * x + 1).sum(), ms.jit(lambda x: ms.grad(lambda x: (x * x + x).tanh().sum())(x))(x))
    """
    wanted = script(program, DUOGRAPH_CACHE_DIR=str(tmp_path / "a"))
    file = tmp_path / "file"
    file.write_text("no folder")
    for place in (str(file), "/dev/full", "/proc/nothing", str(tmp_path / "a")):
        assert script(program, DUOGRAPH_CACHE_DIR=place) == wanted


def test_damaged_cache_files_are_misses(tmp_path: Path):
    program = TRAINING + "\n    print([float(step(x, y)) for _ in range(3)])"
    wanted = script(program, DUOGRAPH_CACHE_DIR=str(tmp_path))
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files
    for i, path in enumerate(files):
        data = path.read_bytes()
        path.write_bytes((data[: len(data) // 2], b"", data[:-9] + b"garbage!!", bytes(len(data)))[i % 4])
    assert script(program, DUOGRAPH_CACHE_DIR=str(tmp_path)) == wanted


def test_a_processor_without_avx_and_fma():
    program = TRAINING + "\n    print(*[float(step(x, y)) for _ in range(3)])"
    here = [float(v) for v in script(program).split()]
    there = [float(v) for v in script(program, DUOGRAPH_TARGET="baseline").split()]
    np.testing.assert_allclose(there, here, rtol=1e-5)


def test_depthwise_convolution_without_wide_vectors():
    program = """
    import numpy as np, duograph as ms
    from duograph import ops
    x, w = (ms.Tensor(np.arange(1.0, n + 1).reshape(s)) for n, s in ((50, (1, 2, 5, 5)), (18, (2, 1, 3, 3))))
    print(ops.conv2d(x, w, padding=1, pad_mode="pad", groups=2).sum())
    """
    assert script(program, DUOGRAPH_TARGET="baseline") == script(program)


def test_a_compiled_loop_can_be_interrupted():
    program = """
    import os, signal, sys, threading
    import numpy as np, duograph as ms
    @ms.jit
    def endless(x, last):
        i = ms.Tensor(0)
        while i < last:
            x, i = x * 0.5 + 1, i + 1
        return x
    x = ms.Tensor(np.ones(64, np.float32))
    endless(x, ms.Tensor(3))
    print(len(endless.explain().versions), len(endless.explain().fallbacks))

    awaited, is_over = [True], threading.Event()
    def once(number, frame):
        if awaited:
            awaited.clear()
            signal.default_int_handler(number, frame)
    def press():
        while not is_over.wait(0.2):
            os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, once)
    sys.unraisablehook = lambda _: awaited.append(True)  # it came in a callback of the collector, say, and is lost
    threading.Thread(target=press).start()
    try:
        endless(x, ms.Tensor(2**60))
    except KeyboardInterrupt:
        print("interrupted")
    is_over.set()
    print(float((ms.Tensor([1.0]) + 1)[0]))
    """
    assert script(program).split() == ["1", "0", "interrupted", "2.0"]


def test_fork_in_the_middle_of_training():
    program = (
        TRAINING
        + """
    import os
    first = [float(step(x, y)) for _ in range(2)]
    child = os.fork()
    rest = [float(step(x, y)) for _ in range(3)] + [float((x + 1).sum())]
    if child == 0:
        print(rest, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(rest, flush=True)
    """
    )
    one, two = script(program).splitlines()
    assert one == two


def test_two_threads_run_one_function():
    @ms.jit
    def f(x):
        for _ in range(3):
            x = ops.tanh(ops.matmul(x, x)) + 1
        return x

    inputs = [Tensor(np.random.default_rng(i).standard_normal((40, 40)).astype(np.float32)) for i in range(4)]
    wanted = [f(x).asnumpy().tobytes() for x in inputs]
    wrong = []

    def work(i):
        for _ in range(50):
            if f(inputs[i]).asnumpy().tobytes() != wanted[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_native_code_off():
    program = """
    import numpy as np, duograph as ms
    from duograph import ops
    x = ms.Tensor(np.linspace(-2, 2, 9, dtype='f'))
    print(ms.jit(lambda x: (x * x + 1).sum())(x))
    """
    assert script(program, DUOGRAPH_KERNELS="reference") == script(program, DUOGRAPH_KERNELS="native")


def test_numpy_input_of_foreign_byte_order():
    """A copy is put in order; memory that would have to be shared cannot be."""
    swapped = np.arange(5, dtype=np.dtype("f4").newbyteorder())
    assert both(lambda x: x * 2, Tensor(swapped)).tolist() == [0, 2, 4, 6, 8]
    with pytest.raises(TypeError, match="byte order"):
        ms.from_numpy(swapped)


@pytest.mark.parametrize(("shape", "size"), [((1 << 22, 1 << 20), "16 TiB"), ((1 << 31, 1 << 31), "16 EiB")], ids=str)
def test_a_gigantic_constant_gives_one_clear_error(capfd, shape, size):
    error, text = both(lambda x: x + ops.zeros(shape, ms.float32), Tensor([1.0]))
    assert error is MemoryError and size in text
    assert not capfd.readouterr().err
