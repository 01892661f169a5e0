"""Specs → YAML that reads back as the same values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from framework.spec.base import Spec
from framework.spec.reading import plain_scalar

_EXOTIC_BREAKS = re.compile("[\x85\u2028\u2029]")  # line ends to YAML 1.1, which PyYAML folds away unless escaped


class _Dumper(yaml.SafeDumper):
    """Quotes text that our reader would take for something else, such as '1e-4'."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    quoted = not isinstance(plain_scalar(text), str) or _EXOTIC_BREAKS.search(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if quoted else None)


_Dumper.add_representer(str, _text)


def to_yaml(spec: Spec) -> str:
    """The whole spec, defaults included, in the order of its fields."""
    return _written(spec.model_dump(mode="json"), flow=False)


def short_yaml(values: Mapping[str, Any]) -> str:
    """Plain values in their own order, what holds no further mapping or list on one line."""
    return _written(values, flow=None)


def _written(values: Mapping[str, Any], flow: bool | None) -> str:
    text: str = yaml.dump(
        dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, default_flow_style=flow
    )
    return text
