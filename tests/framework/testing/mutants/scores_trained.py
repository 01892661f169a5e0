"""Right attention scores, and wrong ones, of which most go wrong in training only."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

import framework as fw
from tests.framework.testing.mutants.scores import Right


class HidesInTraining(Right):
    """Hides some pairs at random, in training."""

    name = "hides_in_training"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores = super().forward(query, key)
        return scores.masked_fill(torch.rand_like(scores) < 0.3, -math.inf) if self.training else scores


class OnTheCpuInTraining(Right):
    """Makes a tensor on the device that is the default, in training."""

    name = "on_the_cpu_in_training"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores = super().forward(query, key)
        return scores + torch.zeros(scores.shape, dtype=scores.dtype) if self.training else scores


class AverageHead(Right):
    """Gives each head a part of what all score."""

    name = "average_head"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores = super().forward(query, key)
        return scores + scores.mean(1, keepdim=True)


class MultipliedByZero(Right):
    """Has a parameter that is multiplied by zero."""

    name = "multiplied_by_zero"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.offset = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "offset"):
            nn.init.ones_(self.offset)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key) + 0.0 * self.offset


class Gated(MultipliedByZero):
    """A gate that starts at zero, behind which a parameter has no gradient yet: right."""

    name = "gated"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.gate = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "gate"):
            nn.init.zeros_(self.gate)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return Right.forward(self, query, key) + self.gate * self.offset


class TakesAutocastAtItsWord(Right):
    """Trusts that all is bfloat16 under autocast, where norms and residuals give float32."""

    name = "takes_autocast_at_its_word"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        dtype = torch.bfloat16 if torch.is_autocast_enabled("cpu") else query.dtype
        nothing = torch.zeros(query.shape, dtype=dtype, device=query.device)
        return super().forward(torch.lerp(nothing, query, 0.5), key)


class MixesDtypes(Right):
    """Needs queries of the weights' dtype, which under autocast stays float32 where projections give bfloat16."""

    name = "mixes_dtypes"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        start = self.weight[:, :1].expand_as(query)  # (B, H, Q, d_k)
        return super().forward(torch.lerp(start, query, 0.5), key)


class Product(torch.autograd.Function):
    """q·k, with a backward of its own."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor) -> Tensor:
        ctx.save_for_backward(query, key)
        return query @ key.mT

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        query, key = (saved.float() for saved in ctx.saved_tensors)
        return gradient @ key, gradient.mT @ query


class BackwardInFloat32(fw.AttentionScore):
    """Its backward knows float32 only."""

    name = "backward_in_float32"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        product: Tensor = Product.apply(query, key)
        return product


class Normalised(torch.autograd.Function):
    """Changes nothing; gradients of a query's scores are divided by their size."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        return scores.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient / gradient.norm(dim=-1, keepdim=True)


class NormalisesGradients(Right):
    """Divides by the size of gradients, which is zero where a query sees nothing."""

    name = "normalises_gradients"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores: Tensor = Normalised.apply(super().forward(query, key))
        return scores


class FeaturesApart(fw.DotProductForm):
    """Features of two widths, and a score of its own."""

    name = "features_apart"

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query, key[..., 1:]

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT


class NeedsOneWidth(Right):
    """Refuses sizes whose heads do not add up to the model's: right."""

    name = "needs_one_width"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        if dims.num_heads * dims.d_k != dims.d_model:
            raise fw.SpecError("num_heads * d_k must be d_model: set model.d_k")
        super().__init__(options, dims)


@fw.hookimpl
def attention_score() -> tuple[type[fw.AttentionScore], ...]:
    return (
        HidesInTraining, OnTheCpuInTraining, AverageHead, MultipliedByZero, Gated, TakesAutocastAtItsWord, MixesDtypes,
        BackwardInFloat32, NormalisesGradients, FeaturesApart, NeedsOneWidth,
    )  # fmt: skip
