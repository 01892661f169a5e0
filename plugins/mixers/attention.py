"""Multi-head attention: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2.

Shapes: B batch, H heads, L queries, K keys, S source length, D d_model; d_k and d_v need not add up to D.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

import framework as fw


@dataclass(frozen=True, slots=True)
class Seen(fw.State):
    """What may be attended: projected once, read at every later position."""

    key: Tensor
    """(B, H, K, d_k), rotated"""
    value: Tensor
    """(B, H, K, d_v)"""
    positions: Tensor
    """(B|1, K)"""
    padding: Tensor
    """(B, K)"""

    def followed_by(self, new: Seen) -> Seen:
        return Seen(
            key=torch.cat((self.key, new.key), dim=2),
            value=torch.cat((self.value, new.value), dim=2),
            positions=torch.cat((self.positions, new.positions), dim=1),
            padding=torch.cat((self.padding, new.padding), dim=1),
        )

    def reorder(self, beam: Tensor) -> Seen:
        shared = self.positions.size(0) == 1  # positions of all rows in one
        return Seen(
            key=self.key.index_select(0, beam),
            value=self.value.index_select(0, beam),
            positions=self.positions if shared else self.positions.index_select(0, beam),
            padding=self.padding.index_select(0, beam),
        )


class Nothing(fw.State):
    """Before the first position."""

    def reorder(self, beam: Tensor) -> Nothing:
        return self


class Attention(fw.Mixer):
    name = "attention"
    takes = frozenset({"attention_score", "mask", "bias"})

    def __init__(self, options: fw.Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.dims = dims
        self.score = parts.score
        self.mask = parts.mask
        self.parts = parts  # reaches the scheme without registering it: its parameters belong to the stack
        self.query = fw.Linear(dims.d_model, dims.num_heads * dims.d_k, bias=dims.projection_bias)
        self.key = fw.Linear(dims.d_model, dims.num_heads * dims.d_k, bias=dims.projection_bias)
        self.value = fw.Linear(dims.d_model, dims.num_heads * dims.d_v, bias=dims.projection_bias)
        self.output = fw.Linear(dims.num_heads * dims.d_v, dims.d_model, bias=dims.projection_bias)

    def start(self) -> Nothing:
        return Nothing()

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        query = self._heads(self.query(x))  # (B, H, L, d_k)
        bias = None
        if self.dims.site.attends_itself:
            query = self.parts.scheme.rotate(query, positions)
            seen = self._project(x, positions, padding)
            if isinstance(state, Seen):
                seen = state.followed_by(seen)
            bias = self.parts.scheme.bias(positions, seen.positions)  # (B|1, H|1, L, K)
        elif isinstance(state, Seen):
            seen = state
        else:
            assert memory is not None, "a cross site has a memory"
            assert memory_padding is not None, "a cross site has a memory"
            seen = self._project(memory, torch.arange(memory.size(1), device=memory.device)[None], memory_padding)
        allowed = fw.visible(self.mask, self.dims, positions, seen.positions, seen.padding)
        dropout = self.dims.attention_dropout if self.training else 0.0
        context = fw.attend(self.score, query, seen.key, seen.value, allowed, bias, dropout)  # (B, H, L, d_v)
        y = self.output(context.transpose(1, 2).flatten(2))  # (B, L, D)
        return y, None if state is None else seen

    def _project(self, x: Tensor, positions: Tensor, padding: Tensor) -> Seen:
        key, value = self._heads(self.key(x)), self._heads(self.value(x))  # (B, H, K, d_k), (B, H, K, d_v)
        if self.dims.site.attends_itself:
            key = self.parts.scheme.rotate(key, positions)
        return Seen(key, value, positions, padding)

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.dims.num_heads, -1).transpose(1, 2)  # (B, H, L, d)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Attention
