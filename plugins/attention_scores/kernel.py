"""Gaussian kernel -|q - k|²/2σ², so that softmax is kernel regression: Nadaraya 1964; Watson 1964.

Written as a dot product: q·k/σ² - |k|²/2σ² differs from the kernel by |q|²/2σ², which is the same for all keys
of a query, so that the softmax does not see it. The price is digits where all queries and keys lie far from the
origin together: at an offset c the terms grow with c² while their difference does not, and single precision
loses it near |c| = 1000σ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import PositiveFloat
from torch import Tensor, nn

import framework as fw


class Kernel(fw.DotProductForm):
    name = "kernel"

    class Options(fw.Options):
        bandwidth: PositiveFloat | None = None
        """σ, or where it starts if it is learned; null means σ² = √d_k, so that q·k enters as in the scaled dot
        product."""
        learned: Literal["no", "shared", "per_head"] = "no"
        """Whether σ is learned, as its logarithm, one for all heads or one for each."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return {}, {"bandwidth": 0.5}, {"learned": "shared"}, {"learned": "per_head"}

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.bandwidth = options.bandwidth or dims.d_k**0.25
        if options.learned != "no":
            heads = 1 if options.learned == "shared" else dims.num_heads
            self.log_bandwidth = nn.Parameter(torch.empty(heads, 1, 1))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.log_bandwidth, math.log(self.bandwidth))

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Give q with -1/2 behind it, and k/σ² with |k|²/σ²: both one wider than d_k."""
        learned = self.options.learned != "no"
        precision = torch.exp(-2 * self.log_bandwidth) if learned else self.bandwidth**-2  # σ^-2
        squares = key.square().sum(-1, keepdim=True)  # (B, H, K, 1)
        # Each tensor as large as the keys costs short lengths as much as their scores: these are the fewest.
        key = torch.cat((key, squares), dim=-1) * precision  # (B, H, K, d_k + 1)
        return F.pad(query, (0, 1), value=-0.5), key  # (B, H, Q, d_k + 1), (B, H, K, d_k + 1)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Kernel
