"""Kind of plugin → how one is tried, and what is true of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from framework.testing import corpora, feed_forwards, masks, mixers, objectives, schemes, scores
from framework.testing.property import Property
from framework.testing.subject import (
    FeedForwardSubject,
    MaskSubject,
    MixerSubject,
    ModuleSubject,
    SchemeSubject,
    ScoreSubject,
)

MODULE_SUBJECTS: Final[Mapping[str, type[ModuleSubject]]] = MappingProxyType(
    {
        "attention_score": ScoreSubject,
        "positional_scheme": SchemeSubject,
        "mask": MaskSubject,
        "mixer": MixerSubject,
        "feed_forward": FeedForwardSubject,
    }
)
"""The parts of a model."""

PROPERTIES: Final[Mapping[str, tuple[Property, ...]]] = MappingProxyType(
    {
        "attention_score": scores.PROPERTIES,
        "positional_scheme": schemes.PROPERTIES,
        "mask": masks.PROPERTIES,
        "mixer": mixers.PROPERTIES,
        "feed_forward": feed_forwards.PROPERTIES,
        "objective": objectives.PROPERTIES,
        "corpus": corpora.PROPERTIES,
    }
)
"""What is tried of each kind with each of its options, beside what is tried of every plugin."""

HAVE_COSTS: Final = frozenset({"attention_score", "positional_scheme", "mixer", "feed_forward"})
"""What is timed as well."""
