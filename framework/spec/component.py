"""A plugin named in an experiment, with its options: `additive` or `{name: kernel, options: {…}}`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Protocol

from pydantic import (
    GetCoreSchemaHandler,
    SerializationInfo,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    create_model,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from framework.spec.base import Options, Spec
from framework.spec.suggest import did_you_mean

KINDS: Final = (
    "attention_score",
    "positional_scheme",
    "mask",
    "mixer",
    "feed_forward",
    "objective",
    "corpus",
)
"""The kinds of plugin, which are also the keys that hold a component, wherever they stand."""


class Catalog(Protocol):
    """What validation asks about plugins; the registry answers.

    Pass it as `Spec.model_validate(..., context={"catalog": registry})`.
    """

    def options(self, kind: str, name: str) -> type[Options]:
        """The options class of a plugin. Raises `LookupError` whose text says why there is none."""
        ...


class Component(Spec):
    """A plugin's name and its validated options."""

    name: str
    options: SerializeAsAny[Options]

    def __str__(self) -> str:
        given = self.options.model_dump(mode="json", exclude_defaults=True)
        return self.name if not given else f"{self.name}({', '.join(f'{k}={v}' for k, v in given.items())})"


@dataclass(frozen=True, slots=True)
class OfKind:
    """Annotates a `Component` field with the kind of plugin that it takes."""

    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self.validate,
            serialization=core_schema.plain_serializer_function_ser_schema(_serialize, info_arg=True),
        )

    def validate(self, value: Any, info: ValidationInfo) -> Component:
        """Look the name up first, then validate with that plugin's own options class only."""
        if isinstance(value, Component):
            return value
        name, options = self._split(value)
        catalog: Catalog = (info.context or {})["catalog"]
        try:
            options_class = catalog.options(self.kind, name)
        except LookupError as error:
            raise PydanticCustomError("unknown_component", "{reason}", {"reason": error.args[0]}) from error
        # JSON mode accepts what YAML can write for a tuple, a path or an enum, and stays strict otherwise.
        content = json.dumps({"options": options})
        try:
            wrapped = _options_holder(options_class).model_validate_json(content, context=info.context)
        except ValidationError:
            raise
        except Exception as error:  # whatever a plugin's own validators raise
            reason = f"the options of the {self._what} {name!r} fail: {type(error).__name__}: {error}"
            raise PydanticCustomError("options_fail", "{reason}", {"reason": reason, "at": ("options",)}) from error
        return Component.model_construct(name=name, options=wrapped.options)

    @property
    def _what(self) -> str:
        return self.kind.replace("_", " ")

    def _split(self, value: Any) -> tuple[str, dict[str, Any]]:
        article = f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self._what}"
        if isinstance(value, str):
            return value, {}
        if not isinstance(value, dict):
            raise PydanticCustomError(
                "component_type",
                "expected {article}: its name, or a mapping with the keys name and options",
                {"article": article},
            )
        for key in value:
            if key not in ("name", "options"):
                hint = did_you_mean(key, ("name", "options"))
                raise PydanticCustomError(
                    "component_key",
                    "unknown key '{key}': {article} takes name and options{hint}",
                    {"key": key, "article": article, "hint": hint, "at": (key,)},
                )
        if not isinstance(value.get("name"), str):
            raise PydanticCustomError(
                "component_name", "{article} needs a name, as text", {"article": article, "at": ("name",)}
            )
        options = value.get("options", {})
        if not isinstance(options, dict):
            raise PydanticCustomError(
                "component_options", "options is a mapping of the plugin's own settings", {"at": ("options",)}
            )
        return value["name"], options


@cache
def _options_holder(options_class: type[Options]) -> Any:
    """A one-field spec, so that errors inside the options carry `options` in their location."""
    return create_model("Holder", __base__=Spec, options=(options_class, ...))


def _serialize(component: Component, info: SerializationInfo) -> dict[str, Any]:
    return {"name": component.name, "options": component.options.model_dump(mode=info.mode)}


AttentionScoreComponent = Annotated[Component, OfKind("attention_score")]
PositionalSchemeComponent = Annotated[Component, OfKind("positional_scheme")]
MaskComponent = Annotated[Component, OfKind("mask")]
MixerComponent = Annotated[Component, OfKind("mixer")]
FeedForwardComponent = Annotated[Component, OfKind("feed_forward")]
ObjectiveComponent = Annotated[Component, OfKind("objective")]
CorpusComponent = Annotated[Component, OfKind("corpus")]
