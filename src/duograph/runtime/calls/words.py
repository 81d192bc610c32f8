"""What stands where in the words of a native call: `calls.native` writes them, code of `calls/` reads them."""

from __future__ import annotations

from duograph.runtime.launch.words import OUTPUT
from duograph.runtime.python.structs import Struct

# The block of a call. ``_at`` words are addresses of arrays.
CALL = Struct(
    "call",
    busy="i64",  # another call is using the buffers
    hits="i64",  # calls that were answered
    until="i64",  # how many may be before Python leads one
    config="ptr",  # the configuration for which the call was made; 0: never again
    rules="ptr",  # the object that tells the version of rules
    program="ptr",  # of guards
    registers="i64",  # of that program
    values="i64",  # how many values the parameters take, ``*args`` counted as one
    rest="i64",  # 1 if ``*args`` come behind those that may be given by position, and get something
    names_at="ptr",  # of the parameters
    positional="i64",  # how many of them may be given by position
    positional_only="i64",  # how many of them may not be given by name
    collects="i64",  # 1 if the last one is ``**kwargs``, which get something
    reserved="i64",  # names that they do not get: those of the other parameters
    reserved_at="ptr",
    buffers_at="ptr",  # what `main` gets
    dims_at="ptr",
    context_at="ptr",
    main="ptr",
    release="i64",  # whether the GIL is released meanwhile
    subjects="i64",  # tensors that are read or written
    subject_at="ptr",
    exclusive="i64",  # whether some of them are written
    marks="i64",  # how many storages there are
    strided="i64",  # subjects that may not be contiguous, whose copies `main` gets
    strided_at="ptr",
    numbers="i64",
    number_at="ptr",
    sizes="i64",  # extents that are looked at
    size_at="ptr",
    sizer="ptr",  # code that checks them and says how large the outputs are, or 0
    sizer_buffers_at="ptr",  # what it gets
    sizer_dims_at="ptr",
    grow="ptr",  # Python function that gives the run a larger arena
    generator="ptr",  # dictionary of the random generator whose state is an input
    seed="i64",  # dims of it
    offset="i64",
    outputs="i64",
    output_at="ptr",
    first_output="i64",  # buffer of the first one
    late="i64",  # outputs whose size only `main` knows: they follow the others
    late_at="ptr",
    leaves="i64",  # of the result, flattened
    leaf_at="ptr",
    shown="i64",  # leaves that are views, at most: they follow the others
    writes="i64",  # tensors that get new contents, on some path
    write_at="ptr",
    path_at="ptr",  # what follows when `main` has run, for each path
    choice="i64",  # word of the context that holds the number of the path; -1: there is one
    begin="ptr",  # Python function that is told the inputs before `main` runs, or 0; what it gives, ``finish`` gets
    inputs="i64",  # tensors and numbers that are passed to it
    input_at="ptr",  # their registers
    held="i64",  # registers that are used after `main`
    held_at="ptr",
    reset="ptr",  # Python function that gives regions back
    ended="ptr",  # Python function that gives what steps in Python have done when `main` has run, or 0
    failed="ptr",  # Python function that is called if Python is to do the call
    missed="i64",  # whether it did not hold when it was tried last
    follower="i64",  # place among its owner's versions of the one that answered the call after one of this
    latest="i64",  # of the first version: place of the one that answered its owner's latest call
)

FEW = 2
"""Versions up to which all are tried in their order; of more the one first that followed the latest one last time."""

# A path: what is written, the leaf that is the generator's new offset (-1: none), further leaves that are views
# (`SHOWN`), how to make the result (`TREE_LEAF` ...), the Python function that makes it from the values and leaves
# instead (or 0), whether Python is to do the call.
PATH = Struct(
    "path", writes="i64", write_at="ptr", draws="i64", shown="i64", shown_at="ptr", result_at="ptr", finish="ptr",
    python="i64",
)  # fmt: skip
# A subject: the register, flags that its array must have, its storage (-1: of no interest), what was found last time,
# its buffer (-1: it is only written), bytes, whether it is written, whether nobody else may hold its array, and whether
# the register holds an array of NumPy's instead of a tensor.
SUBJECT = Struct(
    "subject", register="i64", flags="i64", mark="i64", array="ptr", storage="ptr", buffer="i64", bytes="i64",
    written="i64", alone="i64", bare="i64",
)  # fmt: skip
NUMBER = Struct("number", register="i64", kind="i64", dim="i64")  # ``dim``: its place among the dims of `main`
INT, BOOL, FLOAT, NUMPY_INT, NUMPY_FLOAT = range(5)  # NumPy's: an object that gives such a number
# A size: number of the subject, axis, place among the dims of `main` (-1: none).
SIZE = Struct("size", subject="i64", axis="i64", dim="i64")
# An output whose size only `main` knows: the context holds, from ``word`` on, where `main` has put it and its extents.
LATE = Struct("late", **{name: field.type for name, field in OUTPUT.fields.items()}, word="i64", itemsize="i64")
# A leaf: what it is, and the number of its output or the word of the context.
LEAF = Struct("leaf", kind="i64", place="i64")
LEAF_NONE, LEAF_TENSOR, LEAF_INT, LEAF_BOOL, LEAF_FLOAT, LEAF_DIM = range(6)  # a dim: an int that `main` was given
# A write: the subject, the number of the output (-1: `main` has written).
WRITE = Struct("write", subject="i64", output="i64")
# The result, as a tree in prefix order.
TREE_LEAF, TREE_CONSTANT, TREE_TUPLE, TREE_LIST, TREE_REGISTER, TREE_DICT = range(6)  # a dict: keys and values in turn
# A leaf that is a view: address of its `VIEWS`, whether the parent is another leaf (else a register), which.
SHOWN = Struct("shown", views="ptr", leaf="i64", parent="i64")
# Views: layouts of the parent that are known, each a `VIEW`; the Python function that makes other ones.
VIEWS = Struct("views", known="i64", entry_at="ptr", make="ptr")
VIEW = Struct("view", layout="ptr", output="ptr", op="ptr", attrs="ptr")  # ``layout``: the parent's shape and strides

MOST_SHOWN = 16
"""Inputs that do not own their memory while others are written: each is compared with all of those."""
