"""The slots of a model, each filled by the plugin that the spec names for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from framework.contracts import ADDRESSES, Dims, FeedForward, Mixer, Parts, PositionalScheme, Site
from framework.model.layers import NORMS, FeedForwardSubLayer, MixingSubLayer, SubLayer
from framework.model.stack import Layer, Stack
from framework.registry import Registry
from framework.spec import Component, ModelSpec, SiteSpec


@dataclass(frozen=True, slots=True)
class Slots:
    """Builds the parts of one model; `model` is resolved."""

    model: ModelSpec
    registry: Registry

    def site(self, site: Site) -> SiteSpec:
        """What stands at a site, the model's own choices filled in."""
        return self.model.site(*ADDRESSES[site])

    def encoder(self) -> Stack:
        return self._stack(Site.ENCODER_SELF, cross=None)

    def decoder(self) -> Stack:
        return self._stack(Site.DECODER_SELF, cross=Site.DECODER_CROSS)

    def _stack(self, own: Site, cross: Site | None) -> Stack:
        scheme: PositionalScheme = self._build("positional_scheme", self.model.positional_scheme, self.dims(own))
        layers = [
            Layer(
                self._mixing(own, scheme),
                None if cross is None else self._mixing(cross, scheme),
                self._feed_forward(own),
            )
            for _ in range(self.model.num_layers)
        ]
        # A post-norm layer ends in a norm of its own; the sum that leaves a pre-norm layer never met one.
        pre_norm = self.model.norm_order == "pre_norm"
        final_norm = NORMS[self.model.norm](self.model.d_model) if pre_norm else nn.Identity()
        return Stack(scheme, layers, final_norm, self.model.dropout)

    def _mixing(self, site: Site, scheme: PositionalScheme) -> MixingSubLayer | None:
        chosen, dims = self.site(site), self.dims(site)
        parts = Parts(
            score=self._build("attention_score", chosen.attention_score, dims),
            mask=self._build("mask", chosen.mask, dims),
            scheme=scheme,
        )
        mixer: Mixer = self._build("mixer", chosen.mixer, dims, parts)
        return None if mixer.removes_sublayer else MixingSubLayer(mixer, self._around())

    def _feed_forward(self, site: Site) -> FeedForwardSubLayer | None:
        feed_forward: FeedForward = self._build("feed_forward", self.model.feed_forward, self.dims(site))
        return None if feed_forward.removes_sublayer else FeedForwardSubLayer(feed_forward, self._around())

    def _around(self) -> SubLayer:
        model = self.model
        return SubLayer(model.d_model, model.dropout, model.norm, model.norm_order, model.residual)

    def dims(self, site: Site) -> Dims:
        """The sizes that the parts at a site are built from."""
        model = self.model
        assert model.d_k is not None, "the model spec is resolved"
        assert model.d_v is not None, "the model spec is resolved"
        return Dims(
            d_model=model.d_model,
            d_ff=model.d_ff,
            d_k=model.d_k,
            d_v=model.d_v,
            num_heads=model.num_heads,
            num_layers=model.num_layers,
            dropout=model.dropout,
            attention_dropout=model.attention_dropout,
            feed_forward_dropout=model.feed_forward_dropout,
            projection_bias=model.projection_bias,
            site=site,
        )

    def _build(self, kind: str, component: Component | None, *sizes: Dims | Parts) -> Any:
        assert component is not None, "a site's choices are filled in"
        return self.registry.plugin(kind, component.name)(component.options, *sizes)
