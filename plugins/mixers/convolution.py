"""Gated convolution over a window of positions: Gehring et al. 2017, arXiv:1705.03122, section 3.2.

With X the window's inputs side by side, [A; B] = W X + b and y = A ⊗ σ(B). In a decoder the window ends at the
position itself; in an encoder it is centred there, and one of even width reaches one position further back than
ahead. Beyond the ends of a sequence, and at padding, stands zero.

Shapes: B batch, L positions, W width of the window, D d_model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from pydantic import PositiveInt
from torch import Tensor, nn

import framework as fw


@dataclass(frozen=True, slots=True)
class Recent(fw.State):
    """What the window of the next position reaches back to."""

    inputs: Tensor | None
    """(B, W-1, D), zero at padding and before the beginning; None before the first position"""

    def reorder(self, beam: Tensor) -> Recent:
        return Recent(None if self.inputs is None else self.inputs.index_select(0, beam))


class LinearWindow(nn.Conv1d):
    """W X + b for every window: at the start of four times X's variance, of which the gate leaves one (section 3.5)."""

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight, std=2 * self.weight[0].numel() ** -0.5)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class Convolution(fw.Mixer):
    name = "convolution"
    sites = frozenset({fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF})

    class Options(fw.Options):
        width: PositiveInt = 3
        """Positions in a window, the one that it belongs to included."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"width": 1}, {"width": 4})

    def __init__(self, options: Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.behind = options.width - 1 if dims.causal else options.width // 2
        self.ahead = options.width - 1 - self.behind
        self.window = LinearWindow(dims.d_model, 2 * dims.d_model, options.width, bias=dims.projection_bias)

    def start(self) -> Recent:
        return Recent(None)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        x = x.masked_fill(~padding[..., None], 0.0)
        if isinstance(state, Recent) and state.inputs is not None:
            x = torch.cat((state.inputs, x), dim=1)  # (B, W-1+L, D)
        else:
            x = F.pad(x, (0, 0, self.behind, self.ahead))  # (B, W-1+L, D)
        y = F.glu(self.window(x.transpose(1, 2)).transpose(1, 2))  # (B, L, D)
        return y, None if state is None else Recent(x[:, x.size(1) - self.behind :])


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Convolution
