"""Walks spec classes by key, for suggestions and defaults."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from framework.spec.base import Spec


def field_of(spec: type[Spec], keys: tuple[str | int, ...]) -> FieldInfo | None:
    """The field at a dotted key of a spec class, or None where there is none."""
    holder: Any = spec
    field = None
    for key in keys:
        holder, field = _down(holder, str(key))
        if holder is None:
            return None
    return field


def spec_at(spec: type[Spec], keys: tuple[str | int, ...]) -> type[Spec] | None:
    """The spec class that holds the fields below a dotted key, or None."""
    holder: Any = spec
    for key in keys:
        holder, _ = _down(holder, str(key))
    return holder if isinstance(holder, type) and issubclass(holder, Spec) else None


def _down(holder: Any, key: str) -> tuple[Any, FieldInfo | None]:
    if isinstance(holder, type) and issubclass(holder, Spec):
        field = holder.model_fields.get(key)
        return (_plain(field.annotation), field) if field else (None, None)
    if get_origin(holder) is dict:
        return _plain(get_args(holder)[1]), None
    if get_origin(holder) in (list, tuple):
        return _plain(get_args(holder)[0]), None
    return None, None


def _plain(annotation: Any) -> Any:
    """An annotation without Optional and Annotated."""
    if hasattr(annotation, "__metadata__"):
        return _plain(annotation.__origin__)
    if get_origin(annotation) in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return _plain(members[0]) if len(members) == 1 else annotation
    return annotation
