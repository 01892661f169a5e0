"""Pydantic's errors → problems with a place, one sentence each, and the way out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import ValidationError

from framework.errors import Problem
from framework.spec.base import Spec
from framework.spec.component import KINDS, Catalog
from framework.spec.experiment import ExperimentSpec
from framework.spec.fields import spec_at
from framework.spec.located import Located, joined
from framework.spec.suggest import did_you_mean

Keys = tuple[str | int, ...]

_EXPECTED: Final = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "string_type": "text",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_too_long": "at most {max_length} characters",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "too_short": "{min_length} or more entries",
    "literal_error": "{expected}",
}
"""Pydantic's types of errors about a value itself, and what belongs there instead."""

REQUIRED: Final = "is required"
"""What is said of a key that is missing."""

_SAY_IT_ALL: Final = ("unknown_component", "component_name", "value_error")
"""Types of errors whose sentence needs no "this is …"."""


def explain(error: ValidationError, spec: type[Spec], tree: Located, catalog: Catalog) -> list[Problem]:
    """Say each error of validating `tree` as `spec` at the place where its value was written."""
    by_keys: dict[Keys, list[dict[str, Any]]] = {}
    for found in error.errors(include_url=False):
        if found["type"] == "too_short" and len(found["input"]) >= found["ctx"]["min_length"]:
            continue  # an entry is wrong and told about itself; pydantic does not count it
        keys = (*(key for key in found["loc"] if key != "[key]"), *found.get("ctx", {}).get("at", ()))
        by_keys.setdefault(_without_member(keys, spec, tree, catalog), []).append(dict(found))
    return [_problem(spec, tree, catalog, keys, errors) for keys, errors in by_keys.items()]


def _without_member(keys: Keys, spec: type[Spec], tree: Located, catalog: Catalog) -> Keys:
    """A union reports once per member, with the member's name as a last key, which no one wrote and no spec has."""
    _, beyond = tree.follow(keys)
    written = keys[: len(keys) - len(beyond)]
    return keys if not beyond or beyond[0] in siblings_of(spec, written, tree, catalog) else written


def _problem(spec: type[Spec], tree: Located, catalog: Catalog, keys: Keys, errors: list[dict[str, Any]]) -> Problem:
    node, beyond = tree.follow(keys)
    path = joined(node.path, *beyond)
    first = errors[0]
    if first["type"] == "extra_forbidden":
        return Problem(unknown_key(str(keys[-1]), siblings_of(spec, keys[:-1], tree, catalog)), path, node.place)
    if first["type"] == "missing":
        return Problem(REQUIRED, path, node.place)
    sentences = dict.fromkeys(map(_sentence, errors))
    message = ", or ".join(sentences).replace(", or expected ", ", or ")
    return Problem(message + _instead(first), path, node.place)


def unknown_key(key: str, siblings: Iterable[str]) -> str:
    """The sentence about a key that does not exist."""
    known = sorted(siblings)
    hint = did_you_mean(key, known)
    if not hint:
        hint = f"; known here: {', '.join(known)}" if known else "; nothing can be set here"
    return f"unknown key {key!r}{hint}"


def siblings_of(spec: type[Spec], keys: Keys, tree: Located, catalog: Catalog) -> list[str]:
    """The fields that may stand below `keys`, a plugin's own options included."""
    for index, key in enumerate(keys):
        if key in KINDS and keys[index + 1 : index + 2] == ("options",):
            component, _ = tree.follow(keys[: index + 1])
            name = component.child("name") or component
            try:
                options = catalog.options(str(key), str(name.value))
            except LookupError:
                return []
            inner = spec_at(options, keys[index + 2 :])
            return list(inner.model_fields) if inner else []
    holder = spec_at(spec, keys)
    extends = ["extends"] if holder is ExperimentSpec else []
    return [*holder.model_fields, *extends] if holder else []


def _sentence(found: dict[str, Any]) -> str:
    if expected := _EXPECTED.get(found["type"]):
        context = {key: _short(value) for key, value in found.get("ctx", {}).items()}
        return "expected " + expected.format(**context)
    message: str = found["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "expected")


def _short(value: Any) -> Any:
    """A bound as a person writes it: 0 and not 0.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _instead(found: dict[str, Any]) -> str:
    """What stands there instead, for errors about the value itself, and the word that was perhaps meant."""
    context = found.get("ctx", {})
    if "at" in context or found["type"] in _SAY_IT_ALL:
        return ""
    value = found["input"]
    if isinstance(value, dict | list | tuple):
        empty = "" if value else "n empty"
        return f"; this is a{empty} {'mapping' if isinstance(value, dict) else 'list'}"
    kind = {bool: " (true or false, not a number)", str: " (text)"}.get(type(value), "")
    hint = ""
    if found["type"] == "literal_error":
        hint = did_you_mean(str(value), re.findall("'([^']*)'", context["expected"]))
    return f"; this is {json.dumps(value, ensure_ascii=False, default=str)}{kind}{hint}"
