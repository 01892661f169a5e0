"""A right objective, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

import framework as fw


class Right(fw.Objective):
    """Say the next token, of which one in eight is left out of the loss at random; made for a test."""

    name = "right"
    architectures: ClassVar[frozenset[str]] = frozenset({"decoder_only"})
    metrics: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy")

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return source_lengths + target_lengths + 1

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        whole = [torch.cat(pair) for pair in zip(sources, targets, strict=True)]
        begin, end = torch.tensor([fw.BOS]), torch.tensor([fw.EOS])
        target_input, padding = fw.padded([torch.cat((begin, pieces)) for pieces in whole])
        target_output, _ = fw.padded([torch.cat((pieces, end)) for pieces in whole])
        drawn, _ = fw.padded([self.drawn(len(pieces) + 1, generator) for pieces in whole])
        return fw.Batch(target_input, target_output, padding, scored=padding & drawn)

    def drawn(self, length: int, generator: Generator) -> Tensor:
        return torch.rand(length, generator=generator) > 0.125


class ScoresPadding(Right):
    """Scores what stands at padding."""

    name = "scores_padding"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        return replace(batch, scored=torch.ones_like(batch.scored))


class ScoresNothing(Right):
    """Leaves everything out of the loss."""

    name = "scores_nothing"

    def drawn(self, length: int, generator: Generator) -> Tensor:
        return torch.zeros(length, dtype=torch.bool)


class OutsideTheVocabulary(Right):
    """Hides pieces behind an id of its own."""

    name = "outside_the_vocabulary"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        return replace(batch, target_input=batch.target_input.masked_fill(batch.target_input == fw.BOS, 1000))


class WithoutSource(Right):
    """Is for an architecture that reads a source, and gives none."""

    name = "without_source"
    architectures: ClassVar[frozenset[str]] = frozenset({"encoder_decoder"})


class ForgetsTheEnd(Right):
    """Counts pieces only, without the special one."""

    name = "forgets_the_end"

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return source_lengths + target_lengths


class DrawsByItself(Right):
    """Draws from torch's own generator."""

    name = "draws_by_itself"

    def drawn(self, length: int, generator: Generator) -> Tensor:
        return super().drawn(length, torch.default_generator)


class DrawsForTheBatch(Right):
    """Draws as much for each example as the longest needs."""

    name = "draws_for_the_batch"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, Generator())
        drawn = torch.rand(batch.scored.shape, generator=generator) > 0.125
        return replace(batch, scored=batch.target_padding & drawn)


class SeesTheAnswer(Right):
    """Reads what it should say."""

    name = "sees_the_answer"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        return replace(batch, target_input=batch.target_output)


class NothingToStartFrom(Right):
    """Begins with no special piece, so that an empty text is nothing at all."""

    name = "nothing_to_start_from"

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return source_lengths + target_lengths

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        whole = [torch.cat(pair) for pair in zip(sources, targets, strict=True)]
        target_input, padding = fw.padded(whole)
        target_output, _ = fw.padded(
            [torch.cat((pieces[1:], torch.tensor([fw.EOS])))[: len(pieces)] for pieces in whole]
        )
        return fw.Batch(target_input, target_output, padding, scored=padding)


class ChangesExamples(Right):
    """Masks a piece in the example itself."""

    name = "changes_examples"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        for pieces in targets:
            pieces[:1] = fw.MASK
        return super().batch(sources, targets, generator)


class Translates(Right):
    """Says a target of which the encoder reads the source: right."""

    name = "translates"
    architectures: ClassVar[frozenset[str]] = frozenset({"encoder_decoder"})

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return torch.maximum(source_lengths, target_lengths) + 1

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        source, padding = fw.padded([torch.cat((pieces, torch.tensor([fw.EOS]))) for pieces in sources])
        batch = super().batch([pieces[:0] for pieces in sources], targets, generator)
        return replace(batch, source=source, source_padding=padding)


class ReadsPaddingOfTheSource(Translates):
    """Says that all of the source is real."""

    name = "reads_padding_of_the_source"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        return replace(batch, source_padding=torch.ones_like(batch.source, dtype=torch.bool))  # type: ignore[arg-type]


class SourceOutsideTheVocabulary(Translates):
    """Counts the pieces of sources behind those of targets."""

    name = "source_outside_the_vocabulary"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        assert batch.source is not None
        return replace(batch, source=batch.source + 1000)


class SourceInNumbers(Translates):
    """Gives a source of numbers that are not whole."""

    name = "source_in_numbers"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        assert batch.source is not None
        return replace(batch, source=batch.source.float())


class ReadsPadding(Right):
    """Says that all is real."""

    name = "reads_padding"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        batch = super().batch(sources, targets, generator)
        return replace(batch, target_padding=torch.ones_like(batch.target_padding))


class StartsElsewhere(Right):
    """Generates without the source that it is trained with."""

    name = "starts_elsewhere"

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        generating = not any(map(len, targets))
        return super().batch([pieces[:0] for pieces in sources] if generating else sources, targets, generator)


@fw.hookimpl
def objective() -> tuple[type[fw.Objective], ...]:
    return (
        Right, ScoresPadding, ScoresNothing, OutsideTheVocabulary, WithoutSource, ForgetsTheEnd, DrawsByItself,
        DrawsForTheBatch, SeesTheAnswer, NothingToStartFrom, ChangesExamples, Translates, ReadsPaddingOfTheSource,
        SourceOutsideTheVocabulary, SourceInNumbers, ReadsPadding, StartsElsewhere,
    )  # fmt: skip
