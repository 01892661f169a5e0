"""What every description in an experiment shares: frozen, closed, strict."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Spec(BaseModel):
    """A validated, immutable description.

    Unknown keys are errors at every depth, a bool is never a number, a number is never text, and
    infinities and NaN are refused.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )


class Options(Spec):
    """A plugin's own settings. A plugin nests a subclass of it, named `Options`."""


LARGEST_SIZE: Final = 1_000_000
"""Of whatever a model or its data is measured by; torch counts the bytes of a product of two and more in 63 bits."""

Size = Annotated[int, Field(gt=0, le=LARGEST_SIZE)]


class _Incidental:
    """The type of `INCIDENTAL`."""


INCIDENTAL: Final = _Incidental()
"""Annotates a field that changes neither weights nor scores, so that it stays out of a trial's keys."""


def identity(spec: Spec) -> dict[str, Any]:
    """The fields of `spec` that determine results, as JSON values; incidental ones are left out at every depth.

    The same in every process: a set's entries are sorted, whose own order differs from process to process.
    """
    content: dict[str, Any] = _identity(spec, None)
    return content


def _identity(value: Any, written: Any) -> Any:
    """`written`, which is `value` as JSON, without what is incidental and with sets in order."""
    if isinstance(value, Spec):
        fields = type(value).model_fields
        whole: dict[str, Any] = value.model_dump(mode="json")  # by its own class; `written` may be by a base of it
        return {
            name: _identity(getattr(value, name), entry)
            for name, entry in whole.items()
            if name not in fields or INCIDENTAL not in fields[name].metadata
        }
    if isinstance(value, set | frozenset) and isinstance(written, list):
        return sorted(map(_identity, value, written), key=lambda entry: json.dumps(entry, sort_keys=True))
    if isinstance(value, list | tuple) and isinstance(written, list):
        return list(map(_identity, value, written))
    if isinstance(value, dict) and isinstance(written, dict):
        return {key: _identity(entry, written[key]) for key, entry in zip(written, value.values(), strict=True)}
    return written


T = TypeVar("T", bound=Hashable)


def distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse a list in which a value stands twice; to be used as a validator of a field."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise PydanticCustomError("twice", "{value} stands twice: write it once", {"value": value, "at": (index,)})
    return values


def misfit(message: str, at: str) -> PydanticCustomError:
    """An error between fields that validates a whole spec, to be shown at the dotted field `at` of it."""
    return PydanticCustomError("misfit", "{message}", {"message": message, "at": tuple(at.split("."))})
