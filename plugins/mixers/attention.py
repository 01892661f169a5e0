"""Multi-head attention: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; grouped-query: arXiv:2305.13245.

With fewer key-value heads than heads, each of them serves a group of neighbouring query heads (Ainslie et al. 2023,
section 2.2); with one it serves all: multi-query attention (Shazeer 2019, arXiv:1911.02150, section 3).

Shapes: B batch, H heads, G key-value heads, L queries, K keys, S source length, D d_model; d_k and d_v need not add
up to D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import PositiveInt
from torch import Tensor

import framework as fw


@dataclass(frozen=True, slots=True)
class Seen(fw.State):
    """What of its own sequence may be attended: projected once, read at every later position."""

    key: Tensor
    """(B, G, K, d_k), rotated; in memory a position's heads lie together, so that new positions go behind old ones"""
    value: Tensor
    """(B, G, K, d_v), likewise"""
    positions: Tensor
    """(B|1, K)"""
    padding: Tensor
    """(B, K)"""
    order: Tensor | None = None
    """Which row each row of what follows goes on from; None where they are the same rows. It waits for what follows,
    so that a step of decoding moves the past once and not twice: this is what a beam spends most on."""

    def followed_by(self, new: Seen) -> Seen:
        key = _joined(self.key.transpose(1, 2), new.key.transpose(1, 2), self.order)  # (B, K, G, d_k)
        value = _joined(self.value.transpose(1, 2), new.value.transpose(1, 2), self.order)  # (B, K, G, d_v)
        shared = self.positions.size(0) == 1  # positions of all rows in one
        return Seen(
            key=key.transpose(1, 2),
            value=value.transpose(1, 2),
            positions=_joined(self.positions, new.positions, None if shared else self.order),
            padding=_joined(self.padding, new.padding, self.order),
        )

    def reorder(self, beam: Tensor) -> Seen:
        return replace(self, order=beam if self.order is None else self.order[beam])


