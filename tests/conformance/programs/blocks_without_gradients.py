"""Views and writes around `no_grad` and `stop_gradient`: what is made within is a constant for gradients, what is
written later is none, and what is handed on unwritten keeps its gradient. Each gradient is taken inside and outside."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X, W = T([3.0, 2.0, 1.0]), T([1.0, 2.0, 5.0])


def _gradients(fn):
    """What compiled gradients of ``fn`` give, and gradients of ``fn`` compiled."""
    outside = ms.jit(fn)

    def run(x, w):
        return ms.value_and_grad(fn, (0, 1))(x * 1, w), ms.value_and_grad(outside, (0, 1))(x * 1, w)

    return run


@program(calls=[(T([3.0, 2.0, 1.0]),), (T([-3.0, 2.0, 1.0]),)])
def a_write_on_one_path_within_no_grad(x):
    def f(x, w):
        y = x * w
        with ms.no_grad():
            if x[0] > 0:
                y[0] = 1.0
        return (y * w).sum()

    return _gradients(f)(x, W)


@program(calls=[(T([3.0, 2.0, 1.0]),), (T([-3.0, 2.0, 1.0]),)])
def a_write_through_a_view_on_one_path_within_no_grad(x):
    def f(x, w):
        y = x * w
        with ms.no_grad():
            if x[0] > 0:
                v = y[1:]
                v.mul_(w[1:])
            else:
                w = w + 1
        return (y * w).sum()

    return _gradients(f)(x, W)


@program(calls=[(T([3.0, 2.0, 1.0]),), (T([-3.0, 2.0, 1.0]),)], captured=False)
def writes_in_a_loop_within_no_grad(x):
    def f(x, w):
        held, i = ops.zeros_like(x) + w, T(0)
        with ms.no_grad():
            best = x
            while i < 3:
                if (x * i).sum() > 3:
                    held[i] = x.sum()
                    best = x * i
                i = i + 1
        return (held * best * w).sum()

    return _gradients(f)(x, W)


@program(X, W)
def what_is_made_without_gradients_is_written_through_a_view(x, w):
    def f(x, w):
        with ms.no_grad():
            y = x + w
        v = y[1:]
        v.mul_(w[1:])
        return (y * w).sum()

    return _gradients(f)(x, w)


@program(calls=[(T([3.0, 2.0, 1.0]),), (T([-3.0, 2.0, 1.0]),)])
def what_is_made_without_gradients_is_written_on_one_path(x):
    def f(x, w):
        with ms.no_grad():
            y = x + w
        if x[0] > 0:
            y.mul_(w)
        return (y * w).sum()

    return _gradients(f)(x, W)


@program(X, W)
def views_made_without_gradients(x, w):
    part = ms.jit(lambda y: y[1:])

    def f(x, w):
        y = x * w
        with ms.no_grad():
            v, u = y[1:], part(y)
        return (v * u * w[1:]).sum() + y.sum()

    return _gradients(f)(x, w)


@program(X, W)
def views_made_without_gradients_are_written(x, w):
    def f(x, w):
        y = x * w
        with ms.no_grad():
            v = y.reshape(3, 1)
        v.mul_(w.reshape(3, 1))
        return (y * w).sum() + v.sum()

    return _gradients(f)(x, w)


@program(X, W)
def a_view_of_what_was_written_is_read_without_gradients(x, w):
    def f(x, w):
        y = x * w
        v = y[1:]
        y.add_(w)
        with ms.no_grad():
            scale = v.sum()
        return (v * w[1:]).sum() * scale

    return _gradients(f)(x, w)


@program(X, W)
def an_argument_that_was_written_is_handed_on_within_no_grad(x, w):
    def f(x, w):
        y = x * w
        for _ in range(2):
            with ms.no_grad():
                if y.sum() > 1000:
                    raise ValueError("too large")
                y = x
            y[1:] *= 2
        return (y * w).sum()

    return _gradients(f)(x, w)


@program(X, W)
def what_stop_gradient_has_given_is_written(x, w):
    def f(x, w):
        y = ops.stop_gradient(x + w)
        y[1:] = w[1:] * 2
        z = ops.stop_gradient(x * w)
        part = z[1:]
        part.add_(w[1:])
        return (y * w).sum() + (z * w).sum() + part.sum()

    return _gradients(f)(x, w)


@program(X, W)
def elements_that_are_not_written_keep_their_gradient(x, w):
    def f(x, w):
        y = x * 2
        part = ops.stop_gradient(y)
        part[0] = w[0]
        inner = ops.stop_gradient(part[1:])
        inner[0].copy_(w[1])
        with ms.no_grad():
            last = y[2:]
        last.mul_(w[2])
        ops.stop_gradient(x)[1] = 4.0
        return (y * y).sum() + (part * 3).sum() + (inner * 5).sum() + (x * w).sum()

    return _gradients(f)(x, w)


@program(calls=[(T([3.0, 2.0, 1.0]),), (T([-3.0, 2.0, 1.0]),)])
def what_stop_gradient_has_given_is_written_on_one_path(x):
    def f(x, w):
        y = ops.stop_gradient(x + w)
        if x[0] > 0:
            y.mul_(w)
        return (y * w).sum()

    return _gradients(f)(x, W)


@program(X, W, captured=False)
def what_stop_gradient_has_given_is_written_in_a_loop(x, w):
    def f(x, w):
        y = ops.stop_gradient(x + w)
        while y.sum() < 100:
            y.mul_(w)
        return (y * w).sum()

    return _gradients(f)(x, w)


@program(X, W)
def gradients_taken_without_gradients(x, w):
    def f(x, w):
        with ms.no_grad():
            g = ms.grad(lambda a: (a[1:] ** 2 * w[1:]).sum())(x)
            out, pull = ms.vjp(lambda a: a[1:] * w[1:], x)
        return (g * w).sum() + (pull(w[1:])[0] * w).sum() + out.sum()

    return _gradients(f)(x, w)
