"""A right attention score, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import framework as fw


class Right(fw.AttentionScore):
    """A bilinear score with a matrix for each head, made for a test."""

    name = "right"

    class Options(fw.Options):
        scale: float = 1.0

    options: Options

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.weight = nn.Parameter(torch.empty(dims.num_heads, dims.d_k, dims.d_k))
        self.reset_parameters()

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return {}, {"scale": 0.5}

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight, std=self.weight.size(-1) ** -1.0)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ self.weight @ key.mT * self.options.scale  # (B, H, Q, K)


class ByTheirDeviation(Right):
    """Scores divided by their own standard deviation over the keys."""

    name = "by_their_deviation"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores = super().forward(query, key)
        return scores / (scores.std(-1, keepdim=True, correction=0) + 1e-3)


class Softmaxed(Right):
    """Scores that went through a softmax already."""

    name = "softmaxed"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key).softmax(-1)


class NormalisedOverTheBatch(Right):
    """Scores with a mean over the batch of zero, in training."""

    name = "normalised_over_the_batch"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        scores = super().forward(query, key)
        return scores - scores.mean(0) if self.training else scores


class LooksAhead(Right):
    """Each key is scored by the one behind it."""

    name = "looks_ahead"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key.roll(-1, dims=2))


class ByPlace(Right):
    """Later queries of a call score higher."""

    name = "by_place"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        places = torch.arange(query.size(2), device=query.device, dtype=query.dtype)
        return super().forward(query, key) + places[:, None]


class ChangesItsInput(Right):
    """Scales the queries where they stand."""

    name = "changes_its_input"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        with torch.no_grad():
            query *= 2
        return super().forward(query, key)


class OnTheCpu(Right):
    """Makes a tensor on the device that is the default, not on that of its input."""

    name = "on_the_cpu"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        channels = torch.ones(query.size(-1), dtype=query.dtype)
        return super().forward(query * channels, key)


class RootOfZero(Right):
    """The distance, whose root has no slope where query and key coincide."""

    name = "root_of_zero"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        moved = query @ self.weight
        return -(moved[:, :, :, None] - key[:, :, None]).square().sum(-1).sqrt()


class Hides(Right):
    """Hides a key by itself."""

    name = "hides"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key).masked_fill(key[:, :, None, :, 0] > 0, -math.inf)


class Single(Right):
    """Scores in float32, whatever it is given."""

    name = "single"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key).float()


class Transposed(Right):
    """Scores keys against queries."""

    name = "transposed"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key).mT


class Squeezes(Right):
    """Loses every axis of length 1."""

    name = "squeezes"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key).squeeze()


class Misspelt(Right):
    """Reads an option that it does not have."""

    name = "misspelt"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key) * self.options.scael  # type: ignore[attr-defined]


class OtherFeatures(fw.DotProductForm):
    """Features whose product is not the score."""

    name = "other_features"

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query, key

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT / 2


class NeverUsed(Right):
    """Has a parameter that nothing depends on."""

    name = "never_used"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.scale = nn.Parameter(torch.ones(()))

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "scale"):
            nn.init.ones_(self.scale)


class FilledInTheConstructor(Right):
    """Fills one of its parameters in the constructor only."""

    name = "filled_in_the_constructor"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.scale = nn.Parameter(torch.randn(()))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query, key) * self.scale


class NotFilled(fw.AttentionScore):
    """Has a parameter and nothing to fill it."""

    name = "not_filled"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.scale = nn.Parameter(torch.randn(()))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT * self.scale


class NotSaved(Right):
    """Has random features that its state_dict() does not hold."""

    name = "not_saved"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.features: Tensor
        self.register_buffer("features", torch.empty(dims.d_k), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        if hasattr(self, "features"):
            nn.init.normal_(self.features)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return super().forward(query * self.features, key)


class DropsOutAlways(Right):
    """Drops out scores in evaluation too."""

    name = "drops_out_always"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return F.dropout(super().forward(query, key), 0.5)


class KeepsCount(Right):
    """Scores grow with the number of calls in training."""

    name = "keeps_count"
    calls = 0

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        self.calls += self.training
        return super().forward(query, key) * (1 + self.calls)


@fw.hookimpl
def attention_score() -> tuple[type[fw.AttentionScore], ...]:
    return (
        Right, ByTheirDeviation, Softmaxed, NormalisedOverTheBatch, LooksAhead, ByPlace, ChangesItsInput, OnTheCpu,
        RootOfZero, Hides, Single, Transposed, Squeezes, Misspelt, OtherFeatures, NeverUsed, FilledInTheConstructor,
        NotFilled, NotSaved, DropsOutAlways, KeepsCount,
    )  # fmt: skip