@dataclass(frozen=True, slots=True)
class Memory(fw.State):
    """What of a memory may be attended: projected once, and read by all hypotheses of a source without a copy each."""

    key: Tensor
    """(M, G, S, d_k)"""
    value: Tensor
    """(M, G, S, d_v)"""
    positions: Tensor
    """(1, S)"""
    padding: Tensor
    """(M, S)"""
    reader: Tensor | None = None
    """(B,), which of the M memories each row reads; None where row r reads memory r"""

    def reorder(self, beam: Tensor) -> Memory:
        reader = beam if self.reader is None else self.reader[beam]
        if not beam.is_cpu:  # a device copies faster than it could be asked how many read what
            return self.of(reader)
        read = reader.unique()  # (M',), ascending
        if 2 * len(read) > self.key.size(0):
            return replace(self, reader=reader)
        return replace(self.of(read), reader=torch.searchsorted(read, reader))  # forget what nobody reads any more

    def of(self, rows: Tensor) -> Memory:
        """Give some of the memories, copied."""
        return Memory(self.key[rows], self.value[rows], self.positions, self.padding[rows])

    def gathered(self, query: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Let rows that read one memory be its queries: `(B, H, 1, d_k)` to `(M, H, W, d_k)`, W of the largest crowd.

        Also give what takes their contexts back, `(M, H, W, d_v)` to `(B, H, 1, d_v)`.
        """
        reader = self.reader
        assert reader is not None, "each row has a memory of its own"
        order = reader.argsort(stable=True)  # (B,)
        ascending = reader[order]
        place = torch.empty_like(reader)  # (B,), of a row among those that read the same
        place[order] = torch.arange(len(order), device=order.device) - torch.searchsorted(ascending, ascending)
        crowd = query.new_zeros(self.key.size(0), int(place.max()) + 1, *query.shape[1::2])  # (M, W, H, d_k)
        crowd[reader, place] = query[:, :, 0]
        return crowd.transpose(1, 2), lambda context: context[reader, :, place][:, :, None]


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
        initialization: Literal["separate", "joint"] = "separate"
        """Whether the projections to queries, keys and values start Xavier-uniform each by itself, or as parts of one
        matrix, of all three in self-attention and of the latter two elsewhere: smaller, by √2 and by √1.5 where all are
        of one width. The paper names no initialization; its authors' code had one matrix (tensor2tensor up to 1.2.9,
        `common_attention.multihead_attention`)."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"num_key_value_heads": 1}, {"initialization": "joint"})

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
        queries, keys, values = dims.num_heads * dims.d_k, key_value_heads * dims.d_k, key_value_heads * dims.d_v
        joint = keys + values + (queries if dims.site.attends_itself else 0)
        self.query = self._projection(queries, joint if dims.site.attends_itself else queries)
        self.key = self._projection(keys, joint)
        self.value = self._projection(values, joint)
        self.output = fw.Linear(dims.num_heads * dims.d_v, dims.d_model, bias=dims.projection_bias)

    def _projection(self, width: int, joint_width: int) -> fw.Linear:
        """Build a projection, which may start as the part of a matrix `joint_width` wide."""
        d_model, bias = self.dims.d_model, self.dims.projection_bias
        if self.options.initialization == "separate":
            return fw.Linear(d_model, width, bias)
        # Xavier's bound is √(6 / (inputs + outputs)).
        return fw.Linear(d_model, width, bias, gain=((d_model + width) / (d_model + joint_width)) ** 0.5)

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
        seen: Seen | Memory
        if self.dims.site.attends_itself:
            query = self.parts.scheme.rotate(query, positions)
            key, value = self._project(x)
            seen = Seen(self.parts.scheme.rotate(key, positions), value, positions, padding)
            if isinstance(state, Seen):
                seen = state.followed_by(seen)
            bias = self.parts.scheme.bias(positions, seen.positions)  # (B|1, H|1, L, K)
            context = self._attend(query, positions, seen, bias)
        else:
            seen = state if isinstance(state, Memory) else self._read(memory, memory_padding)
            context = self._attend_memory(query, positions, seen)
        y = self.output(context.transpose(1, 2).flatten(2))  # (B, L, D)
        return y, None if state is None else seen

    def _attend(self, query: Tensor, positions: Tensor, seen: Seen | Memory, bias: Tensor | None = None) -> Tensor:
        """Give the context of queries `(B, H, L, d_k)`: `(B, H, L, d_v)`."""
        allowed = fw.visible(self.mask, self.dims, positions, seen.positions, seen.padding)
        dropout = self.dims.attention_dropout if self.training else 0.0
        key, value = self._for_every_head(seen.key), self._for_every_head(seen.value)  # (B, H, K, d_k), (B, H, K, d_v)
        return fw.attend(self.score, query, key, value, allowed, bias, dropout)  # (B, H, L, d_v)

    def _attend_memory(self, query: Tensor, positions: Tensor, memory: Memory) -> Tensor:
        if memory.reader is None:
            return self._attend(query, positions, memory)
        if query.size(2) > 1 or positions.size(0) > 1:  # not the one position that a search adds to all its rows
            return self._attend(query, positions, memory.of(memory.reader))
        crowd, back = memory.gathered(query)
        return back(self._attend(crowd, positions, memory))

    def _read(self, memory: Tensor | None, padding: Tensor | None) -> Memory:
        assert memory is not None, "a cross site has a memory"
        assert padding is not None, "a cross site has a memory"
        return Memory(*self._project(memory), torch.arange(memory.size(1), device=memory.device)[None], padding)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give keys `(B, G, K, d_k)` and values `(B, G, K, d_v)`."""
        return _heads(self.key(x), self.dims.d_k), _heads(self.value(x), self.dims.d_v)

    def _for_every_head(self, x: Tensor) -> Tensor:
        """Repeat each key-value head for its group, `(B, G, K, d)` to `(B, H, K, d)`; a view where a group is one."""
        group = self.dims.num_heads // x.size(1)
        return x[:, :, None].expand(-1, -1, group, -1, -1).flatten(1, 2)  # (B, H, K, d)


def _joined(past: Tensor, new: Tensor, order: Tensor | None) -> Tensor:
    """Put `new (B, L, …)` behind the rows `order` of `past (B', K, …)`, or behind all of them: `(B, K + L, …)`."""
    if order is None:
        return torch.cat((past, new), dim=1)
    if past.requires_grad:  # which filling a given place does not allow
        return torch.cat((past.index_select(0, order), new), dim=1)
    length = past.size(1)
    both = past.new_empty(new.size(0), length + new.size(1), *past.shape[2:])
    flat = past.flatten(1)  # (B', K·…), a view: rows are copied whole
    torch.index_select(flat, 0, order, out=both.flatten(1)[:, : flat.size(1)])
    both[:, length:] = new
    return both


def _heads(x: Tensor, width: int) -> Tensor:
    return x.unflatten(2, (-1, width)).transpose(1, 2)  # (B, H|G, L, width)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Attention
