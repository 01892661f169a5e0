"""One stack alone: what a decoder and an encoder by themselves see, say and count in the loss."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from framework.contracts import BOS, MASK, PAD, Batch
from framework.model import assemble, initialize, num_parameters
from framework.model.transformer import positions_of
from framework.registry import Registry
from framework.spec import ModelSpec

REGISTRY = Registry.load()
SCORES = [{"attention_score": name} for name in REGISTRY.names("attention_score")]
SCHEMES = [{"positional_scheme": name} for name in REGISTRY.names("positional_scheme")]
MIXERS = [{"mixer": name} for name in ("recurrent", "convolution", "linear_attention", "none")]
PAIRS = [score | scheme for score in SCORES for scheme in SCHEMES]


def names(parts: dict[str, str]) -> str:
    return " ".join(parts.values())


alone = pytest.mark.parametrize("architecture", ["decoder_only", "encoder_only"])
every_score = pytest.mark.parametrize("parts", SCORES, ids=names)
every_way_of_mixing = pytest.mark.parametrize("parts", [*SCORES, *MIXERS], ids=names)


@pytest.fixture
def sequences() -> Batch:
    """Two sequences of five and three pieces, said one piece ahead."""
    whole = torch.tensor([[BOS, 11, 12, 13, 14, 15], [BOS, 21, 22, 23, PAD, PAD]])
    padding = whole[:, :-1] != PAD
    padding[1, 3:] = False
    return Batch(whole[:, :-1], whole[:, 1:], padding, padding)


def batch_of(rows: list[list[int]], lengths: list[int]) -> Batch:
    pieces = torch.tensor(rows)
    real = torch.arange(pieces.size(1)) < torch.tensor(lengths)[:, None]
    return Batch(target_input=pieces, target_output=pieces, target_padding=real, scored=real)


def test_a_decoder_alone_reads_the_past_and_never_the_future(build, sequences):
    model = build(architecture="decoder_only")
    embedded = model.table.embed(sequences.target_input).detach().requires_grad_()
    x, _ = model.decoder(embedded, positions_of(sequences.target_input), sequences.target_padding)
    x[0, 2].square().sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[0, :3].abs().sum(-1) > 0).all()
    assert not embedded.grad[0, 3:].any()
    assert not embedded.grad[1].any()


def test_an_encoder_alone_reads_both_sides(build, sequences):
    model = build(architecture="encoder_only")
    embedded = model.table.embed(sequences.target_input).detach().requires_grad_()
    x, _ = model.encoder(embedded, positions_of(sequences.target_input), sequences.target_padding)
    x[1, 1].square().sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[1, :3].abs().sum(-1) > 0).all()
    assert not embedded.grad[1, 3:].any()  # padding
    assert not embedded.grad[0].any()


@pytest.mark.parametrize("architecture", ["decoder_only", "encoder_only"])
def test_one_stack_scores_the_vocabulary_at_every_place(build, sequences, architecture):
    assert build(architecture=architecture)(sequences).shape == (2, 5, 300)


@pytest.mark.parametrize("architecture", ["decoder_only", "encoder_only"])
def test_one_table_serves_input_and_logits_unless_untied(build, architecture):
    tied = build(architecture=architecture)
    untied = build(architecture=architecture, tie_embeddings=False)
    assert num_parameters(untied) - num_parameters(tied) == 300 * 16


def test_one_stack_is_smaller_than_two(build):
    # A decoder layer of the pair has a cross site as well: four projections with bias, and a norm.
    cross = 2 * (4 * (16 * 16 + 16) + 2 * 16)
    alone = num_parameters(build(architecture="decoder_only"))
    assert alone == num_parameters(build(architecture="encoder_only"))
    assert num_parameters(build()) == 2 * alone + cross - 300 * 16


@pytest.mark.parametrize("parts", [*PAIRS, *MIXERS], ids=names)
def test_a_prompt_and_then_piece_by_piece_gives_the_logits_of_one_pass(build, parts):
    model = build(architecture="decoder_only", **parts).eval()
    pieces = torch.tensor([[BOS, 11, 12, 13, 14, 15], [BOS, 21, 22, 23, 24, 25]])
    real = torch.ones_like(pieces, dtype=torch.bool)
    whole, _ = model.decode(pieces, positions_of(pieces), real)
    states, parts = model.start(), []
    for new in (slice(0, 3), slice(3, 4), slice(4, 6)):
        logits, states = model.decode(pieces[:, new], positions_of(pieces)[:, new], real[:, new], states=states)
        parts.append(logits)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=1e-5)


def test_what_a_prefix_shows_is_not_in_the_loss_of_a_decoder(build, sequences):
    prefix = {"name": "prefix", "options": {"length": 3}}
    model = build(architecture="decoder_only", mask=prefix)
    # Positions 0 to 2 see each other: what is said at 0 and 1 stands at 1 and 2, in plain sight.
    assert model.restricted(sequences).scored.tolist() == [
        [False, False, True, True, True],
        [False, False, True, False, False],
    ]
    assert model.restricted(sequences).target_padding is sequences.target_padding


def test_what_a_prefix_shows_is_not_in_the_loss_of_an_encoder(build, sequences):
    model = build(architecture="encoder_only", mask={"name": "prefix", "options": {"length": 3}})
    assert model.restricted(sequences).scored.tolist() == [
        [False, False, False, True, True],
        [False, False, False, False, False],
    ]


def test_no_other_mask_leaves_anything_out_of_the_loss(build, sequences, batch):
    for architecture, given in (("decoder_only", sequences), ("encoder_only", sequences), ("encoder_decoder", batch)):
        for mask in ("full", "causal", {"name": "sliding_window", "options": {"window": 2}}):
            model = build(architecture=architecture, mask=mask)
            assert torch.equal(model.restricted(given).scored, given.scored)


def test_a_mixer_without_a_mask_scores_everything(build, sequences):
    model = build(architecture="decoder_only", mixer="recurrent")
    assert torch.equal(model.restricted(sequences).scored, sequences.scored)


@every_way_of_mixing
def test_a_changed_future_leaves_earlier_logits_of_a_decoder_alone_bit_for_bit(build, sequences, parts):
    model = build(architecture="decoder_only", **parts)
    changed = sequences.target_input.clone()
    changed[:, 3:] = 7
    before, after = model(sequences), model(replace(sequences, target_input=changed))
    assert torch.equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] - after[:, 3:]).abs().max() > 1e-3


@alone
@every_way_of_mixing
def test_a_sequence_means_the_same_however_wide_its_batch_is(build, architecture, parts):
    model = build(architecture=architecture, **parts)
    short = model(batch_of([[5, 7]], [2]))
    padded = model(batch_of([[5, 7, PAD, PAD]], [2]))
    torch.testing.assert_close(padded[:, :2], short, atol=1e-6, rtol=1e-6)


@alone
@every_way_of_mixing
def test_what_stands_in_a_padded_place_is_never_read(build, sequences, architecture, parts):
    model, real = build(architecture=architecture, **parts), sequences.target_padding
    other = replace(sequences, target_input=sequences.target_input.where(real, 9))
    assert torch.equal(model(other)[real], model(sequences)[real])


@alone
def test_a_real_piece_is_read_whatever_its_id_is(build, architecture):
    """What is padding follows from lengths: a vocabulary may give the id of padding a meaning of its own."""
    model = build(architecture=architecture)
    with_pad, without = batch_of([[PAD, 7, 8]], [3]), batch_of([[5, 7, 8]], [3])
    assert (model(with_pad)[:, 1:] - model(without)[:, 1:]).abs().max() > 1e-3


@alone
@every_way_of_mixing
def test_training_and_evaluation_give_the_same_numbers_without_dropout(build, architecture, parts):
    model = build(architecture=architecture, **parts)
    batch = batch_of([[5, 7, 8, PAD], [6, PAD, PAD, PAD], [PAD] * 4], [3, 1, 0])  # an empty row, and an empty column
    trained = model.train()(batch)
    evaluated = model.eval()(batch)
    with torch.no_grad():
        without_gradients = model(batch)
    assert trained.isfinite().all()
    torch.testing.assert_close(trained, evaluated)
    torch.testing.assert_close(trained, without_gradients)


@alone
@every_way_of_mixing
def test_a_row_of_padding_alone_leaves_every_gradient_finite(build, architecture, parts):
    model = build(architecture=architecture, **parts)
    model(batch_of([[5, 7], [PAD, PAD]], [2, 0])).logsumexp(-1).sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


@alone
@every_score
def test_bfloat16_keeps_close_to_float32(build, sequences, architecture, parts):
    model = build(architecture=architecture, **parts)
    exact = model(sequences)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(sequences)
    assert (exact - rounded.float()).abs().max() < 0.1


@pytest.mark.parametrize("parts", SCHEMES, ids=names)
def test_an_encoder_alone_knows_the_order_exactly_if_it_has_positions(build, parts):
    model = build(architecture="encoder_only", **parts)
    pieces, order = [11, 22, 33, 44], [1, 3, 0, 2]  # not backwards: distances alone cannot tell that
    there = model(batch_of([pieces], [4]))
    shuffled = model(batch_of([[pieces[place] for place in order]], [4]))
    gap = (there[:, order] - shuffled).abs().max()
    assert gap <= 1e-5 if parts == {"positional_scheme": "none"} else gap > 1e-2


def test_a_hidden_piece_has_an_id_of_its_own():
    assert MASK not in (PAD, 2)


BUFFERED = '''
"""A prefix whose length lies in a buffer."""

import torch

import framework as fw


class Buffered(fw.Mask):
    name = "buffered"
    handles_causality = True

    def __init__(self, options, dims):
        super().__init__(options, dims)
        self.register_buffer("length", torch.empty((), dtype=torch.long))

    def reset_parameters(self):
        self.length.fill_(3)

    def allowed(self, query_positions, key_positions):
        key = key_positions[:, None, None, :]
        return (key <= query_positions[:, None, :, None]) | (key < self.length)

    def scored(self, positions):
        return positions >= self.length


@fw.hookimpl
def mask():
    return Buffered
'''


def test_the_mask_that_is_asked_what_is_scored_is_one_that_mixes(tmp_path, sequences, data):
    (tmp_path / "buffered.py").write_text(BUFFERED)
    registry = Registry.load([tmp_path])
    fields = {"architecture": "decoder_only", "mask": "buffered", "d_model": 16, "num_heads": 2, "num_layers": 2}
    model = assemble(ModelSpec.model_validate_json(json.dumps(fields), context={"catalog": registry}), data, registry)
    initialize(model, 1)
    assert model.restricted(sequences).scored.tolist()[0] == [False, False, True, True, True]


def test_a_mask_that_no_mixer_reads_leaves_nothing_out_of_the_loss(build, sequences):
    prefix = {"name": "prefix", "options": {"length": 3}}
    sites = {"decoder": {"self": {"mixer": "linear_attention"}, "cross": {"mixer": "attention"}}}
    model = build(mask=prefix, sites=sites)  # the cross site reads it
    assert torch.equal(model.speaker.scored(torch.arange(5)[None]), torch.ones(1, 5, dtype=torch.bool))
