"""How many values lie on the stack at each place."""

from __future__ import annotations

from typing import Any

from .instructions import Instruction

_EFFECTS = {
    "LOAD_CONST": 1, "LOAD_FAST": 1, "LOAD_DEREF": 1, "LOAD_GLOBAL": 1, "LOAD_CLOSURE": 1, "LOAD_NAME": 1,
    "LOAD_FAST_AND_CLEAR": 1, "PUSH_NULL": 1, "LOAD_METHOD": 1, "LOAD_ASSERTION_ERROR": 1, "LOAD_BUILD_CLASS": 1,
    "COPY": 1, "BEFORE_WITH": 1, "WITH_EXCEPT_START": 1, "PUSH_EXC_INFO": 1, "GET_LEN": 1, "MATCH_MAPPING": 1,
    "MATCH_SEQUENCE": 1, "MATCH_KEYS": 1, "IMPORT_FROM": 1, "BINARY_OP": -1, "COMPARE_OP": -1, "IS_OP": -1,
    "CONTAINS_OP": -1, "BINARY_SUBSCR": -1, "BINARY_SLICE": -2, "STORE_FAST": -1, "STORE_DEREF": -1, "STORE_GLOBAL": -1,
    "STORE_ATTR": -2, "STORE_SUBSCR": -3, "STORE_SLICE": -4, "DELETE_ATTR": -1, "DELETE_SUBSCR": -2, "POP_TOP": -1,
    "POP_EXCEPT": -1, "BRANCH": -1, "LIST_APPEND": -1, "SET_ADD": -1, "MAP_ADD": -2, "LIST_EXTEND": -1,
    "SET_UPDATE": -1, "DICT_UPDATE": -1, "DICT_MERGE": -1, "FORMAT_WITH_SPEC": -1, "IMPORT_NAME": -1,
    "LOAD_CLASSDEREF": 1, "STORE_NAME": -1, "RETURN_VALUE": -1, "RERAISE": -1, "MATCH_CLASS": -2,
    "SET_FUNCTION_ATTRIBUTE": -1, "PREP_RERAISE_STAR": -1, "CALL_INTRINSIC_2": -1,
}  # fmt: skip


def depths(made: list[Instruction]) -> list[int]:
    """The depth before each instruction."""
    found: list[int | None] = [None] * len(made)
    work = [(0, 0)]
    while work:
        i, depth = work.pop()
        if found[i] is not None:
            continue
        found[i] = depth
        one = made[i]
        if one.handler is not None:
            place, below, is_told = one.handler
            work.append((place, below + is_told + 1))
        after = depth + _effect(one)
        if one.op == "FOR_ITER":
            work += [(one.next[0], depth + 1), (one.next[1], depth - 1)]
        else:
            work += [(n, after) for n in one.next]
    return [d or 0 for d in found]


def _effect(one: Instruction) -> int:
    arg: Any = one.arg
    match one.op:
        case "BUILD_TUPLE" | "BUILD_LIST" | "BUILD_SET" | "BUILD_STRING" | "BUILD_SLICE":
            return 1 - arg
        case "BUILD_MAP":
            return 1 - 2 * arg
        case "BUILD_CONST_KEY_MAP":
            return -arg
        case "CALL":
            return -1 - arg[0]
        case "CALL_FUNCTION_EX":
            return -2 - (arg & 1)
        case "MAKE_FUNCTION":
            return -(arg or 0).bit_count()
        case "UNPACK_SEQUENCE":
            return arg - 1
        case "UNPACK_EX":
            return (arg & 255) + (arg >> 8)
        case "FORMAT_VALUE":
            return -1 if arg[1] else 0
        case "RAISE_VARARGS":
            return -arg
        case "LOAD_SUPER_ATTR":
            return -2 + arg[1]
    return _EFFECTS.get(one.op, 0)
