"""Laplace kernel -|q - k|₁/b, of the distance along the axes: Kim et al. 2019, arXiv:1901.05761, "Laplace attention".

The softmax of it is kernel regression with the kernel exp(-|q - k|₁/b). A key that is far off in a few channels is
scored less harshly than by the Gaussian kernel, which squares distances. It is no dot product of transformed vectors,
so that scores are built for every pair; the differences, d_k times as many numbers, are not.

Shapes: B batch, H heads, Q query length, K key length, d_k a head's width.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import PositiveFloat
from torch import Tensor

import framework as fw


class Laplace(fw.AttentionScore):
    name = "laplace"

    class Options(fw.Options):
        bandwidth: PositiveFloat | None = None
        """b; null means √d_k, so that scores of random vectors spread about as those of the scaled dot product."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"bandwidth": 2.0})

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.bandwidth = options.bandwidth or dims.d_k**0.5

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        dtype = torch.promote_types(query.dtype, torch.float32)  # PyTorch has no such distance in half precision
        distance = torch.cdist(query.to(dtype), key.to(dtype), p=1.0)  # (B, H, Q, K)
        return (-distance / self.bandwidth).to(query.dtype)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Laplace
