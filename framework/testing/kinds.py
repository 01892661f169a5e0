"""Kind of plugin → how one is tried, and what is true of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import torch

from framework.contracts import Dims
from framework.errors import SpecError
from framework.spec import Options
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


def fitting(kind: str, plugin: type[Any], options: Options, several: Sequence[Dims]) -> ModuleSubject:
    """Give a part at the first of several sizes that its constructor does not refuse with a `SpecError`.

    At the first of all where it refuses each. Leaves torch's own generator as it was.
    """
    subjects = [MODULE_SUBJECTS[kind](plugin, options, dims) for dims in several]
    with torch.random.fork_rng(devices=[]):
        return next(filter(_takes_its_sizes, subjects), subjects[0])


def _takes_its_sizes(subject: ModuleSubject) -> bool:
    try:
        subject.new()
    except SpecError:
        return False
    except (Exception, SystemExit):  # no matter of sizes: the properties tell it
        return True
    return True
