"""Specs → YAML that reads back as the same values."""

from __future__ import annotations

from typing import Any

import yaml

from framework.spec.base import Spec
from framework.spec.reading import plain_scalar


class _Dumper(yaml.SafeDumper):
    """Quotes text that our reader would take for something else, such as '1e-4'."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    looks_like_text = isinstance(plain_scalar(text), str) and "." not in text[:1]
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if looks_like_text else "'")


_Dumper.add_representer(str, _text)


def to_yaml(spec: Spec) -> str:
    """The whole spec, defaults included, in the order of its fields."""
    text: str = yaml.dump(spec.model_dump(mode="json"), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
