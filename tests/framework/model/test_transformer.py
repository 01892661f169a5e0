from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from framework.errors import SpecError
from framework.model import num_parameters
from framework.registry import Registry

REGISTRY = Registry.load()
SCORES = REGISTRY.names("attention_score")
SCHEMES = REGISTRY.names("positional_scheme")


def positions(length: int):
    return torch.arange(length)[None]


def difference(a, b) -> float:
    return (a - b).abs().max().item()


@pytest.mark.parametrize("score", SCORES)
def test_the_decoder_reads_the_past_and_never_the_future(build, batch, score):
    model = build(attention_score=score)
    memory = model.encode(batch.source, batch.source_padding).detach()
    embedded = model.source_table.embed(batch.target_input).detach().requires_grad_()
    x, _ = model.decoder(embedded, positions(5), batch.target_padding, memory, batch.source_padding)
    x[0, 2].square().sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[0, :3].abs().sum(-1) > 0).all()
    assert torch.equal(embedded.grad[0, 3:], torch.zeros(2, 16))
    assert torch.equal(embedded.grad[1:], torch.zeros(2, 5, 16))


@pytest.mark.parametrize("score", SCORES)
def test_a_changed_future_leaves_earlier_logits_bit_for_bit(build, batch, score):
    model = build(attention_score=score)
    changed = batch.target_input.clone()
    changed[:, 3:] = 7
    before, after = model(batch), model(replace(batch, target_input=changed))
    assert torch.equal(before[:, :3], after[:, :3])
    assert difference(before[:, 3:], after[:, 3:]) > 1e-3


@pytest.mark.parametrize("score", SCORES)
def test_padding_changes_nothing_wherever_the_batch_is_wider(build, score):
    model = build(attention_score=score)
    short = model.encode(torch.tensor([[5, 7]]), torch.tensor([[True, True]]))
    padded = model.encode(torch.tensor([[5, 7, 0, 0]]), torch.tensor([[True, True, False, False]]))
    assert difference(short, padded[:, :2]) < 1e-5


def test_what_stands_in_a_padded_place_is_never_read(build, batch):
    model = build()
    source = torch.where(batch.source_padding, batch.source, 9)
    target_input = torch.where(batch.target_padding, batch.target_input, 9)
    after = model(replace(batch, source=source, target_input=target_input))
    assert torch.equal(model(batch)[batch.target_padding], after[batch.target_padding])


def test_rows_of_a_batch_do_not_meet(build, batch):
    model = build()
    order = torch.tensor([2, 0, 1])
    shuffled = replace(
        batch,
        source=batch.source[order],
        source_padding=batch.source_padding[order],
        target_input=batch.target_input[order],
        target_padding=batch.target_padding[order],
    )
    assert difference(model(batch)[order], model(shuffled)) < 1e-5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_encoder_knows_the_order_exactly_if_it_has_positions(build, scheme):
    model = build(positional_scheme=scheme)
    pieces, real = torch.tensor([[11, 22, 33, 44]]), torch.ones(1, 4, dtype=torch.bool)
    order = torch.tensor([1, 3, 0, 2])  # not backwards: distances alone cannot tell that
    shuffled = model.encode(pieces[:, order], real)
    gap = difference(model.encode(pieces, real)[:, order], shuffled)
    assert gap < 1e-5 if scheme == "none" else gap > 1e-2


def test_positions_are_sinusoids_unless_something_else_is_named(build):
    assert build().encoder.scheme.name == "sinusoidal"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("score", SCORES)
def test_decoding_with_a_cache_gives_the_logits_of_one_pass(build, batch, score, scheme):
    model = build(attention_score=score, positional_scheme=scheme).eval()
    memory = model.encode(batch.source, batch.source_padding)
    whole, _ = model.decode(batch.target_input, positions(5), batch.target_padding, memory, batch.source_padding)
    states, pieces = model.start(), []
    for new in (slice(0, 1), slice(1, 2), slice(2, 4), slice(4, 5)):
        logits, states = model.decode(
            batch.target_input[:, new],
            positions(5)[:, new],
            batch.target_padding[:, new],
            memory,
            batch.source_padding,
            states,
        )
        pieces.append(logits)
    torch.testing.assert_close(torch.cat(pieces, 1), whole, atol=1e-5, rtol=1e-5)


