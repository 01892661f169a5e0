from __future__ import annotations

import pytest
import torch

import framework as fw
from plugins.objectives.next_token import NextToken

PAD, BOS, EOS = fw.PAD, fw.BOS, fw.EOS


@pytest.fixture
def batch():
    objective = NextToken(NextToken.Options())
    return lambda sources, targets: objective.batch(
        [torch.tensor(source, dtype=torch.int64) for source in sources],
        [torch.tensor(target, dtype=torch.int64) for target in targets],
        torch.Generator(),
    )


def test_a_pair_is_one_sequence_and_a_text_has_nothing_before_it(batch):
    made = batch([[7, 8], []], [[5, 6], [9]])
    assert made.target_input.tolist() == [[BOS, 7, 8, EOS, 5, 6], [BOS, 9, PAD, PAD, PAD, PAD]]
    assert made.target_output.tolist() == [[7, 8, EOS, 5, 6, EOS], [9, EOS, PAD, PAD, PAD, PAD]]
    assert made.target_padding.tolist() == [[True] * 6, [True, True, False, False, False, False]]
    assert made.source is None
    assert made.source_padding is None


def test_a_target_and_its_end_are_scored_and_a_source_is_not(batch):
    made = batch([[7, 8], []], [[5, 6], [9]])
    assert [row[scored].tolist() for row, scored in zip(made.target_output, made.scored, strict=True)] == [
        [5, 6, EOS],
        [9, EOS],
    ]
    assert not (made.scored & ~made.target_padding).any()


def test_generation_starts_from_the_source_and_its_end(batch):
    made = batch([[7, 8, 9], []], [[], []])
    assert [row[real].tolist() for row, real in zip(made.target_input, made.target_padding, strict=True)] == [
        [BOS, 7, 8, 9, EOS],
        [BOS],
    ]


def test_lengths_are_those_of_the_sequences(batch):
    sizes = [(0, 0), (0, 3), (2, 0), (4, 3)]
    lengths = NextToken(NextToken.Options()).lengths(*map(torch.tensor, zip(*sizes, strict=True)))
    assert lengths.tolist() == [batch([[5] * source], [[6] * target]).target_input.shape[1] for source, target in sizes]


def test_nothing_that_is_scored_is_given_before_it_is_said(batch):
    """Position p reads what was said before p, which is what position p - 1 should have said."""
    made = batch([[7, 8], []], [[5, 6], [9]])
    assert (
        made.target_input[:, 1:]
        .where(made.target_padding[:, 1:], PAD)
        .equal(made.target_output[:, :-1].where(made.target_padding[:, 1:], PAD))
    )


def test_it_trains_a_decoder_alone(registry):
    plugin = registry.plugin("objective", "next_token")
    assert plugin.architectures == {"decoder_only"}
    assert plugin.metrics == ("perplexity", "accuracy")
    of_text = {"bleu", "bleu_compound_split", "chrf", "exact_match"}
    assert set(plugin.further_metrics) == of_text | {"smoothed_perplexity", "word_perplexity"}
    assert not plugin.needs_sources
