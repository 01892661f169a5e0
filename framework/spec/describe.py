"""What a field takes, in words: for the page about experiment files and for `ablate plugins show`."""

from __future__ import annotations

import json
import types
import typing
from typing import Any

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from framework.spec.base import Spec
from framework.spec.component import OfKind


def takes(field: FieldInfo) -> str:
    """What may be written, in words."""
    kinds = [mark.kind for mark in field.metadata if isinstance(mark, OfKind)]
    words = f"a component: `{kinds[0]}`" if kinds else in_words(field.annotation)
    return words + bounds(field.metadata)


def default(field: FieldInfo) -> str:
    """What stands for a field that is left out, as YAML writes it."""
    if field.is_required():
        return "required"
    value = to_jsonable_python(field.get_default(call_default_factory=True))
    return f"default {value if isinstance(value, str) else json.dumps(value)}"


def in_words(annotation: Any) -> str:
    """A type in the words of a person who writes YAML; a plugin's own type by its name."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        kinds = [mark.kind for mark in annotation.__metadata__ if isinstance(mark, OfKind)]
        return f"a component: `{kinds[0]}`" if kinds else in_words(arguments[0]) + bounds(annotation.__metadata__)
    if origin is typing.Literal:
        return " or ".join(f"`{choice}`" for choice in arguments)
    if origin in (types.UnionType, typing.Union):
        return " or ".join("null" if member is type(None) else in_words(member) for member in arguments)
    if origin is tuple:
        return f"a list, each entry {in_words(arguments[0])}"
    if origin is dict or (isinstance(annotation, type) and issubclass(annotation, Spec)):
        return "a mapping"
    return _PLAIN.get(annotation) or str(getattr(annotation, "__name__", annotation))


_PLAIN: dict[Any, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def bounds(metadata: typing.Iterable[Any]) -> str:
    """The limits that a field's annotations set, each once."""
    found = []
    for mark in metadata:
        marks = getattr(mark, "metadata", None) or (mark,)
        for bound in marks:
            match bound:
                case Gt(limit):
                    found.append(f"above {limit:,}")
                case Ge(limit):
                    found.append(f"from {limit:,}")
                case Lt(limit):
                    found.append(f"below {limit:,}")
                case Le(limit):
                    found.append(f"to {limit:,}")
                case MinLen(length):
                    found.append(f"at least {length}")
    return f", {', '.join(dict.fromkeys(found))}" if found else ""
