"""`ops.Custom`: kernels of users, in eager mode, compiled programs and gradients, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.base.config import configure
from duograph.passes import ExtensionError

DOUBLE = """
func(&0 x: f32, &1 out: f32; %0 n: i64) {
  for 0 %0 1 {
    args %1: i64
    %2: f32 = load &0 %1
    %3: f32 = add %2 %2
    store &1 %1 %3
  }
}
"""
ADD_ROWS = """
func(&0 x: f32, &1 out: f32; %0 rows: i64, %1 columns: i64) {
  for 0 %1 1 {
    args %2: i64
    store &1 %2 0.0:f32
  }
  for 0 %0 1 {
    args %3: i64
    %4: i64 = mul %3 %1
    for 0 %1 1 {
      args %5: i64
      %6: i64 = add %4 %5
      %7: f32 = load &0 %6
      %8: f32 = load &1 %5
      %9: f32 = add %7 %8
      store &1 %5 %9
    }
  }
}
"""
LLVM = """
define void @axpy(ptr %x, ptr %y, ptr %out, i64 %n) {
entry:
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %po = getelementptr float, ptr %out, i64 %i
  %a = load float, ptr %px
  %b = load float, ptr %py
  %c = fmul float %a, 2.0
  %d = fadd float %c, %b
  store float %d, ptr %po
  %next = add i64 %i, 1
  br label %test
end:
  ret void
}
"""
X = np.linspace(-2, 3, 12).astype(np.float32).reshape(3, 4)


def everywhere(fn, *args):
    """What a function gives in eager mode, checked against every other way, to the bit."""
    want = fn(*args)
    for mode in ("ast", "bytecode", "trace"):
        for level in ("O0", "O1"):
            for backend in ("", "interpreter"):
                f = ms.jit(fn, capture_mode=mode, jit_level=level, backend=backend)
                for _ in range(3):
                    assert f(*args).asnumpy().tobytes() == want.asnumpy().tobytes()
    return want


def test_a_kernel_in_loop_ir():
    double = ops.Custom(DOUBLE)
    assert everywhere(lambda x: double(ops.relu(x)) + 1, ms.Tensor(X)).tolist() == (np.maximum(X, 0) * 2 + 1).tolist()
    f = ms.jit(lambda x: double(x))
    f(ms.Tensor(X))
    assert f.explain().kernels[0].reason == ""
    with configure(kernels="reference"):
        assert double(ms.Tensor(X)).tolist() == (X * 2).tolist()
    assert double(ms.Tensor(np.zeros((0, 2), np.float32))).shape == (0, 2)
    assert double(ms.Tensor(X).T).tolist() == (X.T * 2).tolist()


def test_shapes_dtypes_and_numbers():
    rows = ops.Custom(ADD_ROWS, out_shape=lambda s: s[1:], out_dtype=lambda d: d, dims=lambda x, out: (x[0], x[1]))
    want = everywhere(lambda x: rows(x) * 2, ms.Tensor(X)).asnumpy()
    assert np.allclose(want, X.sum(0) * 2)
    f = ms.jit(lambda x: rows(x), dynamic=1)
    for n in range(1, 7):
        x = np.ones((n, 4), np.float32)
        assert f(ms.Tensor(x)).tolist() == [float(n)] * 4


def test_a_kernel_in_llvm_text():
    axpy = ops.Custom(LLVM, func_type="llvm")
    x, y = ms.Tensor(X), ms.Tensor(X * X)
    assert everywhere(lambda x, y: axpy(x, y) * 2, x, y).tolist() == ((X * 2 + X * X) * 2).tolist()


def test_gradients():
    double = ops.Custom(DOUBLE, bprop=lambda x, out, dout: (dout * 2,))
    f = lambda x: (double(x) * x).sum()  # noqa: E731
    for fn in (f, ms.jit(f)):
        assert ms.grad(fn)(ms.Tensor(X)).tolist() == (X * 4).tolist()
    plain = ops.Custom(DOUBLE)
    for fn in (lambda x: plain(x).sum(), ms.jit(lambda x: plain(x).sum())):
        with pytest.raises(RuntimeError, match="give the rule as 'bprop'"):
            ms.grad(fn)(ms.Tensor(X))


@pytest.mark.parametrize("compiled", [False, True])
def test_what_does_not_fit(compiled):
    double = ops.Custom(DOUBLE)

    def call(fn, *args):
        return (ms.jit(fn) if compiled else fn)(*args)

    with pytest.raises(TypeError, match="has elements f32, not Int32"):
        call(lambda x: double(x), ms.Tensor([1, 2], ms.int32))
    with pytest.raises(TypeError, match="takes 1 tensors, but got 2"):
        call(lambda x: double(x, x), ms.Tensor(X))
    short = ops.Custom(DOUBLE, dims=lambda x, out: (out[0] - 1,))
    with pytest.raises(ExtensionError, match=f"does not write element {len(X) - 1} of its result"):
        call(lambda x: short(x), ms.Tensor(X))
    late = ops.Custom(DOUBLE, dims=lambda x, out: (out[0] + 1,))
    with pytest.raises(ExtensionError, match="leaves its buffers"):
        call(lambda x: late(x), ms.Tensor([1.0, 2.0]))
    many = ops.Custom(DOUBLE, dims=lambda x, out: (1, 2))
    with pytest.raises(TypeError, match="takes 1 numbers, but 'dims' gives 2"):
        call(lambda x: many(x), ms.Tensor([1.0, 2.0]))
    with pytest.raises(ExtensionError, match=r"@g\) does not compile"):
        call(lambda x: ops.Custom("define void @g(ptr %x, ptr %o) { oops }", func_type="llvm")(x), ms.Tensor(X))


def test_bad_texts():
    with pytest.raises(TypeError, match="must be the text"):
        ops.Custom(3)
    with pytest.raises(ValueError, match="'func_type' must be"):
        ops.Custom(DOUBLE, func_type="hybrid")
    for text in ("", "func(", "func(; %0 n: i64) {\n}\n", DOUBLE.replace("%3: f32", "%3: f64")):
        with pytest.raises(ValueError, match="For 'Custom'"):
            ops.Custom(text)
    for text in ("", "define i32 @f(ptr %x) { ret i32 0 }", "define void @f(i64 %n, ptr %x) { ret void }"):
        with pytest.raises(ValueError, match="For 'Custom'"):
            ops.Custom(text, func_type="llvm")


def test_the_same_kernel_is_one_operator():
    assert ops.Custom(DOUBLE).op is ops.Custom(DOUBLE).op is not ops.Custom(DOUBLE, out_shape=(2,)).op


# ---- Python functions ------------------------------------------------------------------------------------------------


def modes(fn, *args):
    """What a function gives in eager mode, and the same bits from jit, three times, and in graph mode."""
    want = fn(*args)
    again = ms.jit(fn)
    found = [again(*args) for _ in range(3)]
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        found.append(fn(*args))
    finally:
        ms.set_context(mode=before)
    assert all(x.asnumpy().tobytes() == want.asnumpy().tobytes() for x in found)
    return want


@pytest.mark.filterwarnings("ignore")
def test_a_python_function_runs_once_for_each_call_and_has_the_gradient_that_is_given():
    seen = []

    def ranks(x, y):
        seen.append(x.shape)
        x[...] = np.argsort(x, axis=-1) + y  # the operand is a copy
        return x

    op = ops.Custom(ranks, lambda x, y: x, lambda x, y: x, "pyfunc", bprop=lambda x, y, out, dout: (dout * 2, dout * y))
    x = ms.Tensor(X)

    def forward(a, b):
        c = a * 2
        return (op(c, b) * a).sum()

    want = modes(forward, x, x)
    np.testing.assert_allclose(want.asnumpy(), ((np.argsort(2 * X, axis=-1) + X) * X).sum(), rtol=1e-6)
    assert seen == [(3, 4)] * 5 and np.array_equal(x.asnumpy(), X)
    found = modes(lambda a, b: ms.grad(forward)(a, b), x, x)
    np.testing.assert_allclose(found.asnumpy(), 4 * X + np.argsort(2 * X, axis=-1) + X, rtol=1e-6)


@ops.kernel
def outer_product(a, b):
    d = allocate(a.shape, a.dtype)  # noqa: F821 - names of the DSL
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)  # noqa: F821
    for i, j in grid(c.shape):  # noqa: F821
        for k in reduce(a.shape[1]):  # noqa: F821
            d[i, k] = 2 * a[i, k]
            c[i, j] = c[i, j] + sin(d[i, k] * b[k, j])  # noqa: F821
    return c


@pytest.mark.filterwarnings("ignore")
def test_kernels_in_the_hybrid_dsl():
    left, right = X[:2, :3], X
    want = np.sin(2 * left[:, :, None] * right[None]).sum(1)
    np.testing.assert_allclose(outer_product(left, right), want, rtol=1e-5)
    op = ops.Custom(outer_product, func_type="hybrid")
    found = modes(lambda a, b: op(a, b) + 1, ms.Tensor(left), ms.Tensor(right))
    assert found.asnumpy().tobytes() == (outer_product(left, right) + np.float32(1)).tobytes()
    given = ops.Custom(outer_product, lambda a, b: (a[0], b[1]), lambda a, b: a)
    assert given(ms.Tensor(left), ms.Tensor(right)).shape == (2, 4) and outer_product.__name__ == "outer_product"
    with pytest.raises(ExtensionError, match="give the rule as 'bprop'"):
        ms.grad(lambda a, b: op(a, b).sum())(ms.Tensor(left), ms.Tensor(right))
    with pytest.raises(NameError, match="no_such_name"):
        ops.kernel(lambda a: no_such_name(a))(X)  # noqa: F821
    with pytest.raises(TypeError, match="Python function"):
        ops.kernel(3)


@pytest.mark.filterwarnings("ignore")
def test_python_functions_with_several_results():
    def both(x, y):
        return x + y, (x - y).sum(0)

    op = ops.Custom(
        both, lambda x, y: (x, x[1:]), lambda x, y: (x, x), "pyfunc", bprop=lambda x, y, out, dout: dout[:1] * 2
    )
    x = ms.Tensor(X)

    def forward(a, b):
        up, down = op(a, b * 2)
        return (up * down).sum()

    np.testing.assert_allclose(modes(forward, x, x).asnumpy(), (3 * X * (-X).sum(0)).sum(), rtol=1e-6)
    found = modes(lambda a, b: ms.grad(forward)(a, b), x, x)
    np.testing.assert_allclose(found.asnumpy(), np.broadcast_to((-X).sum(0), X.shape), rtol=1e-6)
    with pytest.raises(ValueError, match="returns 2 arrays"):
        ops.Custom(both, lambda x, y: x, lambda x, y: x)(x, x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("op", "kind", "said"),
    [
        (ops.Custom(lambda x: 3), TypeError, "must return a NumPy array"),
        (ops.Custom(lambda x: x[0]), ValueError, r"array of shape \(3, 4\), but got \(4,\)"),
        (ops.Custom(lambda x: x.astype(np.float64)), TypeError, "dtype float32, but got float64"),
        (ops.Custom(lambda x: 1 / 0), ZeroDivisionError, "division"),
    ],
)
def test_results_of_python_functions_that_do_not_fit(op, kind, said, compiled):
    fn = ms.jit(lambda x: op(x)) if compiled else op
    with pytest.raises(kind, match=said):
        fn(ms.Tensor(X))


def test_python_functions_without_a_gradient_and_with_wrong_settings():
    op = ops.Custom(lambda x: x * 2)
    assert op(ms.Tensor(X)).asnumpy().tobytes() == (X * 2).tobytes()
    with pytest.raises(ExtensionError, match="give the rule as 'bprop'"):
        ms.grad(lambda x: op(x).sum())(ms.Tensor(X))
    with pytest.raises(ValueError, match="'pyfunc' for a function"):
        ops.Custom(print, func_type="aot")
    with pytest.raises(ValueError, match="a function has none"):
        ops.Custom(print, dims=lambda x, out: (1,))
