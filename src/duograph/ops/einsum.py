"""``einsum``: an equation is parsed into labels, operands are contracted from left to right by transpose, reshape and
matmul.

Every axis gets a label. Axes covered by an ellipsis get labels of their own, counted from the last one, so that
operands of different rank align. A label with extent 1 in one operand and more in another broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.dim import definitely_eq
from duograph.core.shapes import numel, taken_equal

from .arithmetic import mul
from .diagonals import diagonal
from .linalg import matmul, sums_vectors, vector_product
from .movement import broadcast_to, reduce_sum, reshape, transpose

Labels = list[str]


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products of ``operands`` (one dtype) as ``equation`` says: ``"ij,jk->ik"``.

    Args:
        equation: labels of every operand, separated by commas; after ``->`` those of the result. Without ``->`` the
            result has the labels that occur once, in alphabetical order, behind the axes of the ellipsis.
        operands: tensors of one dtype.

    Raises:
        ValueError: the equation is malformed or does not fit the operands.
    """
    inputs, output = parse(equation, [len(x.shape) for x in operands])
    extents = _extents(equation, inputs, operands)
    terms = [_prepared(x, labels, extents) for x, labels in zip(operands, inputs, strict=True)]
    value, labels = terms[0]
    value, labels = _summed(value, labels, _needed(output, terms[1:]))
    for i, (other, other_labels) in enumerate(terms[1:], 1):
        needed = _needed(output, terms[i + 1 :])
        other, other_labels = _summed(other, other_labels, needed | set(labels))
        value, labels = _summed(value, labels, needed | set(other_labels))
        value, labels = _contract(value, labels, other, other_labels, needed)
    value = transpose(value, perm=tuple(labels.index(label) for label in output)) if labels != output else value
    shape = tuple(extents[label] for label in output)
    return value if tuple(value.shape) == shape else broadcast_to(value, shape=shape)


def parse(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Labels of the operands and of the result; axes of an ellipsis are called ``.1`` (the last), ``.2`` ...

    Raises:
        ValueError: the equation is malformed or does not fit operands of these ranks.
    """
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise ValueError(f"For 'einsum', the equation {equation!r} names {len(parts)} operands, but got {len(ranks)}.")
    inputs = [_labels(equation, part, rank) for part, rank in zip(parts, ranks, strict=True)]
    hidden = sorted({x for labels in inputs for x in labels if x[0] == "."}, key=lambda x: -int(x[1:]))
    if not arrow:
        flat = [label for labels in inputs for label in labels]
        return inputs, hidden + sorted(x for x in set(flat) if x[0] != "." and flat.count(x) == 1)
    output: Labels = []
    head, dots, tail = right.partition("...")
    for piece in (head, tail):
        if any(not c.isalpha() for c in piece):
            raise ValueError(f"For 'einsum', the equation {equation!r} has an unexpected character in its result.")
    output = [*head, *(hidden if dots else []), *tail]
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not set(output) <= known:
        raise ValueError(
            f"For 'einsum', the labels of the result of {equation!r} must be distinct and occur in an operand."
        )
    return inputs, output


def _labels(equation: str, part: str, rank: int) -> Labels:
    head, dots, tail = part.partition("...")
    if any(not c.isalpha() for c in head + tail):
        raise ValueError(f"For 'einsum', the equation {equation!r} has an unexpected character in {part!r}.")
    covered = rank - len(head) - len(tail)
    if covered < 0 or (covered and not dots):
        raise ValueError(f"For 'einsum', {part!r} in {equation!r} does not fit an operand of {rank} dimensions.")
    return [*head, *(f".{i}" for i in range(covered, 0, -1)), *tail]


def _extents(equation: str, inputs: list[Labels], operands: Sequence[Any]) -> dict[str, Any]:
    extents: dict[str, Any] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            known = extents.get(label, 1)
            if definitely_eq(known, 1) is True:
                extents[label] = n
            elif definitely_eq(n, 1) is not True and definitely_eq(n, known) is False:
                raise ValueError(
                    f"For 'einsum', label {label!r} of {equation!r} has extents {known} and {n}, they do not broadcast."
                )
    return extents


def _prepared(x: Any, labels: Labels, extents: dict[str, Any]) -> tuple[Any, Labels]:
    """``x`` with repeated labels reduced to diagonals, and without axes of extent 1 that broadcast."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if not taken_equal(x.shape[first], x.shape[second]):
                raise ValueError(
                    f"For 'einsum', label {label!r} is repeated for an operand of shape {tuple(x.shape)}, but the "
                    f"extents {x.shape[first]} and {x.shape[second]} are not equal."
                )
            x = diagonal(x, offset=0, axis1=first, axis2=second)
            labels = [*(v for i, v in enumerate(labels) if i not in (first, second)), label]
    dropped = [i for i, v in enumerate(labels) if x.shape[i] == 1 and definitely_eq(extents[v], 1) is not True]
    if dropped:
        x = reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in dropped))
        labels = [v for i, v in enumerate(labels) if i not in dropped]
    return x, labels


def _needed(output: Labels, terms: Sequence[tuple[Any, Labels]]) -> set[str]:
    return set(output).union(*(labels for _, labels in terms))


def _summed(x: Any, labels: Labels, needed: set[str]) -> tuple[Any, Labels]:
    axes = tuple(i for i, label in enumerate(labels) if label not in needed)
    return (reduce_sum(x, axis=axes), [v for v in labels if v in needed]) if axes else (x, labels)


def _contract(x: Any, x_labels: Labels, y: Any, y_labels: Labels, needed: set[str]) -> tuple[Any, Labels]:
    """One product: labels of both that are needed later are a batch, other common ones are summed."""
    shared = [v for v in x_labels if v in y_labels]
    batch = [v for v in shared if v in needed]
    summed = [v for v in shared if v not in needed]
    rows = [v for v in x_labels if v not in shared]
    columns = [v for v in y_labels if v not in shared]
    extent = {**dict(zip(y_labels, y.shape, strict=True)), **dict(zip(x_labels, x.shape, strict=True))}

    def arranged(t: Any, labels: Labels, groups: Sequence[Labels]) -> Any:
        order = [v for group in groups for v in group]
        t = transpose(t, perm=tuple(labels.index(v) for v in order)) if order != labels else t
        return reshape(t, shape=(*[extent[v] for v in batch], *[numel([extent[v] for v in g]) for g in groups[1:]]))

    if summed and not rows and not columns and sums_vectors(x, y):
        left, right = arranged(x, x_labels, (batch, summed)), arranged(y, y_labels, (batch, summed))
        return reshape(vector_product(left, right), shape=tuple(extent[v] for v in batch)), batch
    left = arranged(x, x_labels, (batch, rows, summed))
    right = arranged(y, y_labels, (batch, summed, columns))
    out = matmul(left, right) if summed else mul(left, right)  # without a sum: (rows, 1) times (1, columns)
    labels = [*batch, *rows, *columns]
    return reshape(out, shape=tuple(extent[v] for v in labels)), labels
