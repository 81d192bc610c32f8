"""What stands where in the arrays of words that Python and the native launcher share, and how their text reads them.

A *key* describes the arguments of a call, a *frame* is the native side's memory of one call, a *record* says what such
a call comes to, and a *step* is one op of it (`launch.text`, ``records.py``). The constants number their words.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Value
from duograph.runtime.python.cpython import TYPE

# Tags of the words of a key. The second byte of TENSOR, STRIDED, TUPLE and LIST is the rank or length.
TENSOR, FLOAT, INT, OBJECT, TUPLE, LIST, SLICE, WEAK_FLOAT, WEAK_INT, KEYWORD, STRIDED = range(1, 12)

MOST_TENSORS, MOST_NUMBERS, MOST_KEY, MOST_VALUES, MOST_BUFFERS = 8, 4, 96, 32, 32
STACK_TEMPORARIES = 2048

# The frame of a call: counts, operands, and the key. In words.
COUNT, TENSORS, NUMBERS, WEAK, HASH = 0, 1, 2, 3, 4
TENSOR_AT = 8
NUMBER_AT = TENSOR_AT + MOST_TENSORS
KEY_AT = NUMBER_AT + MOST_NUMBERS
FRAME_WORDS = KEY_AT + MOST_KEY

# A record. Values are numbered: tensors of the call, numbers of the call, constants, then the outputs of the steps.
(
    R_COUNT, R_KEY, R_PYTHON, R_OWNER, R_CONSTANTS, R_CONSTANT_AT, R_NUMBER_TYPES, R_STEPS, R_STEP_AT, R_RESULT,
    R_RESULTS, R_RELEASE, R_COPIES, R_TELL, R_WAIT, R_FUSED, RECORD_WORDS,
) = range(17)  # fmt: skip
# Results are numbers of values, too; -1 is None. R_COPIES has a bit for each tensor of the call that kernels need in
# one piece and that is not. R_TELL: only Python can tell tapes of one of the steps. R_WAIT: calls without a tape until
# its ops are fused, 0 if that is done or not to be. R_FUSED: the record for calls without a tape then.
# A step: an op. Operands and buffers are numbers of values; a buffer below zero is an offset into temporaries, -1 is
# the first byte. S_COPY: kernels need this view in one piece. S_RECORDED: the op has a gradient.
(
    S_VIEW, S_OP, S_ATTRS, S_RECORDED, S_OPERANDS, S_OPERAND_AT, S_OUTPUTS, S_OUTPUT_AT, S_CALLS, S_CALL_AT,
    S_TEMPORARIES, S_COPY, STEP_WORDS,
) = range(13)  # fmt: skip
C_ADDRESS, C_BUFFERS, C_BUFFER_AT, C_DIMS, CALL_WORDS = range(5)
O_DTYPE, O_RANK, O_BYTES, O_SHAPE, O_STRIDES, O_OFFSET, O_FLAGS, OUTPUT_WORDS = range(8)

PROBES = 8
"""Places of the table that are looked at for a key."""

CONSTANTS = 512
"""Places of the table of numbers as tensors: dtype, bits, type, tensor."""

MULTIPLIER = 0x9E3779B97F4A7C15 - (1 << 64)


def mixed(f: Function, hashed: Value, word: Value) -> Value:
    """The hash after one more word."""
    turned = f.emit("i64", f"call i64 @llvm.fshl.i64(i64 {hashed}, i64 {hashed}, i64 5)")
    return (turned ^ word) * MULTIPLIER


def incref(f: Function, value: Value) -> Value:
    f.api("void", "Py_IncRef", value)
    return value


def decref(f: Function, value: Value) -> None:
    f.api("void", "Py_DecRef", value)


def type_of(f: Function, value: Value) -> Value:
    return f.load("ptr", value, TYPE)


_OFFSETS: dict[str, int] = {}


def words_offset(name: str) -> int:
    """Offset of a slot of our own classes: ``data``, ``mark``, ``storage``, ``view``, ``now``, ``log`` ..."""
    return _OFFSETS[name]


def set_offsets(offsets: dict[str, int]) -> None:
    """Offsets of slots are part of the text: another layout is another text."""
    _OFFSETS.update(offsets)
