"""A right mixer, a running mean, and wrong ones that differ from it in one thing each.

Shapes: B batch, L length, D d_model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

import framework as fw

SELF_SITES = frozenset({fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF})


@dataclass(frozen=True)
class Sums(fw.State):
    """What a running mean has seen."""

    total: Tensor | float = 0.0
    """(B, 1, D)"""
    count: Tensor | float = 0.0
    """(B, 1, 1)"""

    def reorder(self, beam: Tensor) -> Sums:
        assert isinstance(self.total, Tensor)
        assert isinstance(self.count, Tensor)
        return Sums(self.total[beam], self.count[beam])


class Right(fw.Mixer):
    """The mean of what may be seen: all of the sentence in an encoder, the past in a decoder; made for a test."""

    name = "right"
    sites = SELF_SITES

    def __init__(self, options: fw.Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.dims = dims
        self.value = fw.Linear(dims.d_model, dims.d_model)

    def start(self) -> Sums:
        return Sums()

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        seen = state if isinstance(state, Sums) else Sums()
        value, real = self.real(self.value(x), padding)  # (B, L, D), (B, L, 1)
        if self.dims.causal:
            total, count = seen.total + value.cumsum(1), seen.count + real.cumsum(1)
        else:
            total, count = value.sum(1, keepdim=True).expand_as(x), real.sum(1, keepdim=True)
        after = None if state is None else self.remembered(total, count)
        return self.mean(total, count, x), after

    def real(self, value: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        return value * padding[..., None], padding[..., None].to(value.dtype)

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return total / count.clamp(min=1)

    def remembered(self, total: Tensor, count: Tensor) -> Sums:
        return Sums(total[:, -1:], count[:, -1:])


class ReadsPadding(Right):
    """Takes padding for words."""

    name = "reads_padding"

    def real(self, value: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        return value, padding[..., None].to(value.dtype)


class CountsPadding(Right):
    """Divides by the length of the batch."""

    name = "counts_padding"

    def real(self, value: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        return value * padding[..., None], torch.ones_like(padding[..., None], dtype=value.dtype)


class MeanOfNothing(Right):
    """Divides by zero where there is nothing but padding."""

    name = "mean_of_nothing"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return total / count


class KnowsTheLength(Right):
    """Scales by how long the sequence will be."""

    name = "knows_the_length"
    sites = frozenset({fw.Site.DECODER_SELF})

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return super().mean(total, count, x) * x.size(1)


class SeesAhead(Right):
    """A convolution that is centred in a decoder too."""

    name = "sees_ahead"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        later = F.pad(total, (0, 0, 0, 1))[:, 1:]
        return super().mean(total + later, count, x) if self.dims.causal else super().mean(total, count, x)


class ForgetsTheLast(Right):
    """Its state lacks the last position of each step."""

    name = "forgets_the_last"

    def remembered(self, total: Tensor, count: Tensor) -> Sums:
        if total.size(1) == 1:
            return Sums(torch.zeros_like(total), torch.zeros_like(count))
        return Sums(total[:, -2:-1], count[:, -2:-1])


@dataclass(frozen=True)
class Stays(Sums):
    """Sums that stay in their rows."""

    def reorder(self, beam: Tensor) -> Stays:
        assert isinstance(self.total, Tensor)
        assert isinstance(self.count, Tensor)
        rows = torch.arange(len(beam)) % len(self.total)
        return Stays(self.total[rows], self.count[rows])


class NeverReorders(Right):
    """Its state stays in its rows when a beam moves."""

    name = "never_reorders"

    def remembered(self, total: Tensor, count: Tensor) -> Sums:
        return Stays(total[:, -1:], count[:, -1:])


class AlwaysAState(Right):
    """Gives a state that nobody asked for."""

    name = "always_a_state"

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        return super().forward(x, positions, padding, state=Sums() if state is None else state)


class NoStateAfter(Right):
    """Gives no state after a state."""

    name = "no_state_after"

    def remembered(self, total: Tensor, count: Tensor) -> None:  # type: ignore[override]
        return None


class CentredOverTheBatch(Right):
    """Takes the mean of the batch from what it gives."""

    name = "centred_over_the_batch"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        y = super().mean(total, count, x)
        return y - y.mean(0)


class DropsOutAlways(Right):
    """Drops out in evaluation too."""

    name = "drops_out_always"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return F.dropout(super().mean(total, count, x), self.dims.dropout)


class Widens(Right):
    """Gives more channels than it takes."""

    name = "widens"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return torch.cat((super().mean(total, count, x), x), dim=-1)


class OnTheCpu(Right):
    """Counts on the device that is the default."""

    name = "on_the_cpu"

    def real(self, value: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        return value * padding[..., None], torch.ones(padding.shape)[..., None].to(value.dtype) * padding[..., None]


class NamesWhatThereIsNot(Right):
    """Says that it takes something of which there is no kind."""

    name = "names_what_there_is_not"
    takes = frozenset({"masks"})


class SaysItMasks(Right):
    """Says that it takes a mask, and asks none."""

    name = "says_it_masks"
    takes = frozenset({"mask"})


class SeesAheadInTraining(Right):
    """A convolution that is centred in a decoder too, but not in evaluation."""

    name = "sees_ahead_in_training"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        later = F.pad(total, (0, 0, 0, 1))[:, 1:] if self.dims.causal and self.training else 0.0
        return super().mean(total + later, count, x)


class ReadsPaddingInTraining(Right):
    """Takes padding for words, but not in evaluation."""

    name = "reads_padding_in_training"

    def real(self, value: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        return super().real(value, padding | self.training)


class SqueezesOnePosition(Right):
    """Loses the axis of positions where there is one."""

    name = "squeezes_one_position"
    sites = frozenset({fw.Site.ENCODER_SELF})  # a decoder takes steps of one

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        return super().mean(total, count, x).squeeze(1)


class OnTheCpuInTraining(Right):
    """Drops channels out by numbers that it draws on the device that is the default."""

    name = "on_the_cpu_in_training"

    def mean(self, total: Tensor, count: Tensor, x: Tensor) -> Tensor:
        y = super().mean(total, count, x)
        return y * (torch.rand(x.size(-1)) > 0.1) if self.training else y


class OnTheCpuBehindAState(Right):
    """Adds a tensor to what it remembers that it makes on the device that is the default."""

    name = "on_the_cpu_behind_a_state"

    def remembered(self, total: Tensor, count: Tensor) -> Sums:
        after = super().remembered(total, count)
        assert isinstance(after.total, Tensor)
        return Sums(after.total + torch.zeros(after.total.shape), after.count)


@fw.hookimpl
def mixer() -> tuple[type[fw.Mixer], ...]:
    return (
        Right, ReadsPadding, CountsPadding, MeanOfNothing, KnowsTheLength, SeesAhead, ForgetsTheLast, NeverReorders,
        AlwaysAState, NoStateAfter, CentredOverTheBatch, DropsOutAlways, Widens, OnTheCpu, NamesWhatThereIsNot,
        SaysItMasks, SeesAheadInTraining, ReadsPaddingInTraining, SqueezesOnePosition, OnTheCpuInTraining,
        OnTheCpuBehindAState,
    )  # fmt: skip
