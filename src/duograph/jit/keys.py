"""What a refusal of a capture depends on: the arguments that it was made for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.frontend.rules.facts import tensor_facts
from duograph.frontend.rules.policy import use_of
from duograph.tensor.tensor import Tensor


def key_of_call(values: Sequence[Any]) -> Any:
    """What a fallback depends on: facts of tensors, values of constants, identities of the rest."""
    return tuple([_key_of(v) for v in values])


def _key_of(value: Any, depth: int = 8) -> Any:
    if type(value) is Tensor:
        return tensor_facts(value)
    if use_of(type(value)):
        return (id(type(value)), id(value))
    if isinstance(value, Tensor):
        return tensor_facts(value)
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return (type(value), value)
    if isinstance(value, tuple | list) and depth:  # a list may be in itself
        return (type(value), tuple([_key_of(v, depth - 1) for v in value]))
    if isinstance(value, dict) and depth:
        return (type(value), tuple([(k, _key_of(v, depth - 1)) for k, v in value.items()]))
    return (id(type(value)), id(value))  # an object may stand where another one was that is gone
