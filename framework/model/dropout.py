"""Dropout (Srivastava et al. 2014, JMLR 15:1929), drawn quickly where torch draws slowly."""

from __future__ import annotations

from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS: Final = 1 << 16
"""Numbers that 16 random bits can show."""


def dropout(x: Tensor, probability: float, training: bool = True) -> Tensor:
    """Zero each entry of `x` with a probability in [0, 1), and scale the others so that the expectation stays.

    `x` has any shape, and the result its own. Outside training it is `x` itself. On a CPU, where `F.dropout` draws
    one number after another, an entry costs 16 random bits instead, which is several times faster; the probability is
    then a multiple of 2^-16 below 1, at most 2^-17 away but for the last, and the scale is that of the probability
    used. Draws from torch's global generator, like `F.dropout`, which does the work everywhere else.
    """
    if not training or probability == 0.0:
        return x
    if not x.is_cpu or torch.compiler.is_compiling():
        return F.dropout(x, probability)
    dropped = min(round(probability * _LEVELS), _LEVELS - 1)  # of so many levels
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)  # 64 random bits each
    levels = words.view(torch.int16)[: x.numel()].view(x.shape)  # uniform from -2^15 to 2^15 - 1
    kept = torch.ge(levels, dropped - _LEVELS // 2, out=torch.empty(x.shape, dtype=x.dtype))  # 0 or 1: no pass to cast
    return x * kept.mul_(_LEVELS / (_LEVELS - dropped))


class Dropout(nn.Dropout):
    """`dropout` as a module."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training)
