"""Scores that fall with distance, each head at its own fixed slope: ALiBi, Press et al. 2022, arXiv:2108.12409.

The paper's models are decoders. In an encoder the bias is the same on both sides, -slope·|i - j|: it tells how far
another token stands, and not whether before or after.
"""

from __future__ import annotations

import torch
from torch import Tensor

import framework as fw


def head_slopes(num_heads: int) -> list[float]:
    """Give each head's slope (section 3): 2^(-8/n), 2^(-16/n), … 2^(-8) for n heads, n a power of two.

    For another number, those of the next lower power of two, and then the geometric means between them, starting
    with that of 1 and the first.
    """
    n = 1 << (num_heads.bit_length() - 1)
    steps = [*range(1, n + 1), *(0.5 + between for between in range(num_heads - n))]
    return [2.0 ** (-8.0 * step / n) for step in steps]


class Alibi(fw.PositionalScheme):
    name = "alibi"

    slopes: Tensor

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        # A buffer, so that the bias has the model's precision; fixed, and so no part of a checkpoint.
        self.register_buffer("slopes", torch.empty(dims.num_heads), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.slopes.copy_(torch.tensor(head_slopes(len(self.slopes))))

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Give -slope·|i - j|."""
        distance = (query_positions[:, None, :, None] - key_positions[:, None, None, :]).abs()  # (B|1, 1, Q, K)
        return -self.slopes[:, None, None] * distance  # (B|1, H, Q, K)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Alibi
