"""Cosine of query and key over a temperature: Henry et al. 2020, arXiv:2010.04245, query-key normalization.

Henry et al. learn the inverse of the temperature; Liu et al. 2022, arXiv:2111.09883, section 3.2, learn the temperature
itself, one for each head.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import torch
import torch.nn.functional as F
from pydantic import PositiveFloat
from torch import Tensor, nn

import framework as fw

SHORTEST: Final = 1e-3
"""Vectors shorter than this are divided by it instead of by their length.

So a zero vector scores 0 against everything, and its gradient, which torch's own 1e-12 would multiply by 1e12, stays of
a size to train with, in half precision too.
"""


class Cosine(fw.DotProductForm):
    name = "cosine"

    class Options(fw.Options):
        temperature: PositiveFloat = 0.1
        """τ in q·k / (|q||k|τ), or where it starts if it is learned."""
        learned: Literal["no", "shared", "per_head"] = "no"
        """Whether τ is learned, as its logarithm, one for all heads or one for each."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return {}, {"temperature": 0.5}, {"learned": "shared"}, {"learned": "per_head"}

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        if options.learned != "no":
            heads = 1 if options.learned == "shared" else dims.num_heads
            self.log_temperature = nn.Parameter(torch.empty(heads, 1, 1))
            self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.log_temperature, math.log(self.options.temperature))

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Give q/|q|τ and k/|k|."""
        learned = self.options.learned != "no"
        sharpness = torch.exp(-self.log_temperature) if learned else 1 / self.options.temperature
        return F.normalize(query, dim=-1, eps=SHORTEST) * sharpness, F.normalize(key, dim=-1, eps=SHORTEST)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Cosine
