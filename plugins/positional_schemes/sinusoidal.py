"""Sinusoids of geometrically growing wavelength: Vaswani et al. 2017, arXiv:1706.03762, section 3.5."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

import framework as fw


class Sinusoidal(fw.PositionalScheme):
    name = "sinusoidal"

    class Options(fw.Options):
        layout: Literal["interleaved", "halves"] = "interleaved"
        """Whether an angle's sine and cosine are neighbours, as in the paper's formula, or all sines stand before all
        cosines, as in the authors' code (tensor2tensor 1.0, `common_attention.add_timing_signal_1d`). Channels only
        change places, which weights that start at random do not notice."""
        full_range: bool = False
        """Whether the last wavelength is 10000 · 2π, as the paper's text says and the authors' code has it,
        10000^(i / (D/2 - 1)); the paper's formula, 10000^(2i / D), ends one step before it."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"layout": "halves"}, {"full_range": True})

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add sin(p / 10000^(2i/D)) to channel 2i and the cosine of the same angle to channel 2i + 1.

        Where `layout` is halves, i and D/2 + i are the channels of an angle.
        """
        width = x.size(-1)
        channel = torch.arange(width, device=x.device)
        angles = (width + 1) // 2  # the last one of an odd width has no cosine
        if self.options.layout == "interleaved":
            i, cosine = channel // 2, channel % 2
        else:
            i, cosine = channel % angles, channel // angles
        # In double precision: the digits of a large angle that single precision drops are those that sin reads.
        exponent = i.double() / max(angles - 1, 1) if self.options.full_range else 2.0 * i.double() / width
        frequency = 10000.0**-exponent  # (D,)
        quarter_turn = cosine.double() * (math.pi / 2)  # cos(a) = sin(a + π/2)
        angle = positions[..., None] * frequency + quarter_turn  # (B|1, L, D)
        return x + angle.sin().to(x.dtype)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Sinusoidal
