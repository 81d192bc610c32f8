"""Small kernels in LLVM text, and how the tests call them."""

from __future__ import annotations

import ctypes

import numpy as np

from duograph.runtime.machine.code import load
from duograph.runtime.machine.llvm import Linked
from duograph.runtime.pool import pool

SCALE = """
define i32 @scale(ptr %bufs, ptr %dims) nounwind {
entry:
  %x = load ptr, ptr %bufs
  %n = load i64, ptr %dims
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %out
body:
  %at = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %at
  %w = fmul float %v, FACTOR
  store float %w, ptr %at
  %next = add i64 %i, 1
  br label %head
out:
  ret i32 0
}
"""
"""x[i] *= FACTOR for i < n."""

COUNT = """
declare void @dg_parallel(ptr, ptr, i64, i64, i64)
define internal void @chunk(ptr %ctx, i64 %begin, i64 %end) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %out
body:
  %at = getelementptr i64, ptr %ctx, i64 %i
  %v = load i64, ptr %at
  %w = add i64 %v, 1
  store i64 %w, ptr %at
  %next = add i64 %i, 1
  br label %head
out:
  ret void
}
define i32 @count(ptr %bufs, ptr %dims) nounwind {
entry:
  %x = load ptr, ptr %bufs
  %n = load i64, ptr %dims
  %d1 = getelementptr i64, ptr %dims, i64 1
  %size = load i64, ptr %d1
  %d2 = getelementptr i64, ptr %dims, i64 2
  %rounds = load i64, ptr %d2
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %rounds
  br i1 %more, label %body, label %out
body:
  call void @dg_parallel(ptr @chunk, ptr %x, i64 0, i64 %n, i64 %size)
  %next = add i64 %i, 1
  br label %head
out:
  ret i32 0
}
"""
"""`rounds` regions over x[0:n] in chunks of `size`; each adds 1 to every element."""

SUM = """
declare void @dg_parallel(ptr, ptr, i64, i64, i64)
define internal void @chunk(ptr %bufs, i64 %begin, i64 %end) nounwind {
entry:
  %x = load ptr, ptr %bufs
  %b1 = getelementptr ptr, ptr %bufs, i64 1
  %partial = load ptr, ptr %b1
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %s = phi float [ 0.0, %entry ], [ %t, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %out
body:
  %at = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %at
  %t = fadd float %s, %v
  %next = add i64 %i, 1
  br label %head
out:
  %k = sdiv i64 %begin, 100
  %slot = getelementptr float, ptr %partial, i64 %k
  store float %s, ptr %slot
  ret void
}
define i32 @sums(ptr %bufs, ptr %dims) nounwind {
  %n = load i64, ptr %dims
  call void @dg_parallel(ptr @chunk, ptr %bufs, i64 0, i64 %n, i64 100)
  ret i32 0
}
"""
"""Sums of 100 elements of x each, to partial[k]: as a reduction is split."""

NESTED = """
declare void @dg_parallel(ptr, ptr, i64, i64, i64)
define internal void @inner(ptr %row, i64 %begin, i64 %end) nounwind {
  %at = getelementptr i64, ptr %row, i64 %begin
  %v = load i64, ptr %at
  %w = add i64 %v, 1
  store i64 %w, ptr %at
  ret void
}
define internal void @outer(ptr %x, i64 %begin, i64 %end) nounwind {
  %offset = mul i64 %begin, 16
  %row = getelementptr i64, ptr %x, i64 %offset
  call void @dg_parallel(ptr @inner, ptr %row, i64 0, i64 16, i64 1)
  ret void
}
define i32 @nested(ptr %bufs, ptr %dims) nounwind {
  %x = load ptr, ptr %bufs
  %n = load i64, ptr %dims
  call void @dg_parallel(ptr @outer, ptr %x, i64 0, i64 %n, i64 1)
  ret i32 0
}
"""
"""Adds 1 to each element of x[n, 16], by a region in a region."""


def scale(factor: float) -> str:
    """The text of `SCALE` for a factor that float32 has exactly."""
    return SCALE.replace("FACTOR", f"{float(np.float32(factor)):.6e}")


def call(linked: Linked, name: str, arrays: list[np.ndarray], dims: list[int]) -> int:
    """Calls a kernel of the engine's ABI: buffers, dims; the result is its status."""
    bufs = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    slots = (ctypes.c_int64 * len(dims))(*dims)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(linked.address(name))
    return int(function(bufs, slots))


def count(elements: int = 64, chunk: int = 1, rounds: int = 1) -> np.ndarray:
    """How often each element was visited by `rounds` regions."""
    x = np.zeros(elements, np.int64)
    assert call(load(COUNT, ["count"], pool.symbols()), "count", [x], [elements, chunk, rounds]) == 0
    return x


def scaled(factor: float) -> list[float]:
    """What the kernel `scale(factor)` makes of 1, 2, 3."""
    x = np.array([1, 2, 3], np.float32)
    assert call(load(scale(factor), ["scale"]), "scale", [x], [3]) == 0
    return x.tolist()
