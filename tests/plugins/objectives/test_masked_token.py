from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

import framework as fw
from plugins.objectives.masked_token import MaskedToken

PAD, EOS, MASK = fw.PAD, fw.EOS, fw.MASK
SOURCES = [torch.arange(10, 10 + length) for length in (3, 0, 5, 1, 0, 7)]
TARGETS = [torch.arange(40, 40 + length) for length in (8, 20, 1, 0, 3, 40)]
MANY = [torch.arange(10, 50)] * 500
NONE = [torch.empty(0, dtype=torch.int64)] * 500


def objective(**options):
    return MaskedToken(MaskedToken.Options(**options))


def batch(sources, targets, seed=0, **options):
    return objective(**options).batch(sources, targets, torch.Generator().manual_seed(seed))


def real(values, padding):
    return [row[kept].tolist() for row, kept in zip(values, padding, strict=True)]


def chosen_of(made):
    return real(made.scored, made.target_padding)


def test_a_pair_is_one_sequence_and_a_text_has_nothing_before_it():
    made = batch(SOURCES, TARGETS)
    assert real(made.target_output, made.target_padding) == [
        [*source.tolist(), *([EOS] if len(source) else []), *target.tolist(), EOS]
        for source, target in zip(SOURCES, TARGETS, strict=True)
    ]
    assert made.target_output[~made.target_padding].eq(PAD).all()
    assert made.source is None
    assert made.source_padding is None


def test_lengths_are_those_of_the_sequences():
    lengths = objective().lengths(torch.tensor(list(map(len, SOURCES))), torch.tensor(list(map(len, TARGETS))))
    assert lengths.equal(batch(SOURCES, TARGETS).target_padding.sum(1))


@pytest.mark.parametrize("rate", [0.01, 0.15, 0.5, 1.0])
def test_the_rate_of_a_targets_pieces_is_chosen_and_at_least_one(rate):
    made = batch(SOURCES, TARGETS, rate=rate)
    assert made.scored.sum(1).tolist() == [
        max(1, round(rate * len(target))) if len(target) else 0 for target in TARGETS
    ]


def test_only_pieces_of_a_target_are_chosen_or_changed():
    made = batch(SOURCES, TARGETS, rate=1.0, replaced_by_mask=1.0, replaced_by_random=0.0)
    assert real(made.target_output, made.scored) == [target.tolist() for target in TARGETS]
    assert made.target_input[made.scored].eq(MASK).all()
    assert made.target_input[~made.scored].equal(made.target_output[~made.scored])


def test_what_is_not_chosen_stands_as_it_is():
    made = batch(SOURCES, TARGETS, rate=0.5)
    assert made.target_input[~made.scored].equal(made.target_output[~made.scored])


def test_chosen_pieces_are_hidden_replaced_or_kept_as_often_as_asked():
    made = batch(NONE, MANY, replaced_by_mask=0.5, replaced_by_random=0.3)
    shown, true = made.target_input[made.scored], made.target_output[made.scored]
    shares = [(shown == MASK).float().mean(), ((shown != MASK) & (shown != true)).float().mean()]
    shares.append((shown == true).float().mean())
    assert [share.item() for share in shares] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)  # 3000 draws: sd below 0.01


def test_a_piece_in_place_of_another_is_one_of_its_text_that_is_in_sight():
    made = batch(SOURCES, TARGETS, rate=0.5, replaced_by_mask=0.0, replaced_by_random=1.0)
    for shown, true, chosen, source, target in zip(
        made.target_input, made.target_output, made.scored, SOURCES, TARGETS, strict=True
    ):
        in_sight = set(target.tolist()) - set(true[chosen].tolist())
        assert set(shown[chosen].tolist()) <= (in_sight or {MASK})
        assert not set(shown[chosen].tolist()) & set(source.tolist())


def test_what_is_shown_tells_nothing_of_what_is_hidden():
    """Other pieces in the chosen places, the same draws: the input is the same."""
    options = {"rate": 0.5, "replaced_by_mask": 0.6, "replaced_by_random": 0.4}
    made = batch(SOURCES, TARGETS, **options)
    holes = [row[len(row) - 1 - len(target) : -1] for row, target in zip(chosen_of(made), TARGETS, strict=True)]
    other = [target + 100 * torch.tensor(hole).long() for target, hole in zip(TARGETS, holes, strict=True)]
    again = batch(SOURCES, other, **options)
    assert again.target_input.equal(made.target_input)
    assert not again.target_output.equal(made.target_output)


@pytest.mark.parametrize("cut", [[6], [3, 3], [1, 4, 1], [1] * 6])
def test_however_batches_are_cut_the_same_pieces_are_hidden(cut):
    whole = batch(SOURCES, TARGETS, rate=0.3)
    generator = torch.Generator().manual_seed(0)
    inputs, chosen, start = [], [], 0
    for size in cut:
        part = slice(start, start := start + size)
        made = objective(rate=0.3).batch(SOURCES[part], TARGETS[part], generator)
        inputs += real(made.target_input, made.target_padding)
        chosen += chosen_of(made)
    assert inputs == real(whole.target_input, whole.target_padding)
    assert chosen == chosen_of(whole)


def test_another_seed_hides_other_pieces_and_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    first, again, other = (batch(SOURCES, TARGETS, seed=seed) for seed in (1, 1, 2))
    assert torch.get_rng_state().equal(before)
    assert first.target_input.equal(again.target_input)
    assert not first.scored.equal(other.scored)


def test_every_piece_is_as_likely_to_be_chosen():
    made = batch(NONE, MANY, rate=0.25)
    share = made.scored[:, :-1].float().mean(0)
    assert share.mean().item() == 0.25
    assert (share - 0.25).abs().max().item() < 0.08  # 500 draws each: sd 0.02


def test_examples_are_left_as_they_are():
    targets = [target.clone() for target in TARGETS]
    batch(SOURCES, targets, rate=1.0)
    assert all(one.equal(other) for one, other in zip(targets, TARGETS, strict=True))


def test_a_batch_of_texts_without_pieces_scores_nothing():
    made = batch(NONE[:2], NONE[:2])
    assert made.target_input.tolist() == [[EOS], [EOS]]
    assert not made.scored.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "greater than 0"),
        ({"rate": 1.5}, "less than or equal to 1"),
        (
            {"replaced_by_mask": 0.8, "replaced_by_random": 0.3},
            "replaced_by_mask 0.8 and replaced_by_random 0.3 are more than 1 together: lower one of them",
        ),
    ],
)
def test_shares_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        MaskedToken.Options(**options)


def test_it_trains_an_encoder_alone(registry):
    plugin = registry.plugin("objective", "masked_token")
    assert plugin.architectures == {"encoder_only"}
    assert plugin.metrics == ("perplexity", "accuracy")
    assert plugin.further_metrics == ("smoothed_perplexity",)
    assert not plugin.needs_sources
