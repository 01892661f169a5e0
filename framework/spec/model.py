"""What model is asked for: sizes in the paper's letters, and a plugin for every slot."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from framework.spec.base import Size, Spec, misfit
from framework.spec.component import (
    AttentionScoreComponent,
    FeedForwardComponent,
    MaskComponent,
    MixerComponent,
    PositionalSchemeComponent,
)

Architecture = Literal["encoder_decoder", "decoder_only", "encoder_only"]

Probability = Annotated[float, Field(ge=0.0, lt=1.0)]


class SiteSpec(Spec):
    """What one site does otherwise than the rest of the model; null means as the model says."""

    mixer: MixerComponent | None = None
    attention_score: AttentionScoreComponent | None = None
    mask: MaskComponent | None = None


class EncoderSites(Spec):
    """The encoder's one place that mixes across positions."""

    self: SiteSpec = SiteSpec()


class DecoderSites(Spec):
    """The decoder's two places that mix across positions."""

    self: SiteSpec = SiteSpec()
    cross: SiteSpec = SiteSpec()


class Sites(Spec):
    """Exceptions by site."""

    encoder: EncoderSites = EncoderSites()
    decoder: DecoderSites = DecoderSites()


class ModelSpec(Spec):
    """A Transformer (Vaswani et al. 2017, arXiv:1706.03762) and what its slots hold."""

    architecture: Architecture = "encoder_decoder"
    """Both stacks of the paper, or one of them alone."""
    d_model: Size = 512
    """Width of the residual stream."""
    d_ff: Size = 2048
    """Inner width of the feed-forward sub-layer."""
    num_layers: Annotated[int, Field(gt=0, le=10_000)] = 6
    """Layers in each stack (the paper's N)."""
    num_heads: Size = 8
    """Attention heads (the paper's h)."""
    d_k: Size | None = None
    """Width of a head's queries and keys; null means d_model / num_heads."""
    d_v: Size | None = None
    """Width of a head's values; null means d_model / num_heads, or where that is no whole number d_k."""
    dropout: Probability = 0.1
    """On every sub-layer's output and on the embedding sums (the paper's P_drop, section 5.4)."""
    attention_dropout: Probability = 0.0
    """On attention weights: 0 in the authors' first code, 0.1 in their later one."""
    feed_forward_dropout: Probability = 0.0
    """On the feed-forward's inner activations: 0 in the authors' first code, 0.1 in their later one."""
    projection_bias: bool = True
    """Whether linear projections carry a bias, attention's included."""
    attention_score: AttentionScoreComponent = Field(default="dot_product", validate_default=True)
    positional_scheme: PositionalSchemeComponent = Field(default="sinusoidal", validate_default=True)
    mask: MaskComponent = Field(default="full", validate_default=True)
    mixer: MixerComponent = Field(default="attention", validate_default=True)
    feed_forward: FeedForwardComponent = Field(default="relu_mlp", validate_default=True)
    sites: Sites = Sites()
    norm_order: Literal["post_norm", "pre_norm", "none"] = "post_norm"
    """Norm(x + Sublayer(x)) as in the paper, x + Sublayer(Norm(x)), or no norm."""
    norm: Literal["layer_norm", "rms_norm"] = "layer_norm"
    residual: bool = True
    """Whether a sub-layer's input is added to its output."""
    tie_embeddings: bool = True
    """Whether all embeddings and the output projection are one table (section 3.4)."""

    @model_validator(mode="after")
    def _heads_fit(self) -> ModelSpec:
        if self.d_model % self.num_heads and self.d_k is None:
            raise misfit(
                f"model.d_model={self.d_model} is not divisible by model.num_heads={self.num_heads}: "
                "choose a divisor, or set model.d_k",
                at="num_heads",
            )
        return self

    def resolved(self) -> ModelSpec:
        """The same model with d_k and d_v filled in, so that a stated and a derived width are equal."""
        width, remainder = divmod(self.d_model, self.num_heads)
        d_k = self.d_k or width
        return self.model_copy(update={"d_k": d_k, "d_v": self.d_v or (d_k if remainder else width)})

    def site(self, stack: Literal["encoder", "decoder"], site: Literal["self", "cross"]) -> SiteSpec:
        """What stands at a site, the model's own choices filled in."""
        own: SiteSpec = getattr(getattr(self.sites, stack), site)
        return SiteSpec.model_construct(
            mixer=own.mixer or self.mixer,
            attention_score=own.attention_score or self.attention_score,
            mask=own.mask or self.mask,
        )
