"""What every description in an experiment shares: frozen, closed, strict."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict
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


class _Incidental:
    """The type of `INCIDENTAL`."""


INCIDENTAL: Final = _Incidental()
"""Annotates a field that changes neither weights nor scores, so that it stays out of a trial's keys."""


def identity(spec: Spec) -> dict[str, Any]:
    """The fields of `spec` that determine results, as JSON values; incidental ones are left out."""
    content: dict[str, Any] = spec.model_dump(mode="json")
    for name, field in type(spec).model_fields.items():
        if INCIDENTAL in field.metadata:
            del content[name]
        elif isinstance(value := getattr(spec, name), Spec):
            content[name] = identity(value)
    return content


def misfit(message: str, at: str) -> PydanticCustomError:
    """An error between fields that validates a whole spec, to be shown at the dotted field `at` of it."""
    return PydanticCustomError("misfit", "{message}", {"message": message, "at": tuple(at.split("."))})
