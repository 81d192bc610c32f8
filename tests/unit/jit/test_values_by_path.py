"""Variables of which paths leave values of different kinds: the paths join, and who reads such a variable decides again
which of two it is. Capture stays linear in the number of decisions."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor

ROWS = 10


def total_from_a_number(rows):
    total, hits = 0.0, 0
    for row in rows:
        if row.sum() > 0:
            total = total + row.max()
            hits += 1
    return total / max(hits, 1)


def total_in_place(rows):
    total = 0
    for row in rows:
        if row.sum() > 0 and row[0] > -1:
            total += row
    return total, isinstance(total, Tensor)


def best_of_none(rows):
    best, at = None, -1
    for k, row in enumerate(rows):
        score = row.mean()
        if best is None or score > best:
            best, at = score, k
    return best, at


def best_of_minus_infinity(rows):
    best, found = float("-inf"), None
    for row in rows:
        if row.max() > best:
            best, found = row.max(), row
    return best, found * 2


def one_before(rows):
    before, jumps = None, 0
    for row in rows:
        if before is not None and (row - before).abs().max() < 1.5:
            jumps += 1
        if row.sum() > 0:
            before = row
    return jumps, before


def patience(rows):
    best, bad = None, 0
    for row in rows:
        loss = row.mean()
        if best is None or loss < best:
            best, bad = loss, 0
        else:
            bad += 1
            if bad >= 3:
                break
    return best, bad


def skips_and_stops(rows):
    held = None
    for row in rows:
        if row[0] > 1:
            continue
        if held is not None and row[1] > 1.2:
            held = held + row.sum()
            break
        held = row.sum() if held is None else held * 0.5
    return held


def set_where_it_is_needed(rows):
    if rows[0].sum() > 0:
        mask = rows[0] > 0
    out = []
    for row in rows:
        if rows[0].sum() > 0:
            row = row * mask
        out.append(row)
    return out


def unbound_on_one_path(rows):
    if rows[0].sum() > 0:
        scale = 2.0
    try:
        return rows[1] * scale
    except UnboundLocalError as error:
        return str(error)


def deleted_on_one_path(rows):
    found = rows[0]
    if rows[0].sum() > 0:
        found = None
    if rows[1].sum() > 0:
        del found
    try:
        return found
    except UnboundLocalError:
        return "unbound"


def other_names(rows):
    a = None
    if rows[0].sum() > 0:
        a = rows[0] * 1
    b = a
    if b is not None:
        b += 1
    return a, b, a is b


def held_elsewhere(rows):
    kept, a = [], 0.0
    if rows[0].sum() > 0:
        a = rows[0] * 2
        kept.append(a)
    a += rows[1]
    return kept, a


PROGRAMS = [
    total_from_a_number, total_in_place, best_of_none, best_of_minus_infinity, one_before, patience, skips_and_stops,
    set_where_it_is_needed, unbound_on_one_path, deleted_on_one_path, other_names, held_elsewhere,
]  # fmt: skip


def told(value):
    if isinstance(value, tuple | list):
        return [told(v) for v in value]
    return (str(value.dtype), value.shape, value.asnumpy().tobytes()) if isinstance(value, Tensor) else repr(value)


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_paths_join(program, mode):
    """Ten decisions, each of which leaves two kinds of values: as paths of their own these would be a thousand."""
    random = np.random.default_rng(3)
    compiled = ms.jit(program, capture_mode=mode, fullgraph=mode != "trace")
    for share in (0.0, 0.0, -3.0, 3.0, 0.2, -0.2, 0.0, 0.0):
        numbers = random.standard_normal((ROWS, 3)).astype(np.float32) + np.float32(share)
        rows, others = ([Tensor(row) for row in numbers] for _ in range(2))
        assert told(compiled(rows)) == told(program(others))
        assert told(rows) == told(others)


@pytest.mark.parametrize("program", [total_from_a_number, total_in_place, best_of_minus_infinity, patience])
def test_gradients_of_what_paths_have_left(program):
    def loss(x):
        found = program([x[k] for k in range(6)])
        found = found[0] if isinstance(found, tuple) else found
        return found.sum() if isinstance(found, Tensor) else (x * 0).sum()

    gradient = ms.value_and_grad(loss)
    compiled = ms.jit(lambda x: gradient(x), fullgraph=True)
    random = np.random.default_rng(4)
    for share in (0.0, 0.3, -3.0, 3.0, 0.0):
        x = Tensor(random.standard_normal((6, 3)).astype(np.float32) + np.float32(share))
        assert told(compiled(x)) == told(gradient(x))
