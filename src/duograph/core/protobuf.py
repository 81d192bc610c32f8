"""Protocol-buffer messages from their text, so that no generated module is needed.

The text is that of a ``.proto`` file, with messages and fields only: enumerations are ``int32``, and a ``oneof`` is
written as optional fields, which are the same bytes. Unknown fields of a file are kept, as protobuf demands.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

__all__ = ["messages", "parse"]

_Field = descriptor_pb2.FieldDescriptorProto
_TOKEN = re.compile(
    r"message (?P<message>\w+) \{|(?P<end>\})"
    r"|(?P<label>repeated |required |optional )?(?P<type>\w+) (?P<name>\w+) = (?P<number>\d+);"
)
_LABELS = {"repeated ": _Field.LABEL_REPEATED, "required ": _Field.LABEL_REQUIRED}
_SCALARS = (
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32",
)  # fmt: skip


def messages(package: str, text: str) -> dict[str, Any]:
    """The classes of the messages that a text declares, by name (``Outer.Inner`` of a nested one).

    Args:
        package: a name of its own.
        text: ``message Name { repeated int64 dims = 1; ... }`` and so on; other messages by the names that hold there.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    scope: list[Any] = [file]
    names: list[str] = []
    path: list[str] = []
    fields = []
    for token in _TOKEN.finditer(text):
        if token["message"]:
            outer = scope[-1].message_type if len(scope) == 1 else scope[-1].nested_type
            scope.append(outer.add(name=token["message"]))
            path.append(token["message"])
            names.append(".".join(path))
        elif token["end"]:
            scope.pop()
            path.pop()
        else:
            label = _LABELS.get(token["label"], _Field.LABEL_OPTIONAL)
            field = scope[-1].field.add(name=token["name"], number=int(token["number"]), label=label)
            if token["type"] in _SCALARS:
                field.type = getattr(_Field, f"TYPE_{token['type'].upper()}")
            else:
                field.type = _Field.TYPE_MESSAGE
                fields.append((field, token["type"], list(path)))
    for field, kind, within in fields:
        places = [".".join([*within[:n], kind]) for n in range(len(within), -1, -1)]
        field.type_name = f".{package}.{next(place for place in places if place in names)}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in names}


def parse(message: Any, data: bytes) -> Any:
    """Fills a message from the content of a file, and gives it back.

    Raises:
        ValueError: the content is no such message, or has text that is none.
    """
    try:
        message.ParseFromString(data)
    except DecodeError as exc:
        raise ValueError(f"it is damaged: {exc}") from None
    _check_text(message)
    return message


def _check_text(message: Any) -> None:
    """Text of proto2 that is no UTF-8 comes as bytes; nobody expects that."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in (value,) if isinstance(value, Message) else value:
                _check_text(item)
        elif field.type == field.TYPE_STRING and any(isinstance(item, bytes) for item in (value, *value)):
            raise ValueError(f"it is damaged: its field {field.full_name!r} is not a string")
