"""What stands where in the words of a native call: `calls.native` writes them, code of `calls/` reads them."""

from __future__ import annotations

# The block of a call. `_AT` words are addresses of arrays.
(
    BUSY,  # the memory that the call works in is in use
    HITS,  # calls that were answered
    CONFIG,  # the configuration for which the call was made; 0: never again
    RULES,  # the object that tells the version of rules
    PROGRAM,  # of guards
    REGISTERS,  # of that program
    VALUES,  # how many values the parameters take, ``*args`` counted as one
    REST,  # 1 if the last one is ``*args``
    NAMES_AT,  # of the parameters
    POSITIONAL,  # how many of them may be given by position
    POSITIONAL_ONLY,  # how many of them may not be given by name
    BUFFERS_AT,  # what `main` gets
    DIMS_AT,
    CONTEXT_AT,
    MAIN,
    RELEASE,  # whether the GIL is released meanwhile
    SUBJECTS,  # tensors that are read or written
    SUBJECT_AT,
    EXCLUSIVE,  # whether some of them are written
    MARKS,  # how many storages there are
    NUMBERS,
    NUMBER_AT,
    SIZES,  # extents that are looked at
    SIZE_AT,
    SIZER,  # code that checks them and says how large the outputs are, or 0
    SIZER_BUFFERS_AT,  # what it gets
    SIZER_DIMS_AT,
    GROW,  # Python function that gives the run a larger arena
    GENERATOR,  # dictionary of the random generator whose state is an input
    SEED,  # dims of it
    OFFSET,
    DRAWS,  # leaf that is the generator's new offset; -1: none
    OUTPUTS,
    OUTPUT_AT,
    FIRST_OUTPUT,  # buffer of the first one
    LEAVES,  # of the result, flattened
    LEAF_AT,
    WRITES,  # tensors that get new contents
    WRITE_AT,
    RESULT_AT,  # how to make the result (`TREE_LEAF` ...)
    FINISH,  # Python function that makes it from the values and leaves instead, or 0
    HELD,  # registers that are used after `main`
    HELD_AT,
    RESET,  # Python function that gives regions back
    CALL_WORDS,
) = range(45)

# A subject: the register, flags that its array must have, its storage (-1: of no interest), what was found last time,
# its buffer (-1: it is only written), bytes, whether `main` writes to it, and whether nobody else may hold its array.
S_REGISTER, S_FLAGS, S_MARK, S_ARRAY, S_STORAGE, S_BUFFER, S_BYTES, S_DONATED, S_ALONE, SUBJECT_WORDS = range(10)
# A number: register, kind, place among the dims.
N_REGISTER, N_KIND, N_DIM, NUMBER_WORDS = range(4)
INT, BOOL, FLOAT = range(3)
# A size: number of the subject, axis, place among the dims of `main` (-1: none).
Z_SUBJECT, Z_AXIS, Z_DIM, SIZE_WORDS = range(4)
# A leaf: what it is, and the number of its output or the word of the context.
L_KIND, L_PLACE, LEAF_WORDS = range(3)
LEAF_NONE, LEAF_TENSOR, LEAF_INT, LEAF_BOOL, LEAF_FLOAT = range(5)
# A write: the subject, the number of the output (-1: `main` has written).
W_SUBJECT, W_OUTPUT, WRITE_WORDS = range(3)
# The result, as a tree in prefix order.
TREE_LEAF, TREE_CONSTANT, TREE_TUPLE, TREE_LIST, TREE_REGISTER = range(5)

MOST_OUTPUTS = 512
MOST_SUBJECTS = 4096
MOST_SHOWN = 16
"""Inputs that do not own their memory while others are written: each is compared with all of those."""
