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
    """A Transformer (Vaswani et al. 2017, arXiv:1706.03762) and what its slots hold.

    Sections and equations are that paper's. What the paper leaves open, or its authors' code does otherwise, cites
    that code: tensor2tensor, at its first release (1.0, June 2017) unless another is named.
    """

    architecture: Architecture = "encoder_decoder"
    """Both stacks of the paper (section 3.1, figure 1), or one of them alone."""
    d_model: Size = 512
    """Width of the residual stream, which embeddings and sub-layers put out (section 3.1)."""
    d_ff: Size = 2048
    """Inner width of the feed-forward sub-layer (section 3.3)."""
    num_layers: Annotated[int, Field(gt=0, le=10_000)] = 6
    """Layers in each stack (the paper's N, section 3.1)."""
    num_heads: Size = 8
    """Attention heads (the paper's h, section 3.2.2)."""
    d_k: Size | None = None
    """Width of a head's queries and keys; null means d_model / num_heads (section 3.2.2)."""
    d_v: Size | None = None
    """Width of a head's values; null means d_model / num_heads (section 3.2.2), and d_k if that is no whole number."""
    dropout: Probability = 0.1
    """On every sub-layer's output, before it is added to the input, and on the sums of embeddings and positions (the
    paper's P_drop, section 5.4)."""
    attention_dropout: Probability = 0.0
    """On attention weights. Section 5.4 has none; 0 in `transformer_base`, 0.1 since `transformer_base_v2` (1.2.5)."""
    feed_forward_dropout: Probability = 0.0
    """On the feed-forward's inner activations. Section 5.4 has none; `relu_dropout` of the authors' code, 0 in
    `transformer_base`, 0.1 since `transformer_base_v2` (1.2.5)."""
    projection_bias: bool = True
    """Whether linear projections carry a bias, attention's included. Equation 2 has biases, the projections of section
    3.2.2 show none; the authors' code has them everywhere (`conv1d` of `common_attention.multihead_attention`), and the
    paper's parameter counts contain them. From 1.3.0 on its attention has none."""
    attention_score: AttentionScoreComponent = Field(default="dot_product", validate_default=True)
    """How well a key suits a query, before the softmax (equation 1, section 3.2.1)."""
    positional_scheme: PositionalSchemeComponent = Field(default="sinusoidal", validate_default=True)
    """How the model knows where a token stands (section 3.5). The options of `sinusoidal` hold where the paper's text,
    its formula and the authors' code differ."""
    mask: MaskComponent = Field(default="full", validate_default=True)
    """Which keys a query may see, besides real tokens and, in the decoder, those before it (section 3.2.3)."""
    mixer: MixerComponent = Field(default="attention", validate_default=True)
    """What mixes across positions at every site (section 3.2.2). The options of `attention` hold how its projections
    start, which the paper leaves open."""
    feed_forward: FeedForwardComponent = Field(default="relu_mlp", validate_default=True)
    """What transforms each position by itself (equation 2, section 3.3)."""
    sites: Sites = Sites()
    """What single sites do otherwise; the paper's three are those of section 3.2.3."""
    norm_order: Literal["post_norm", "pre_norm", "none"] = "post_norm"
    """Norm(x + Sublayer(x)) (sections 3.1 and 5.4, `transformer_base`); x + Sublayer(Norm(x)) with a norm at the end of
    each stack (`transformer_base_v2`, 1.2.5; Xiong et al. 2020, arXiv:2002.04745); or no norm."""
    norm: Literal["layer_norm", "rms_norm"] = "layer_norm"
    """Layer normalization (section 3.1; Ba et al. 2016, arXiv:1607.06450), or that without the mean (Zhang and Sennrich
    2019, arXiv:1910.07467). The paper names no epsilon; here it is 1e-6, as in `common_layers.layer_norm`."""
    residual: bool = True
    """Whether a sub-layer's input is added to its output (section 3.1; He et al. 2016, arXiv:1512.03385)."""
    tie_embeddings: bool = True
    """Whether all embeddings and the output projection are one table (section 3.4; Press and Wolf 2017,
    arXiv:1608.05859). Embeddings are multiplied by √d_model either way, and start with a variance of 1 / d_model, as
    in `modality.SymbolModality`."""

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
