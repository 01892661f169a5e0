"""One pluggy hook per kind of plugin: a hook returns a class, or a tuple of classes.

Hooks are called once, at start-up, to collect classes. Registering a plugin has no other effect.
"""

from __future__ import annotations

from typing import Final, TypeAlias, TypeVar

import pluggy

from framework.contracts import (
    AttentionScore,
    Corpus,
    FeedForward,
    Mask,
    Mixer,
    Objective,
    Plugin,
    PositionalScheme,
)

PROJECT: Final = "transformer_ablations"
"""The name of pluggy's markers and of the entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

P = TypeVar("P", bound=Plugin)
OneOrMore: TypeAlias = type[P] | tuple[type[P], ...]


@hookspec
def attention_score() -> OneOrMore[AttentionScore]:
    """Offer a way to score a key against a query."""
    raise NotImplementedError


@hookspec
def positional_scheme() -> OneOrMore[PositionalScheme]:
    """Offer a way to tell positions apart."""
    raise NotImplementedError


@hookspec
def mask() -> OneOrMore[Mask]:
    """Offer a rule of which positions a position may see."""
    raise NotImplementedError


@hookspec
def mixer() -> OneOrMore[Mixer]:
    """Offer what can stand in a site."""
    raise NotImplementedError


@hookspec
def feed_forward() -> OneOrMore[FeedForward]:
    """Offer a transformation of the channels."""
    raise NotImplementedError


@hookspec
def objective() -> OneOrMore[Objective]:
    """Offer something to train for."""
    raise NotImplementedError


@hookspec
def corpus() -> OneOrMore[Corpus]:
    """Offer a source of text."""
    raise NotImplementedError


CONTRACTS: Final[dict[str, type[Plugin]]] = {
    "attention_score": AttentionScore,
    "positional_scheme": PositionalScheme,
    "mask": Mask,
    "mixer": Mixer,
    "feed_forward": FeedForward,
    "objective": Objective,
    "corpus": Corpus,
}
"""Kind of plugin → the contract that its classes fulfil."""
