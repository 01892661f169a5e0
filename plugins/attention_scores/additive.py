"""Additive score v·tanh(W q + U k): Bahdanau et al. 2015, arXiv:1409.0473, appendix A.1.2.

Per head: the mixer's query and key projections are Bahdanau's W_a and U_a, and each head has its own v_a.

Written out, it holds d_k numbers for every pair of query and key. Here these are computed a block at a time, and once
more for the gradient, so that memory grows as Q·K alone. As tanh(x) = 1 - 2σ(-2x) and
σ(-2(a + b)) = e^-2a / (e^-2a + e^2b), what a pair and channel cost is a division: exponentials are taken of queries and
of keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

import framework as fw

LIMIT: Final = 30.0
"""How far from zero channels may lie for the exponentials: e^±60, with a factor v, still fits single precision."""
ROWS: Final = 32
"""Queries in a block: enough that what is summed over them, for each key and channel, is small beside the block."""


class Additive(fw.AttentionScore):
    name = "additive"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.v = nn.Parameter(torch.empty(dims.num_heads, dims.d_k))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        # Xavier-uniform for a map of d_k channels to one score, as the model's projections start.
        bound = (6 / (self.v.size(1) + 1)) ** 0.5
        nn.init.uniform_(self.v, -bound, bound)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        dtype = torch.promote_types(query.dtype, torch.float32)  # d_k terms are too many to add up in half precision
        a, b = (x.to(dtype).mT.flatten(0, 1).contiguous() for x in (query, key))  # (B*H, d_k, Q), (B*H, d_k, K)
        v = self.v.to(dtype).repeat(query.size(0), 1)  # (B*H, d_k)
        scores = _scores(a, b, v).unflatten(0, query.shape[:2])  # (B, H, Q, K)
        return scores.to(query.dtype)


def _scores(a: Tensor, b: Tensor, v: Tensor) -> Tensor:
    """Give Σ v·tanh(a + b) over the channels: from `(N, d_k, Q)`, `(N, d_k, K)` and `(N, d_k)`, `(N, Q, K)`.

    Which way a pair is computed follows from its own query and key, so that others change not a bit of it.
    """
    if a.device.type != "cpu":
        # There a σ costs no more than a division, and looking at the numbers would mean waiting for them.
        return _blockwise(a, b, v, False)
    near_a, near_b = a.abs().amax(1) <= LIMIT, b.abs().amax(1) <= LIMIT  # (N, Q), (N, K)
    if near_a.all() and near_b.all():
        return _blockwise(a, b, v, True)
    near = near_a[:, :, None] & near_b[:, None]  # (N, Q, K)
    # Clamped values enter no score: tanh(100 - 99) is not tanh(30 - 30).
    fast = _blockwise(a.clamp(-LIMIT, LIMIT), b.clamp(-LIMIT, LIMIT), v, True)
    return torch.where(near, fast, _blockwise(a, b, v, False))


class _Blockwise(torch.autograd.Function):
    """Σ v·tanh(a + b) as Σ v - 2 Σ v·s with s = σ(-2(a + b)), whose derivative is -2 s(1 - s)."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, v: Tensor, by_division: bool) -> Tensor:
        ctx.save_for_backward(a, b, v)
        ctx.by_division = by_division
        scores = v.sum(1)[:, None, None].repeat(1, a.size(2), b.size(2))  # (N, Q, K)
        weight = (-2 * v)[:, :, None, None]  # (N, d_k, 1, 1)
        for heads, channels, rows, s in _blocks(a, b, by_division):
            scores[heads, rows] += s.mul_(weight[heads, channels]).sum(1)
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        a, b, v = ctx.saved_tensors
        grad_a, grad_b, grad_v = torch.empty_like(a), torch.zeros_like(b), torch.zeros_like(v)
        for heads, channels, rows, s in _blocks(a, b, ctx.by_division):
            product = s * grad[heads, None, rows]  # (heads, channels, rows, K)
            grad_v[heads, channels] += product.sum((2, 3))
            product.addcmul_(product, s, value=-1)
            grad_a[heads, channels, rows] = product.sum(3)
            grad_b[heads, channels] += product.sum(2)
        slope = (4 * v)[:, :, None]  # (N, d_k, 1)
        return slope * grad_a, slope * grad_b, grad.sum((1, 2))[:, None] - 2 * grad_v, None


_blockwise: Final[Callable[[Tensor, Tensor, Tensor, bool], Tensor]] = _Blockwise.apply


def _blocks(a: Tensor, b: Tensor, by_division: bool) -> Iterator[tuple[slice, slice, slice, Tensor]]:
    """Give σ(-2(a + b)) block by block: which heads, channels and queries, and `(heads, channels, queries, K)`."""
    num_heads, d_k, num_queries = a.shape
    # Half a megabyte stays in a core's cache from one operation to the next; other devices want more work at a time.
    room = 2**17 if a.device.type == "cpu" else 2**25
    rows = min(num_queries, ROWS)
    channels = min(d_k, max(1, room // (rows * b.size(2))))
    heads = max(1, room // (rows * b.size(2) * channels))
    a, b = -2 * a[..., None], (2 if by_division else -2) * b[:, :, None]  # (N, d_k, Q, 1), (N, d_k, 1, K)
    if by_division:
        a, b = a.exp(), b.exp()
    for n in range(0, num_heads, heads):
        for i in range(0, num_queries, rows):
            for d in range(0, d_k, channels):
                block = slice(n, n + heads), slice(d, d + channels), slice(i, i + rows)
                query, key = a[block], b[block[:2]]
                s = query + key
                yield *block, torch.div(query, s, out=s) if by_division else s.sigmoid_()


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Additive
