"""Masked-token prediction: Devlin et al. 2019 (BERT), arXiv:1810.04805, section 3.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import torch
from pydantic import Field, model_validator
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

import framework as fw

Share = Annotated[float, Field(ge=0, le=1)]


class MaskedToken(fw.Objective):
    """Say the hidden pieces of a text from all the others: Devlin et al. 2019 (BERT), arXiv:1810.04805, section 3.1.

    A pair is one sequence, source + EOS + target + EOS, and a text by itself, whose source is empty, is
    target + EOS. Of a target's n pieces, max(1, rate · n), rounded, are chosen at random: at least one of each
    target that has any, never one of a source, an end or padding. Only chosen pieces are scored. In the input each
    becomes, by chance, the piece MASK, or another piece, or stays as it is, so that a model cannot tell which of the
    pieces in sight are right (appendix A.1, 80% / 10% / 10%).

    Where Devlin et al. take another piece from the whole vocabulary, it is here one of the same target's pieces that
    are not chosen: this needs no table of pieces, makes a likelier mistake, depends on nothing but the example, and
    shows nothing that is not in sight already. Where a target has no such piece, MASK stands instead.
    """

    name = "masked_token"
    architectures: ClassVar[frozenset[str]] = frozenset({"encoder_only"})
    metrics: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy")
    further_metrics: ClassVar[tuple[str, ...]] = ("smoothed_perplexity",)

    class Options(fw.Options):
        rate: Annotated[float, Field(gt=0, le=1)] = 0.15
        """Share of a target's pieces that is chosen."""
        replaced_by_mask: Share = 0.8
        """Chance of a chosen piece to be hidden by MASK."""
        replaced_by_random: Share = 0.1
        """Chance of a chosen piece to be replaced by another one; what is left of 1 stays as it is."""

        @model_validator(mode="after")
        def _at_most_all(self) -> MaskedToken.Options:
            if self.replaced_by_mask + self.replaced_by_random > 1:
                raise ValueError(
                    f"replaced_by_mask {self.replaced_by_mask} and replaced_by_random {self.replaced_by_random} "
                    "are more than 1 together: lower one of them"
                )
            return self

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        all_random = {"rate": 0.5, "replaced_by_mask": 0.0, "replaced_by_random": 1.0}
        return ({}, {"rate": 1.0}, {"replaced_by_mask": 1.0, "replaced_by_random": 0.0}, all_random)

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return torch.where(source_lengths > 0, source_lengths + 1, 0) + target_lengths + 1  # EOS after each

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        end, nothing = torch.tensor([fw.EOS]), torch.empty(0, dtype=torch.int64)
        inputs, outputs, flags = [], [], []
        for source, target in zip(sources, targets, strict=True):
            given = torch.cat([source, end]) if len(source) else nothing
            shown, chosen = self._with_holes(target, generator)
            inputs.append(torch.cat([given, shown, end]))
            outputs.append(torch.cat([given, target, end]))
            flags.append(torch.cat([torch.zeros(len(given), dtype=torch.bool), chosen, torch.tensor([False])]))
        target_input, padding = fw.padded(inputs)  # (B, T)
        target_output, _ = fw.padded(outputs)  # (B, T)
        return fw.Batch(
            target_input=target_input,
            target_output=target_output,
            target_padding=padding,
            scored=pad_sequence(flags, batch_first=True),  # (B, T), filled up with False
        )

    def _with_holes(self, target: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Give what is shown of a target's `(n,)` pieces, and which of them are chosen, boolean `(n,)`."""
        options, number = self.options, len(target)
        places = torch.randperm(number, generator=generator)
        chosen, in_sight = places.tensor_split([min(number, max(1, round(options.rate * number)))])
        draws = torch.rand(len(chosen), generator=generator)
        others = target.new_full(chosen.shape, fw.MASK)
        if len(in_sight):
            others = target[in_sight[torch.randint(len(in_sight), chosen.shape, generator=generator)]]
        masked = draws < options.replaced_by_mask
        replaced = draws < options.replaced_by_mask + options.replaced_by_random
        shown = target.clone()
        shown[chosen] = torch.where(masked, fw.MASK, torch.where(replaced, others, target[chosen]))
        return shown, torch.zeros(number, dtype=torch.bool).index_fill(0, chosen, True)


@fw.hookimpl
def objective() -> type[fw.Objective]:
    return MaskedToken
