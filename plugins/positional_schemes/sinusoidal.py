"""Sinusoids of geometrically growing wavelength: Vaswani et al. 2017, arXiv:1706.03762, section 3.5."""

from __future__ import annotations

import math

import torch
from torch import Tensor

import framework as fw


class Sinusoidal(fw.PositionalScheme):
    name = "sinusoidal"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add sin(p / 10000^(2i/D)) to channel 2i and the cosine of the same angle to channel 2i + 1."""
        channel = torch.arange(x.size(-1), device=x.device)
        # In double precision: the digits of a large angle that single precision drops are those that sin reads.
        frequency = 10000.0 ** (-2.0 * (channel // 2).double() / x.size(-1))  # (D,)
        quarter_turn = (channel % 2).double() * (math.pi / 2)  # cos(a) = sin(a + π/2)
        angle = positions[..., None] * frequency + quarter_turn  # (B|1, L, D)
        return x + angle.sin().to(x.dtype)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Sinusoidal
