"""What stands where in the arrays of words that Python and the native launcher share, and how their text reads them.

A *key* describes the arguments of a call, a *frame* is the native side's memory of one call, a *record* says what such
a call comes to, and a *step* is one op of it (`launch.text`, ``records.py``). The constants number their words.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Value
from duograph.runtime.python.structs import Struct

# Tags of the words of a key. The second byte of TENSOR, STRIDED, TUPLE and LIST is the rank or length.
TENSOR, FLOAT, INT, OBJECT, TUPLE, LIST, SLICE, WEAK_FLOAT, WEAK_INT, KEYWORD, STRIDED = range(1, 12)

MOST_TENSORS, MOST_NUMBERS, MOST_KEY, MOST_VALUES, MOST_BUFFERS = 8, 4, 96, 32, 32
STACK_TEMPORARIES = 2048

# What the native side knows of one call: how many words its key has, how many tensors and numbers it has, whether
# numbers only stand for tensors, the hash of the key; then tensors, numbers and key themselves.
FRAME = Struct(
    "frame", count="i64", tensors="i64", numbers="i64", weak="i64", hash="i64",
    tensor=f"ptr[{MOST_TENSORS}]", number=f"ptr[{MOST_NUMBERS}]", key=f"i64[{MOST_KEY}]",
)  # fmt: skip

# A record. Values are numbered: tensors of the call, numbers of the call, constants, then the outputs of the steps.
# Results are numbers of values, too; -1 is None. ``copies`` has a bit for each tensor of the call that kernels need in
# one piece and that is not. ``tell``: only Python can tell tapes of one of the steps. ``wait``: calls without a tape
# until its ops are fused, 0 if that is done or not to be; ``fused``: the record for calls without a tape then.
RECORD = Struct(
    "record", count="i64", key="ptr", python="i64", owner="ptr", constants="i64", constant_at="ptr",
    number_at="ptr", steps="i64", step_at="ptr", result="ptr", results="i64", release="i64", copies="i64",
    tell="i64", wait="i64", fused="ptr",
)  # fmt: skip
# A step: an op. Operands and buffers are numbers of values; a buffer below zero is an offset into temporaries, -1 is
# the first byte. ``copy``: kernels need this view in one piece. ``recorded``: the op has a gradient.
STEP = Struct(
    "step", view="i64", op="ptr", attrs="ptr", recorded="i64", operands="i64", operand_at="ptr", outputs="i64",
    output_at="ptr", calls="i64", call_at="ptr", temporaries="i64", copy="i64",
)  # fmt: skip
KERNEL_ABI = "i32 (ptr, ptr)"
KERNEL = Struct("call of a kernel", address="ptr", buffers="i64", buffer_at="ptr", dims="ptr")
OUTPUT = Struct("output", dtype="ptr", rank="i64", bytes="i64", shape="ptr", strides="ptr", offset="i64", flags="i64")

# A number of the call as a 0-d tensor: its dtype, how its bits come from Python's (`AS_IT_IS` ...), the array. An int
# that is not between ``low`` and ``high`` is no such tensor: comparisons look at its value.
NUMBER = Struct("number", dtype="ptr", how="i64", output="ptr", low="i64", high="i64")
BY_PYTHON, AS_IT_IS, TO_FLOAT64, TO_FLOAT32, TO_BFLOAT16, TO_FLOAT16 = range(6)

PROBES = 8
"""Places of the table that are looked at for a key."""

CONSTANT = Struct("constant", dtype="ptr", bits="i64", kind="ptr", tensor="ptr")
CONSTANTS = 512
"""Places of the table of numbers as tensors."""

MULTIPLIER = 0x9E3779B97F4A7C15 - (1 << 64)


def mixed(f: Function, hashed: Value, word: Value) -> Value:
    """The hash after one more word."""
    turned = f.api("llvm.fshl.i64", hashed, hashed, 5)
    return (turned ^ word) * MULTIPLIER
