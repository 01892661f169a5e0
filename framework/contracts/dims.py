"""The sizes that a part of the model is built from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from framework.spec import Architecture


class Site(StrEnum):
    """A place that mixes across positions."""

    ENCODER_SELF = "encoder.self"
    DECODER_SELF = "decoder.self"
    DECODER_CROSS = "decoder.cross"

    @property
    def attends_itself(self) -> bool:
        """Whether queries and keys come from one sequence."""
        return self is not Site.DECODER_CROSS


Address: TypeAlias = tuple[Literal["encoder", "decoder"], Literal["self", "cross"]]

ADDRESSES: Final[dict[Site, Address]] = {
    Site.ENCODER_SELF: ("encoder", "self"),
    Site.DECODER_SELF: ("decoder", "self"),
    Site.DECODER_CROSS: ("decoder", "cross"),
}
"""Where a spec writes what stands at a site."""

SITES: Final[dict[Architecture, tuple[Site, ...]]] = {
    "encoder_decoder": (Site.ENCODER_SELF, Site.DECODER_SELF, Site.DECODER_CROSS),
    "decoder_only": (Site.DECODER_SELF,),
    "encoder_only": (Site.ENCODER_SELF,),
}
"""The places that an architecture has."""


@dataclass(frozen=True, slots=True)
class Dims:
    """Sizes in the paper's letters, and where the part stands."""

    d_model: int
    d_ff: int
    d_k: int
    d_v: int
    num_heads: int
    num_layers: int
    dropout: float
    attention_dropout: float
    feed_forward_dropout: float
    projection_bias: bool
    site: Site

    @property
    def causal(self) -> bool:
        """Whether a position may see itself and what came before it only."""
        return self.site is Site.DECODER_SELF
