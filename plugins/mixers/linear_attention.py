"""Linear attention, a kernel φ(q)·φ(k) with φ(x) = elu(x) + 1: Katharopoulos et al. 2020, arXiv:2006.16236, eq. 4-7.

The sums over keys, S = Σ φ(k) vᵀ and z = Σ φ(k), do not depend on the query, and y = φ(q)ᵀ S / φ(q)·z: the cost grows
with the length, not with its square. In a decoder the sums run from the left (eq. 8-12). No weights are formed, so
that a score, a mask, a bias or dropout on weights has nowhere to act, and a rotation would not be relative behind φ.
A query that may see nothing has a context of zero.

Shapes: B batch, H heads, L queries, K keys, D d_model; N chunks of C positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

import framework as fw

CHUNK: Final = 64
"""Positions whose pairs are formed at once: the sums S are kept per chunk, as many numbers as L·d_k·d_v / 64."""

NOTHING: Final = 1e-30
"""Sums of φ(k) of no more than this saw nothing, and are not divided by: so the gradients stay finite.

Keys that may be seen and sum to less lie below -69 in every channel that the query reads.
"""


@dataclass(frozen=True, slots=True)
class Sums(fw.State):
    """All that later queries need of the keys and values so far."""

    sums: Tensor | None
    """(B, H, d_k, d_v+1), S with z as its last column; None before the first position"""

    def reorder(self, beam: Tensor) -> Sums:
        return Sums(None if self.sums is None else self.sums.index_select(0, beam))


class LinearAttention(fw.Mixer):
    name = "linear_attention"

    def __init__(self, options: fw.Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.dims = dims
        self.query = fw.Linear(dims.d_model, dims.num_heads * dims.d_k, bias=dims.projection_bias)
        self.key = fw.Linear(dims.d_model, dims.num_heads * dims.d_k, bias=dims.projection_bias)
        self.value = fw.Linear(dims.d_model, dims.num_heads * dims.d_v, bias=dims.projection_bias)
        self.output = fw.Linear(dims.num_heads * dims.d_v, dims.d_model, bias=dims.projection_bias)

    def start(self) -> Sums:
        return Sums(None)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        sums = state.sums if isinstance(state, Sums) else None
        query = _heads(self.query(x), self.dims.d_k)  # (B, H, L, d_k)
        # A factor of φ(q) cancels. Without this one, a query far below zero would seem to see nothing.
        query = _features(query - query.detach().amax(-1, keepdim=True).clamp(max=0.0))
        if self.dims.causal:
            context, sums = _running(query, *self._project(x, padding), sums)  # (B, H, L, d_v+1)
        else:
            if sums is None:
                key, value = self._project(*self._seen(x, padding, memory, memory_padding))
                sums = key.mT @ value  # (B, H, d_k, d_v+1)
            context = query @ sums  # (B, H, L, d_v+1)
        context, normaliser = context.split((self.dims.d_v, 1), dim=-1)  # (B, H, L, d_v), (B, H, L, 1)
        context = context / normaliser.masked_fill(normaliser <= NOTHING, 1.0)  # (B, H, L, d_v)
        y = self.output(context.transpose(1, 2).flatten(2))  # (B, L, D)
        return y, None if state is None else Sums(sums)

    def _seen(
        self, x: Tensor, padding: Tensor, memory: Tensor | None, memory_padding: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        if self.dims.site.attends_itself:
            return x, padding
        assert memory is not None, "a cross site has a memory"
        assert memory_padding is not None, "a cross site has a memory"
        return memory, memory_padding

    def _project(self, x: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        """Give φ(k), zero at padding, and values with a 1 behind them, which sums to the normaliser."""
        key = _features(_heads(self.key(x), self.dims.d_k)).masked_fill(~padding[:, None, :, None], 0.0)
        value = F.pad(_heads(self.value(x), self.dims.d_v), (0, 1), value=1.0)
        return key, value  # (B, H, K, d_k), (B, H, K, d_v+1)


def _features(x: Tensor) -> Tensor:
    """Give elu(x) + 1, as e^x where x is negative: below -17 the sum rounds to 0 in single precision, e^x does not."""
    return x.relu() + x.clamp(max=0.0).exp()


def _running(query: Tensor, key: Tensor, value: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
    """Sum up to each query: sums before its chunk, and pairs inside it. Then the sums after all of them.

    One sum per position would be L·d_k·d_v numbers, all of which a backward pass would keep.
    """
    length = query.size(2)
    query, key, value = (_chunked(part, min(length, CHUNK)) for part in (query, key, value))
    grown = key.mT @ value  # (B, H, N, d_k, d_v+1)
    if before is None:
        before = torch.zeros_like(grown[:, :, 0])
    sums = torch.cat((before[:, :, None], grown), dim=2).cumsum(2)  # (B, H, N+1, d_k, d_v+1)
    context = query @ sums[:, :, :-1] + (query @ key.mT).tril() @ value  # (B, H, N, C, d_v+1)
    return context.flatten(2, 3)[:, :, :length], sums[:, :, -1]


def _chunked(x: Tensor, chunk: int) -> Tensor:
    return F.pad(x, (0, 0, 0, -x.size(2) % chunk)).unflatten(2, (-1, chunk))  # (B, H, N, C, width)


def _heads(x: Tensor, width: int) -> Tensor:
    return x.unflatten(2, (-1, width)).transpose(1, 2)  # (B, H, L, width)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return LinearAttention
