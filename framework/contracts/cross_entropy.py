"""Cross entropy against smoothed labels, with its gradient in few passes over what is largest in a step: the logits.

Shapes: N tokens, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, scored: Tensor, smoothing: float) -> Tensor:
    """Sum -Σ_v q(v) ln p(v) over the tokens that are scored, where q = (1 - ε)·δ(v, target) + ε / V: a scalar in nats.

    From `logits (N, V)`, ids `targets (N,)`, boolean `scored (N,)` and ε, the `smoothing` (Szegedy et al. 2016,
    arXiv:1512.00567, section 7). Equals `F.cross_entropy` with `reduction="sum"`, whose gradient is four tensors of the
    logits' size on the way; the formula p - q takes one.
    """
    apply = _SmoothedCrossEntropy.apply
    return apply(logits, targets[:, None], scored[:, None], smoothing)  # type: ignore[no-untyped-call]  # as in torch


class _SmoothedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, scored: Tensor, smoothing: float) -> Tensor:
        log_p = logits.log_softmax(-1)  # (N, V)
        ctx.save_for_backward(log_p, targets, scored)
        ctx.smoothing = smoothing
        each = (smoothing - 1) * log_p.gather(-1, targets) - smoothing * log_p.mean(-1, keepdim=True)  # (N, 1)
        return each.masked_fill(~scored, 0.0).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        log_p, targets, scored = ctx.saved_tensors
        difference = log_p.exp().sub_(ctx.smoothing / log_p.size(-1))  # (N, V), p - q
        difference.scatter_add_(-1, targets, difference.new_full((), ctx.smoothing - 1).expand_as(targets))
        return difference.mul_(scored * gradient), None, None, None
