"""A trial's spec → MLflow's flat parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from framework.record.known_run import recordable
from framework.spec import RESOLVED, TrialSpec, identity

LONGEST = 6000
"""Characters of a value; MLflow cuts longer ones off without a word."""


def flat_params(trial: TrialSpec) -> dict[str, str]:
    """What determines the trial's results, by dotted key: the same strings whenever it is asked again.

    Incidental fields, such as logging intervals, may change while the keys stay, and MLflow refuses a
    changed parameter, so they are left to the artifact `spec.json`.
    """
    flat = {}
    for section in RESOLVED:
        for key, value in _leaves(section, identity(getattr(trial, section))):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            flat[recordable(key)] = text if len(text) <= LONGEST else _shortened(text)
    return flat


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}", inner)
    else:
        yield path, value


def _shortened(text: str) -> str:
    ending = f"… ({len(text)} characters; the whole is in spec.json)"
    return text[: LONGEST - len(ending)] + ending