def test_states_follow_a_reordered_beam(build, batch):
    model = build().eval()
    beam = torch.tensor([2, 2, 0, 1])
    memory = model.encode(batch.source, batch.source_padding)
    first, padding = batch.target_input[:, :3], batch.target_padding
    _, states = model.decode(first, positions(3), padding[:, :3], memory, batch.source_padding, model.start())
    assert states is not None
    following = torch.tensor([[21], [22], [23], [24]])
    real = torch.ones(4, 1, dtype=torch.bool)
    logits, _ = model.decode(
        following, torch.tensor([[3]]), real, memory[beam], batch.source_padding[beam], states.reorder(beam)
    )
    whole, _ = model.decode(
        torch.cat((first[beam], following), 1),
        positions(4),
        torch.cat((padding[beam, :3], real), 1),
        memory[beam],
        batch.source_padding[beam],
    )
    torch.testing.assert_close(logits, whole[:, 3:], atol=1e-5, rtol=1e-5)


def test_without_states_there_are_none_to_give(build, batch):
    model = build()
    memory = model.encode(batch.source, batch.source_padding)
    _, states = model.decode(batch.target_input, positions(5), batch.target_padding, memory, batch.source_padding)
    assert states is None


@pytest.mark.parametrize("score", SCORES)
def test_training_and_evaluation_give_the_same_numbers_without_dropout(build, batch, score):
    model = build(attention_score=score)
    batch.source_padding[2] = False  # an empty source
    batch.source_padding[:, -1] = False  # a column of padding alone
    trained = model.train()(batch)
    evaluated = model.eval()(batch)
    with torch.no_grad():
        without_gradients = model(batch)
    assert trained.isfinite().all()
    torch.testing.assert_close(trained, evaluated)
    torch.testing.assert_close(trained, without_gradients)


@pytest.mark.parametrize("score", SCORES)
def test_an_empty_source_leaves_every_gradient_finite(build, batch, score):
    model = build(attention_score=score)
    batch.source_padding[2] = False
    model(batch)[batch.target_padding].logsumexp(-1).sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


@pytest.mark.parametrize("score", SCORES)
def test_bfloat16_keeps_close_to_float32(build, batch, score):
    model = build(attention_score=score)
    exact = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(batch)
    assert difference(exact, rounded.float()) < 0.1


def test_dropout_is_on_in_training_and_off_in_evaluation(build, batch):
    model = build(dropout=0.3, attention_dropout=0.3, feed_forward_dropout=0.3)
    torch.manual_seed(0)
    assert difference(model.train()(batch), model(batch)) > 1e-2
    assert torch.equal(model.eval()(batch), model(batch))


def test_a_pre_norm_stack_ends_in_one_norm_and_a_post_norm_stack_has_none(build):
    pre, post = build(norm_order="pre_norm"), build(norm_order="post_norm")
    assert num_parameters(pre) - num_parameters(post) == 2 * 2 * 16  # gain and bias, once per stack
    assert num_parameters(build(norm_order="pre_norm", norm="rms_norm")) < num_parameters(pre)
    x = torch.randn(1, 3, 16)
    torch.testing.assert_close(pre.encoder.final_norm(x), torch.nn.functional.layer_norm(x, (16,), eps=1e-6))


@pytest.mark.parametrize(
    ("change", "removed"),
    [
        ({"sites": {"encoder": {"self": {"mixer": "none"}}}}, "self_mixing"),
        ({"feed_forward": "none"}, "feed_forward"),
    ],
)
def test_a_removed_sub_layer_goes_with_its_norm(build, batch, change, removed):
    model = build(**change)
    assert not [name for name in model.encoder.state_dict() if removed in name]
    assert model(batch).isfinite().all()


def test_a_stack_of_nothing_gives_its_embeddings(build, batch):
    model = build(mixer="none", feed_forward="none", positional_scheme="none")
    memory = model.encode(batch.source, batch.source_padding)
    assert torch.equal(memory, model.source_table.embed(batch.source))
    logits, states = model.decode(
        batch.target_input, positions(5), batch.target_padding, memory, batch.source_padding, model.start()
    )
    assert states is not None
    assert states.reorder(torch.tensor([2, 0, 1])) == states
    assert torch.equal(logits, model(batch))


def test_the_smallest_limit_of_the_schemes_counts(build):
    assert build().max_positions is None
    assert build(positional_scheme={"name": "learned", "options": {"max_positions": 40}}).max_positions == 40


def test_one_position_too_many_is_refused_in_words(build):
    model = build(positional_scheme={"name": "learned", "options": {"max_positions": 32}})
    fits, too_long = torch.full((1, 32), 5), torch.full((1, 33), 5)
    assert model.encode(fits, fits > 0).shape == (1, 32, 16)
    with pytest.raises(SpecError, match="a sequence reaches 33 positions and the learned table has 32"):
        model.encode(too_long, too_long > 0)


def test_head_widths_need_not_add_up_to_the_model_width(build, batch):
    assert build(num_heads=3, d_k=4, d_v=7)(batch).shape == (3, 5, 300)
