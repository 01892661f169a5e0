"""Plain attention, which is right, and wrong mixers that differ from it in one thing each.

Shapes: B batch, H heads, L length, K keys, D d_model; `B|1` is either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

import framework as fw


@dataclass(frozen=True)
class Seen(fw.State):
    """What may be attended."""

    x: Tensor
    """(B, K, D)"""
    positions: Tensor
    """(1, K)"""
    padding: Tensor
    """(B, K)"""

    def reorder(self, beam: Tensor) -> Seen:
        return Seen(self.x[beam], self.positions, self.padding[beam])


class Nothing(fw.State):
    """Before the first position."""

    def reorder(self, beam: Tensor) -> Nothing:
        return self


class Attends(fw.Mixer):
    """Attention in one head without projections but one, made for a test."""

    name = "attends"
    takes: ClassVar[frozenset[str]] = frozenset({"attention_score", "mask", "bias"})

    def __init__(self, options: fw.Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.dims = dims
        self.parts = parts
        self.value = fw.Linear(dims.d_model, dims.d_model)
        self.score = parts.score

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
        if memory is not None and memory_padding is not None:
            seen = Seen(memory, torch.arange(memory.size(1), device=x.device)[None], memory_padding)
        else:
            seen = self.followed(state, Seen(x, positions, padding))
        query, key, value = (part[:, None] for part in (x, seen.x, self.value(seen.x)))  # (B, 1, ., D)
        bias = self.bias(positions, seen)  # (B|1, H|1, L, K)
        context = self.context(query, key, value, self.visible(positions, seen), bias)  # (B, 1, L, D)
        return context[:, 0], None if state is None else seen

    def followed(self, state: fw.State | None, new: Seen) -> Seen:
        if not isinstance(state, Seen):
            return new
        pairs = ((state.x, new.x), (state.positions, new.positions), (state.padding, new.padding))
        return Seen(*(torch.cat(pair, dim=1) for pair in pairs))

    def bias(self, positions: Tensor, seen: Seen) -> Tensor | None:
        return self.parts.scheme.bias(positions, seen.positions) if self.dims.site.attends_itself else None

    def visible(self, positions: Tensor, seen: Seen) -> Tensor | None:
        return fw.visible(self.parts.mask, self.dims, positions, seen.positions, seen.padding)

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        return fw.attend(self.score, query, key, value, allowed, bias)


class TakesTheMaskInverted(Attends):
    """Takes True for hidden, as another of torch's modules does."""

    name = "takes_the_mask_inverted"

    def visible(self, positions: Tensor, seen: Seen) -> Tensor | None:
        allowed = super().visible(positions, seen)
        return None if allowed is None else ~allowed


class AddsTheMask(Attends):
    """Takes the mask for numbers, which hide nothing."""

    name = "adds_the_mask"

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        added = 0.0 if allowed is None else allowed.to(query.dtype)
        return super().context(query, key, value, None, added if bias is None else added + bias)  # type: ignore[arg-type]


class AddsInfinity(Attends):
    """Adds -inf before its own softmax, and hides the NaN of a row of it, but not from the gradients."""

    name = "adds_infinity"

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        scores = self.score(query, key) + (0.0 if bias is None else bias)
        if allowed is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~allowed, float("-inf"))
        return scores.softmax(-1).nan_to_num(0.0) @ value


class SaysItRotates(Attends):
    """Says that it takes rotation, and rotates nothing."""

    name = "says_it_rotates"
    takes = Attends.takes | {"rotation"}


class RestartsPositions(Attends):
    """Counts the positions behind a cache from zero again."""

    name = "restarts_positions"

    def followed(self, state: fw.State | None, new: Seen) -> Seen:
        return super().followed(state, replace(new, positions=new.positions - new.positions[:, :1]))


class BiasRestarts(Attends):
    """Counts the positions of queries behind a cache from zero again, for its bias."""

    name = "bias_restarts"

    def bias(self, positions: Tensor, seen: Seen) -> Tensor | None:
        return super().bias(positions - positions[:, :1], seen)


class BiasAcross(Attends):
    """Adds a bias between two sequences too."""

    name = "bias_across"
    sites = frozenset({fw.Site.DECODER_CROSS})

    def bias(self, positions: Tensor, seen: Seen) -> Tensor | None:
        return self.parts.scheme.bias(positions, seen.positions)


class ReadsPaddingOfTheMemory(Attends):
    """Takes padding for words, in a memory."""

    name = "reads_padding_of_the_memory"
    sites = frozenset({fw.Site.DECODER_CROSS})

    def visible(self, positions: Tensor, seen: Seen) -> Tensor | None:
        return fw.visible(self.parts.mask, self.dims, positions, seen.positions, None)


class KeepsCausality(Attends):
    """Hides the future even where the mask shows it."""

    name = "keeps_causality"

    def visible(self, positions: Tensor, seen: Seen) -> Tensor | None:
        allowed = super().visible(positions, seen)
        if not self.dims.causal or allowed is None:
            return allowed
        return allowed & (seen.positions[:, None, None] <= positions[:, None, :, None])  # (B|1, H|1, L, K)


class SaysItScores(Attends):
    """Says that it takes a score, and has one of its own."""

    name = "says_it_scores"

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, allowed)


class SaysItBiases(Attends):
    """Says that it takes a bias, and drops it."""

    name = "says_it_biases"

    def bias(self, positions: Tensor, seen: Seen) -> None:
        return None


class SaysItDropsOut(Attends):
    """Says that it drops weights out, and drops none."""

    name = "says_it_drops_out"
    takes = Attends.takes | {"attention_dropout"}


class DropsOutUndeclared(Attends):
    """Drops weights out without a word."""

    name = "drops_out_undeclared"

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        dropout = self.dims.attention_dropout if self.training else 0.0
        return fw.attend(self.score, query, key, value, allowed, bias, dropout)


class MasksUndeclared(Attends):
    """Takes a mask without a word."""

    name = "masks_undeclared"
    takes = Attends.takes - {"mask"}


class ScoresUndeclared(Attends):
    """Takes a score without a word."""

    name = "scores_undeclared"
    takes = Attends.takes - {"attention_score"}


class BiasesUndeclared(Attends):
    """Takes a bias without a word."""

    name = "biases_undeclared"
    takes = Attends.takes - {"bias"}


class RotatesUndeclared(Attends):
    """Rotates keys without a word."""

    name = "rotates_undeclared"

    def context(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
        rotated = self.parts.scheme.rotate(key, torch.arange(key.size(2), device=key.device)[None])
        return super().context(query, rotated if self.dims.site.attends_itself else key, value, allowed, bias)


@fw.hookimpl
def mixer() -> tuple[type[fw.Mixer], ...]:
    return (
        Attends, TakesTheMaskInverted, AddsTheMask, AddsInfinity, SaysItRotates, RestartsPositions, BiasRestarts,
        BiasAcross, ReadsPaddingOfTheMemory, KeepsCausality, SaysItScores, SaysItBiases, SaysItDropsOut,
        DropsOutUndeclared, MasksUndeclared, ScoresUndeclared, BiasesUndeclared, RotatesUndeclared,
    )  # fmt: skip
