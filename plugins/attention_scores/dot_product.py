"""Scaled dot product: Vaswani et al. 2017, arXiv:1706.03762, eq. 1; unscaled: Luong et al. 2015, arXiv:1508.04025."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveFloat
from torch import Tensor

import framework as fw


class DotProduct(fw.DotProductForm):
    name = "dot_product"

    class Options(fw.Options):
        scale: bool | PositiveFloat = True
        """What products are multiplied by: true means d_k^-0.5, false means 1."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return {}, {"scale": False}, {"scale": 0.5}

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        scale = options.scale
        if isinstance(scale, bool):
            scale = dims.d_k**-0.5 if scale else 1.0
        self.scale = scale

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query * self.scale, key


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return DotProduct
