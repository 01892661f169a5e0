"""The slots of a model, each filled by the plugin that the spec names for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from framework.contracts import (
    ADDRESSES,
    SITES,
    AttentionScore,
    Dims,
    FeedForward,
    Mask,
    Mixer,
    Parts,
    PositionalScheme,
    Site,
)
from framework.errors import SpecError
from framework.model.layers import NORMS, FeedForwardSubLayer, MixingSubLayer, SubLayer
from framework.model.stack import Layer, Stack
from framework.registry import Registry
from framework.spec import Component, ModelSpec, SiteSpec


@dataclass(frozen=True, slots=True)
class Slots:
    """Builds the parts of one model; `model` is resolved."""

    model: ModelSpec
    registry: Registry

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where the architecture mixes."""
        return SITES[self.model.architecture]

    def site(self, site: Site) -> SiteSpec:
        """What stands at a site, the model's own choices filled in."""
        return self.model.site(*ADDRESSES[site])

    def written(self, site: Site) -> SiteSpec:
        """What the experiment writes for a site itself."""
        stack, place = ADDRESSES[site]
        own: SiteSpec = getattr(getattr(self.model.sites, stack), place)
        return own

    def key(self, site: Site, kind: str) -> str:
        """The key that says what stands at a site: the site's own, or the model's."""
        return f"model.{kind}" if getattr(self.written(site), kind) is None else f"model.sites.{site}.{kind}"

    def mixer(self, site: Site) -> type[Mixer]:
        """The class of the mixer at a site."""
        component = self.site(site).mixer
        assert component is not None, "a site's choices are filled in"
        mixer: type[Mixer] = self.registry.plugin("mixer", component.name)
        return mixer

    def stack(self, own: Site, cross: Site | None = None) -> Stack:
        """Build a stack that mixes within itself and perhaps in a memory."""
        scheme: PositionalScheme = self._build("positional_scheme", self.model.positional_scheme, self.dims(own))
        masks = [self._mask(own) for _ in range(self.model.num_layers)]
        layers = [
            Layer(
                self._mixing(own, scheme, mask),
                None if cross is None else self._mixing(cross, scheme, self._mask(cross)),
                self._feed_forward(own),
            )
            for mask in masks
        ]
        # A post-norm layer ends in a norm of its own; the sum that leaves a pre-norm layer never met one.
        pre_norm = self.model.norm_order == "pre_norm"
        final_norm = NORMS[self.model.norm](self.model.d_model) if pre_norm else nn.Identity()
        # Asked of the first layer's mask, whose buffers are filled and moved with the layer: all layers' are alike.
        scored = masks[0].scored if "mask" in self.mixer(own).takes else _all_scored
        return Stack(scheme, layers, final_norm, self.model.dropout, scored)

    def _mixing(self, site: Site, scheme: PositionalScheme, mask: Mask) -> MixingSubLayer | None:
        dims = self.dims(site)
        score: AttentionScore = self._build_at(site, "attention_score", dims)
        mixer: Mixer = self._build_at(site, "mixer", dims, Parts(score, mask, scheme))
        return None if mixer.removes_sublayer else MixingSubLayer(mixer, self._around())

    def _mask(self, site: Site) -> Mask:
        mask: Mask = self._build_at(site, "mask", self.dims(site))
        return mask

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

    def _build_at(self, site: Site, kind: str, *sizes: Dims | Parts) -> Any:
        """Build what stands at a site. What it finds wrong with its options is told where these were written."""
        component = getattr(self.site(site), kind)
        assert component is not None, "a site's choices are filled in"
        try:
            return self._build(kind, component, *sizes)
        except SpecError as error:
            here = self.key(site, kind)
            raise SpecError(
                replace(problem, path=problem.path.replace(f"model.{kind}", here, 1)) for problem in error.problems
            ) from error

    def _build(self, kind: str, component: Component, *sizes: Dims | Parts) -> Any:
        return self.registry.plugin(kind, component.name)(component.options, *sizes)


def _all_scored(positions: Tensor) -> Tensor:
    return torch.ones_like(positions, dtype=torch.bool)
