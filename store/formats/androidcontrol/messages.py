"""Protocol buffers of AndroidControl: `tf.train.Example`, and the used fields of the accessibility forest.

Text fields are declared as bytes, so that invalid UTF-8 does not make a whole screen unreadable. Source: TensorFlow's
`core/example/{example,feature}.proto`. `android_env/proto/a11y` of google-deepmind/android_env.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lab.core.errors import LabError

_MESSAGES: dict[str, list[tuple[str, int, str]]] = {
    "Example": [("features", 1, "Features")],
    "Features": [("feature", 1, "*Entry")],
    "Entry": [("key", 1, "bytes"), ("value", 2, "Feature")],
    "Feature": [("bytes_list", 1, "BytesList"), ("float_list", 2, "FloatList"), ("int64_list", 3, "Int64List")],
    "BytesList": [("value", 1, "*bytes")],
    "FloatList": [("value", 1, "*float")],
    "Int64List": [("value", 1, "*int64")],
    "Forest": [("windows", 1, "*Window")],
    "Window": [
        ("bounds_in_screen", 1, "Rect"), ("id", 3, "int32"), ("layer", 4, "int32"), ("title", 5, "bytes"),
        ("window_type", 6, "int32"), ("is_active", 8, "bool"), ("is_focused", 9, "bool"), ("tree", 11, "Tree"),
    ],
    "Tree": [("nodes", 1, "*Node")],
    "Node": [
        ("unique_id", 1, "int32"), ("bounds_in_screen", 2, "Rect"), ("class_name", 3, "bytes"),
        ("content_description", 4, "bytes"), ("hint_text", 5, "bytes"), ("package_name", 6, "bytes"),
        ("text", 7, "bytes"), ("view_id_resource_name", 10, "bytes"), ("is_checkable", 12, "bool"),
        ("is_checked", 13, "bool"), ("is_clickable", 14, "bool"), ("is_editable", 15, "bool"),
        ("is_enabled", 16, "bool"), ("is_focusable", 17, "bool"), ("is_focused", 18, "bool"),
        ("is_long_clickable", 19, "bool"), ("is_password", 20, "bool"), ("is_scrollable", 21, "bool"),
        ("is_selected", 22, "bool"), ("is_visible_to_user", 23, "bool"), ("child_ids", 25, "*int32"),
    ],
    "Rect": [("left", 1, "int32"), ("top", 2, "int32"), ("right", 3, "int32"), ("bottom", 4, "int32")],
}  # fmt: skip
"""Messages by name: name, number and type of their fields. A star marks repeated fields."""


@cache
def message_class(name: str) -> Any:
    """Return the class of a message. Raise `LabError` if protobuf is not installed."""
    return _classes()[name]


@cache
def _classes() -> dict[str, Any]:
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise LabError(
            "format androidcontrol",
            "needs protobuf, which is not installed.",
            'pip install "hitlab[androidcontrol]" brings it.',
        ) from error
    file = descriptor_pb2.FileDescriptorProto(name="hitlab/androidcontrol.proto", package="hitlab", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for title, fields in _MESSAGES.items():
        message_type = file.message_type.add(name=title)
        for name, number, kind in fields:
            plain = kind.removeprefix("*")
            field = message_type.field.add(name=name, number=number)
            field.label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            field.type = kinds.TYPE_MESSAGE if plain in _MESSAGES else kinds.Type.Value(f"TYPE_{plain.upper()}")
            if plain in _MESSAGES:
                field.type_name = f".hitlab.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        title: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"hitlab.{title}")) for title in _MESSAGES
    }


def parse_message(name: str, data: bytes, what: str) -> Any:
    """Return a message parsed from bytes. Raise `LabError` that names `what` if they are invalid."""
    from google.protobuf.message import DecodeError

    parsed_message = message_class(name)()
    try:
        parsed_message.ParseFromString(data)
    except (DecodeError, RecursionError) as error:
        raise LabError(what, f"is no {name.lower()}, or a damaged one: its bytes are no protocol buffer") from error
    return parsed_message
