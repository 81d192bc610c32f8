"""`mutable`: marks numbers as values that change from call to call, so that compiled code takes them as inputs."""

from __future__ import annotations

from typing import Any

from duograph.base.tree import register_container
from duograph.tensor.tensor import Tensor

__all__ = ["mutable"]


class MutableInt(int):
    """An int that compiled code does not bake in."""

    __ms_mutable__ = True


class MutableFloat(float):
    """A float that compiled code does not bake in."""

    __ms_mutable__ = True


class MutableTuple(tuple[Any, ...]):
    """A tuple whose numbers compiled code does not bake in."""

    __ms_mutable__ = True
    __slots__ = ()


class MutableList(list[Any]):
    """A list whose numbers compiled code does not bake in."""

    __ms_mutable__ = True


class MutableDict(dict[Any, Any]):
    """A dict whose numbers compiled code does not bake in."""

    __ms_mutable__ = True


def _dict_of(keys: Any, items: Any) -> MutableDict:
    return MutableDict(zip(keys, items, strict=True))


register_container(MutableTuple, lambda v: (v, None), lambda _data, items: MutableTuple(items))
register_container(MutableList, lambda v: (v, None), lambda _data, items: MutableList(items))
register_container(MutableDict, lambda v: (list(v.values()), tuple(v)), _dict_of)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Marks ``input_data`` as changing between calls. Tensors inside containers always are inputs of compiled code;
    numbers become inputs by this mark (or by themselves, when they are seen to change).

    Args:
        input_data (Union[int, float, Tensor, tuple, list, dict]): what to mark.
        dynamic_len (bool): whether a tuple or list also changes its length. Default: ``False``.

    Returns:
        The marked value; it is equal to ``input_data``.

    Raises:
        TypeError: ``input_data`` has another type, ``dynamic_len`` is not a bool, or it is set for something else than
            a tuple or list.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> ms.mutable(3) + 1
        4
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"For 'mutable', the 'dynamic_len' should be a bool, but got {type(dynamic_len).__name__}.")
    if dynamic_len and not isinstance(input_data, tuple | list):
        raise TypeError(
            "For 'mutable', when the 'dynamic_len' is True, the 'input_data' should be list or tuple, but got "
            f"{input_data}"
        )
    return _marked(input_data)


def _marked(value: Any) -> Any:
    if isinstance(value, bool | Tensor):
        return value
    if isinstance(value, int):
        return MutableInt(value)
    if isinstance(value, float):
        return MutableFloat(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return MutableTuple(_marked(v) for v in value)
    if isinstance(value, list):
        return MutableList(_marked(v) for v in value)
    if isinstance(value, dict):
        return MutableDict({k: _marked(v) for k, v in value.items()})
    raise TypeError(
        "For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, dict) or their "
        "nested "
        f"structures, but got {value}."
    )
