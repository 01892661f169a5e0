"""Multi-head attention: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; grouped-query: arXiv:2305.13245.

With fewer key-value heads than heads, each of them serves a group of neighbouring query heads (Ainslie et al. 2023,
section 2.2); with one it serves all: multi-query attention (Shazeer 2019, arXiv:1911.02150, section 3).

Shapes: B batch, H heads, G key-value heads, L queries, K keys, S source length, D d_model; d_k and d_v need not add
up to D.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import PositiveInt
from torch import Tensor

import framework as fw


@dataclass(frozen=True, slots=True)
class Seen(fw.State):
    """What may be attended: projected once, read at every later position."""

    key: Tensor
    """(B, G, K, d_k), rotated"""
    value: Tensor
    """(B, G, K, d_v)"""
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
    takes = frozenset({"attention_score", "mask", "bias", "rotation", "attention_dropout"})

    class Options(fw.Options):
        num_key_value_heads: PositiveInt | None = None
        """Heads of keys and values, a divisor of `num_heads`; null means as many, and 1 is multi-query attention."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"num_key_value_heads": 1})

    def __init__(self, options: Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        key_value_heads = options.num_key_value_heads or dims.num_heads
        if dims.num_heads % key_value_heads:
            raise fw.SpecError(
                f"num_key_value_heads={key_value_heads} does not divide num_heads={dims.num_heads}, and each key-value "
                f"head serves a group of heads, all of one size: choose a divisor of {dims.num_heads}",
                path="model.mixer.options.num_key_value_heads",
            )
        self.dims = dims
        self.score = parts.score
        self.mask = parts.mask
        self.parts = parts  # reaches the scheme without registering it: its parameters belong to the stack
        self.query = fw.Linear(dims.d_model, dims.num_heads * dims.d_k, bias=dims.projection_bias)
        self.key = fw.Linear(dims.d_model, key_value_heads * dims.d_k, bias=dims.projection_bias)
        self.value = fw.Linear(dims.d_model, key_value_heads * dims.d_v, bias=dims.projection_bias)
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
        query = _heads(self.query(x), self.dims.d_k)  # (B, H, L, d_k)
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
        key, value = self._for_every_head(seen.key), self._for_every_head(seen.value)  # (B, H, K, d_k), (B, H, K, d_v)
        context = fw.attend(self.score, query, key, value, allowed, bias, dropout)  # (B, H, L, d_v)
        y = self.output(context.transpose(1, 2).flatten(2))  # (B, L, D)
        return y, None if state is None else seen

    def _project(self, x: Tensor, positions: Tensor, padding: Tensor) -> Seen:
        key = _heads(self.key(x), self.dims.d_k)  # (B, G, K, d_k)
        value = _heads(self.value(x), self.dims.d_v)  # (B, G, K, d_v)
        if self.dims.site.attends_itself:
            key = self.parts.scheme.rotate(key, positions)
        return Seen(key, value, positions, padding)

    def _for_every_head(self, x: Tensor) -> Tensor:
        """Repeat each key-value head for its group, `(B, G, K, d)` to `(B, H, K, d)`; a view where a group is one."""
        group = self.dims.num_heads // x.size(1)
        return x[:, :, None].expand(-1, -1, group, -1, -1).flatten(1, 2)  # (B, H, K, d)


def _heads(x: Tensor, width: int) -> Tensor:
    return x.unflatten(2, (-1, width)).transpose(1, 2)  # (B, H|G, L, width)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Attention
