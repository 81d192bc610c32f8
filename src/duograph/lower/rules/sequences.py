"""Work along sequences: connectionist temporal classification, repeated n-grams, permutations of pivots.

CTC runs in float64 in log space, over sequences in which blanks stand between all labels; one sample is one iteration
of the parallel loop. `duograph.ops.ctc` says what is computed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..kernels.fill import words_of
from ..kernels.strided import copy_all
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..lowering import Lowering, product
from ..math.exponential import exp
from ..math.logarithm import log1p
from ..rule import kernel
from .creation import number_as

_INF = float("inf")


# ---- CTC -------------------------------------------------------------------------------------------------------------


def log_add_exp(b: Builder, x: Value, y: Value) -> Value:
    """``log(exp(x) + exp(y))`` without overflow."""
    distance = x - y
    top = b.select(b.gt(x, y), x, y)
    sum_ = top + log1p(b, exp(b, -b.abs(distance)))
    # equal numbers, also infinite ones, whose difference is not a number
    sum_ = b.select(b.eq(x, y), x + 0.6931471805599453, sum_)
    return b.select(b.isnan(distance) & b.ne(x, y), distance, sum_)


class _Sample:
    """One sample: its lengths, the labels with blanks around them, and its log probabilities.

    Everything that is read from lengths and labels is clamped; what was outside is noted.
    """

    def __init__(self, b: Builder, buffers: tuple[Buffer, ...], numbers: tuple[Any, ...], i: Value) -> None:
        self.b, self.i = b, i
        self.log_probs, self.targets, input_lengths, target_lengths = buffers
        self.steps, self.n, self.classes, self.labels, self.blank = numbers
        self.t = self._length(input_lengths, self.steps)
        self.length = self._length(target_lengths, self.labels)
        self.places = self.length * 2 + 1

    def _length(self, buf: Buffer, limit: Value) -> Value:
        b = self.b
        found = b.convert(b.load(buf, self.i), "i64")
        b.fail(b.lt(found, 0) | b.gt(found, limit), 1)
        return b.min(b.max(found, 0), limit)

    def label(self, place: Value) -> Value:
        """The class at a place of the path: blank at even ones."""
        b = self.b
        is_label = b.ne(place & 1, 0)

        def load() -> Value:
            found = b.convert(b.load(self.targets, self.i * self.labels + place / 2), "i64")
            found = b.select(b.lt(found, 0), found + self.classes, found)
            b.fail(b.lt(found, 0) | b.ge(found, self.classes), 1)
            return b.max(b.min(found, self.classes - 1), 0)

        return b.if_(is_label, load, lambda: self.blank)[0]

    def raw_label(self, place: Value) -> Value:
        """The class as it is written, for comparisons."""
        b = self.b
        return b.if_(
            b.ne(place & 1, 0),
            lambda: b.convert(b.load(self.targets, self.i * self.labels + place / 2), "i64"),
            lambda: self.blank,
        )[0]

    def emission(self, t: Value, label: Value) -> Value:
        at = (t * self.n + self.i) * self.classes + label
        return self.b.convert(self.b.load(self.log_probs, at), "f64")

    def skips(self, place: Value, backwards: bool) -> Value:
        """Whether the blank next to a label may be jumped over: at labels that differ from the one before."""
        b = self.b
        other = b.min(place + 2, self.places - 1) if backwards else b.max(place - 2, 0)
        exists = b.lt(place + 2, self.places) if backwards else b.ge(place, 2)
        own = self.raw_label(place)
        return exists & b.ne(own, self.blank) & b.ne(own, self.raw_label(other))

    def run(self, memory: Buffer, base: Value, stride: Value, backwards: bool) -> None:
        """Forward (or backward) variables into ``memory``: step ``t``, place ``k`` at ``base + t * stride + k``."""
        b = self.b

        def first(k: Value) -> None:
            at_end = b.ge(k, self.places - 2) if backwards else b.lt(k, 2)
            t0 = self.t - 1 if backwards else b.const(0)
            value = b.select(at_end, self.emission(t0, self.label(k)), b.const(-_INF, "f64"))
            b.store(memory, base + t0 * stride + k, value)

        def step(s: Value) -> None:
            t = self.t - 1 - s if backwards else s
            before = base + (t + 1 if backwards else t - 1) * stride

            def place(k: Value) -> None:
                near, far = (k + 1, k + 2) if backwards else (k - 1, k - 2)
                has_near = b.lt(near, self.places) if backwards else b.ge(near, 0)
                reach = b.load(memory, before + k)
                reach = b.if_(has_near, lambda: log_add_exp(b, reach, b.load(memory, before + near)), lambda: reach)[0]
                whole = b.if_(
                    self.skips(k, backwards),
                    lambda: log_add_exp(b, reach, b.load(memory, before + far)),
                    lambda: reach,
                )[0]
                b.store(memory, base + t * stride + k, whole + self.emission(t, self.label(k)))

            b.for_(0, self.places, 1, place)

        def all_steps() -> None:
            b.for_(0, self.places, 1, first)
            b.for_(1, self.t, 1, step)

        b.if_(b.gt(self.t, 0), all_steps)

    def end(self, memory: Buffer, base: Value, stride: Value) -> Value:
        """Log probability that an alignment ends at the last label or the blank behind it."""
        b = self.b
        last = base + (self.t - 1) * stride + self.places - 1

        def of_steps() -> Value:
            alone = b.le(self.places, 1)
            final = b.load(memory, last)
            return b.if_(alone, lambda: final, lambda: log_add_exp(b, b.load(memory, last - 1), final))[0]

        def of_nothing() -> Value:
            return b.select(b.eq(self.places, 1), b.const(0.0, "f64"), b.const(-_INF, "f64"))

        return b.if_(b.gt(self.t, 0), of_steps, of_nothing)[0]


def _ctc(c: Lowering, function: Function, outs: list[Any], temps: int) -> None:
    log_probs, targets, *lengths = c.ins
    steps, n, classes = log_probs.shape
    labels = targets.shape[1]
    scratch = [c.temp("f64", n * steps * (labels * 2 + 1)) for _ in range(temps)]
    numbers = [steps, n, classes, labels, c.attrs["blank"]]
    c.call(function, [log_probs, targets, *lengths, *scratch, *outs], numbers)


def _ctc_kernel(name: str, elems: tuple[str, ...]) -> tuple[Builder, tuple[Buffer, ...]]:
    b = Builder(name)
    names = ("log_probs", "targets", "input_lengths", "target_lengths")
    return b, tuple(b.buffer(n, e) for n, e in zip(names, elems, strict=True))


def _numbers(b: Builder) -> tuple[Value, ...]:
    return tuple(b.dim(name) for name in ("steps", "n", "classes", "labels", "blank"))


@kernel("ctc_nll")
def ctc_nll(c: Lowering) -> None:
    _ctc(c, _nll(tuple(x.elem for x in c.ins)), c.outs, 1)


@cache
def _nll(elems: tuple[str, ...]) -> Function:
    b, buffers = _ctc_kernel("ctc_nll", elems)
    alpha, loss, alphas = b.buffer("alpha", "f64"), b.buffer("loss", elems[0]), b.buffer("alphas", elems[0])
    numbers = _numbers(b)
    steps, n, _, labels, _ = numbers
    width = labels * 2 + 1

    def one(i: Value) -> None:
        s = _Sample(b, buffers, numbers, i)
        base = i * steps * width
        b.for_(0, steps * width, 1, lambda k: b.store(alpha, base + k, b.const(-_INF, "f64")))
        s.run(alpha, base, width, backwards=False)
        b.store(loss, i, number_as(b, -s.end(alpha, base, width), elems[0]))
        b.for_(
            0, steps * width, 1, lambda k: b.store(alphas, base + k, number_as(b, b.load(alpha, base + k), elems[0]))
        )

    b.parallel_for(0, n, 1, one)
    return b.finish()


@kernel("ctc_grad")
def ctc_grad(c: Lowering) -> None:
    steps, n, classes = c.ins[0].shape
    wide = c.temp("f64", steps * n * classes)
    _ctc(c, _grad(tuple(x.elem for x in c.ins)), [wide, *c.outs], 2)


@cache
def _grad(elems: tuple[str, ...]) -> Function:
    b, buffers = _ctc_kernel("ctc_grad", elems)
    alpha, beta, wide = (b.buffer(name, "f64") for name in ("alpha", "beta", "wide"))
    out = b.buffer("out", elems[0])
    numbers = _numbers(b)
    steps, n, classes, labels, _ = numbers
    width = labels * 2 + 1

    def one(i: Value) -> None:
        s = _Sample(b, buffers, numbers, i)
        base = i * steps * width
        for memory, backwards in ((alpha, False), (beta, True)):
            s.run(memory, base, width, backwards)
        whole = s.end(alpha, base, width)
        finite = b.lt(b.abs(whole), _INF)
        used = b.select(finite, s.t, 0)

        def at_step(t: Value) -> None:
            row = (t * n + i) * classes

            def share(k: Value) -> None:
                label = s.label(k)
                emit = s.emission(t, label)
                at = base + t * width + k
                part = exp(b, b.load(alpha, at) + b.load(beta, at) - emit - whole)
                part = b.select(b.lt(b.abs(emit), _INF), part, b.const(0.0, part))
                b.store(wide, row + label, b.load(wide, row + label) - part)

            b.for_(0, classes, 1, lambda k: b.store(wide, row + k, exp(b, s.emission(t, k))))
            b.for_(0, s.places, 1, share)

        def finish(t: Value) -> None:
            row = (t * n + i) * classes

            def store(k: Value) -> None:
                value = b.if_(b.lt(t, used), lambda: b.load(wide, row + k), lambda: b.const(0.0, "f64"))[0]
                b.store(out, row + k, number_as(b, value, elems[0]))

            b.for_(0, classes, 1, store)

        b.for_(0, used, 1, at_step)
        b.for_(0, steps, 1, finish)

    b.parallel_for(0, n, 1, one)
    return b.finish()


# ---- n-grams ---------------------------------------------------------------------------------------------------------


@kernel("no_repeat_ngram")
def no_repeat_ngram(c: Lowering) -> None:
    (sequence, log_probs), (out,) = c.ins, c.outs
    copy_all(c, log_probs, out, out.size)
    (lowest,) = words_of(np.finfo(np.float32).min, out.dtype.numpy)
    numbers = [product(out.shape[:-1]), sequence.shape[-1], out.shape[-1], c.attrs["size"], lowest]
    c.call(_ngram(sequence.elem, f"u{out.dtype.numpy.itemsize * 8}"), [sequence, out], numbers)


@cache
def _ngram(index: str, elem: str) -> Function:
    """Every n-gram whose beginning is the end of the sequence forbids its last word."""
    b = Builder("no_repeat_ngram")
    sequence, out = b.buffer("sequence", index), b.buffer("out", elem)
    rows, length, classes, size = (b.dim(name) for name in ("rows", "length", "classes", "size"))
    lowest = b.convert(b.dim("lowest"), elem)

    def row(r: Value) -> None:
        first = r * length
        last = first + length - size + 1

        def gram(g: Value) -> None:
            start = first + g

            def compare(k: Value, same: Value) -> Value:
                equal = b.eq(b.load(sequence, start + k), b.load(sequence, last + k))
                return b.select(equal, same, 0)

            (same,) = b.for_(0, size - 1, 1, compare, [b.const(1)])

            def forbid() -> None:
                word = b.convert(b.load(sequence, start + size - 1), "i64")
                word = b.select(b.lt(word, 0), word + classes, word)
                outside = b.lt(word, 0) | b.ge(word, classes)
                b.fail(outside, 1)
                b.if_(~outside, lambda: b.store(out, r * classes + word, lowest))

            b.if_(b.ne(same, 0), forbid)

        b.for_(0, length - size + 1, 1, gram)

    wrong = b.lt(length, size)
    b.fail(wrong, 1)
    b.parallel_for(0, b.select(wrong, 0, rows), 16, row)
    return b.finish()


# ---- pivots ----------------------------------------------------------------------------------------------------------


@kernel("permutation_of_pivots")
def permutation_of_pivots(c: Lowering) -> None:
    (pivots,), (out,) = c.ins, c.outs
    numbers = [product(pivots.shape[:-1]), pivots.shape[-1], c.attrs["size"]]
    c.call(_pivots(pivots.elem), [pivots, out], numbers)


@cache
def _pivots(index: str) -> Function:
    b = Builder("permutation_of_pivots")
    pivots, out = b.buffer("pivots", index), b.buffer("out", "i64")
    rows, count, size = b.dim("rows"), b.dim("count"), b.dim("size")

    def row(r: Value) -> None:
        first = r * size
        b.for_(0, size, 1, lambda i: b.store(out, first + i, i))

        def exchange(i: Value) -> None:
            j = b.convert(b.load(pivots, r * count + i), "i64") - 1
            outside = b.lt(j, 0) | b.ge(j, size) | b.ge(i, size)
            b.fail(outside, 1)

            def swap() -> None:
                x, y = b.load(out, first + i), b.load(out, first + j)
                b.store(out, first + i, y)
                b.store(out, first + j, x)

            b.if_(~outside, swap)

        b.for_(0, count, 1, exchange)

    b.parallel_for(0, rows, 64, row)
    return b.finish()
