"""Queries and keys turned by angles that grow with position: Su et al. 2021, arXiv:2104.09864, section 3.2.2.

The dot product of a turned query and a turned key depends on their distance only, and so do scores made of it and of
lengths, which turns leave alone: `cosine`, `kernel`. Another score runs, and is not relative but sees where the two
stand: `additive`, and `bilinear`, a dot product behind a matrix that does not commute with the turns.
"""

from __future__ import annotations

import torch
from pydantic import PositiveFloat
from torch import Tensor

import framework as fw


class Rotary(fw.PositionalScheme):
    name = "rotary"

    class Options(fw.Options):
        base: PositiveFloat = 10000.0
        """Wavelengths grow from 2π towards 2π·base, geometrically."""

    options: Options

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        """Raises `SpecError` for an odd d_k, whose last channel would have no partner."""
        super().__init__(options, dims)
        if dims.d_k % 2:
            raise fw.SpecError(
                f"'rotary' turns the channels of a head in pairs, and d_k={dims.d_k} is odd: set model.d_k to an even "
                "number, or choose another scheme",
                path="model.positional_scheme",
            )

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Turn the pair of adjacent channels (2i, 2i + 1) at position p by the angle p / base^(2i/d_k)."""
        pair = torch.arange(x.size(-1) // 2, device=x.device)
        # In double precision: the digits of a large angle that single precision drops are those that sin reads.
        frequency = self.options.base ** (-2.0 * pair.double() / x.size(-1))  # (d_k/2,)
        angle = positions[:, None, :, None] * frequency  # (B|1, 1, L, d_k/2)
        precision = torch.promote_types(x.dtype, torch.float32)  # half precision is rounded once, at the end
        cos, sin = angle.cos().to(precision), angle.sin().to(precision)
        even, odd = x[..., 0::2], x[..., 1::2]  # (B, H, L, d_k/2)
        turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)  # (B, H, L, d_k/2, 2)
        return turned.flatten(-2).to(x.dtype)  # (B, H, L, d_k)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Rotary
