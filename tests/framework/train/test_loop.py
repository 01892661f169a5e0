import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from framework.data.batches import Position
from framework.errors import SpecError
from framework.train.errors import Diverged
from framework.train.loop import Training
from framework.train.schedule import learning_rate
from plugins.objectives.masked_token import MaskedToken
from plugins.objectives.next_token import NextToken
from plugins.objectives.translation import Translation


def weights(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def losses(training, updates):
    return [training.update()["train/loss"] for _ in range(updates)]


def test_an_update_gives_its_measurements(workshop):
    training = workshop.training()
    values = training.update()
    assert values.keys() == {"train/loss", "train/learning_rate", "train/gradient_norm", "train/tokens"}
    assert all(math.isfinite(value) for value in values.values())
    assert values["train/loss"] == training.last_loss
    assert values["train/tokens"] <= 128


def test_the_measured_loss_is_per_token_and_smoothed(workshop):
    batch = workshop.objective.batch(*[workshop.data.split("train").sources(torch.arange(16))] * 2, torch.Generator())
    model = workshop.model(dropout=0.0)
    with torch.no_grad():
        loss, tokens = workshop.objective.loss(model(batch), batch, 0.2)
    values = workshop.training(model, label_smoothing=0.2, batch_tokens=10_000).update()
    assert values["train/loss"] == pytest.approx(float(loss / tokens), rel=1e-5)
    assert values["train/tokens"] == tokens


def test_updates_count_from_one_and_follow_the_schedule(workshop):
    training = workshop.training(steps=5, warmup_steps=3)
    rates = []
    while not training.finished:
        rates.append(training.update()["train/learning_rate"])
    assert training.step == 5
    assert rates == [learning_rate(step, 32, 3, 0.3) for step in range(1, 6)]


def test_the_same_numbers_whatever_ran_before_in_the_process(workshop):
    first = workshop.training()
    expected = losses(first, 5)
    torch.rand(1000)
    losses(workshop.training(seed=9), 3)
    second = workshop.training()
    assert losses(second, 5) == expected
    assert same(weights(first.model), weights(second.model))


def test_evaluation_between_updates_changes_nothing(workshop):
    expected = losses(workshop.training(), 4)
    training = workshop.training()
    measured = []
    for _ in range(4):
        measured += losses(training, 1)
        training.model.eval()
    assert measured == expected


def test_the_seed_decides_order_and_dropout(workshop):
    assert losses(workshop.training(seed=1), 3) != losses(workshop.training(seed=2), 3)


def test_an_infinite_loss_is_divergence_at_its_step(workshop):
    training = workshop.training(learning_rate_factor=1e30)
    first = training.update()["train/loss"]
    before = weights(training.model)
    with pytest.raises(Diverged, match=r"diverged at step 2: the loss is (nan|inf); last finite loss: \d") as caught:
        training.update()
    assert (caught.value.step, caught.value.last_finite_loss) == (2, first)
    assert training.step == 1
    assert same(before, weights(training.model))


def test_an_infinite_gradient_is_divergence_before_the_weights_are_touched(workshop):
    training = workshop.training()
    next(training.model.parameters()).register_hook(lambda gradient: gradient * math.inf)
    before = weights(training.model)
    with pytest.raises(Diverged, match=r"the norm of the gradients is (nan|inf)") as caught:
        training.update()
    assert (caught.value.step, caught.value.last_finite_loss) == (1, None)
    assert same(before, weights(training.model))


def test_gradients_are_clipped_to_their_global_norm(workshop):
    training = workshop.training(gradient_clip=0.01)
    reported = training.update()["train/gradient_norm"]
    clipped = torch.nn.utils.get_total_norm([parameter.grad for parameter in training.model.parameters()])
    assert reported > 0.01
    assert clipped.item() == pytest.approx(0.01, rel=1e-3)


def test_bfloat16_is_for_the_forward_pass_only(workshop):
    exact, rough = workshop.training(), workshop.training(precision="bfloat16")
    assert losses(rough, 3) == pytest.approx(losses(exact, 3), rel=0.02)
    state = [tensor for parts in rough.optimizer.state.values() for tensor in parts.values()]
    assert {tensor.dtype for tensor in [*rough.model.parameters(), *state]} == {torch.float32}


class SometimesNothing(Translation):
    """An objective whose first batches hold no token that counts."""

    def __init__(self, empty_batches):
        super().__init__(Translation.Options())
        self.empty_batches = empty_batches

    def batch(self, sources, targets, generator):
        self.empty_batches -= 1
        batch = super().batch(sources, targets, generator)
        return replace(batch, scored=batch.scored & (self.empty_batches < 0))


def test_a_batch_without_a_token_that_counts_makes_no_update(workshop):
    split = workshop.data.split("train")
    training = Training(workshop.model(), SometimesNothing(2), workshop.train_spec(), 32, split, 1)
    assert math.isfinite(training.update()["train/loss"])
    assert (training.step, training.position) == (1, Position(0, 3))


def test_pieces_are_hidden_alike_for_every_row_of_a_seed(workshop):
    def hidden(dropout: float):
        objective, seen = MaskedToken(MaskedToken.Options()), []
        model = workshop.model(architecture="encoder_only", dropout=dropout)
        model.register_forward_pre_hook(lambda module, given: seen.append(given[0].target_input))
        training = Training(model, objective, workshop.train_spec(), 32, workshop.data.split("train"), seed=1)
        losses(training, 6)
        return seen

    assert all(map(torch.equal, hidden(0.0), hidden(0.5)))


def test_an_epoch_without_a_scored_token_ends_training(workshop):
    mask = {"name": "prefix", "options": {"length": 100}}
    model = workshop.model(architecture="decoder_only", mask=mask)
    objective = NextToken(NextToken.Options())
    training = Training(model, objective, workshop.train_spec(), 32, workshop.data.split("train"), seed=1)
    with pytest.raises(SpecError, match=r"model\.mask: no token of the split 'train' enters the loss: its mask or"):
        training.update()


def test_pieces_are_hidden_anew_in_every_batch_and_epoch(workshop):
    objective = MaskedToken(MaskedToken.Options(rate=0.5))
    holes: dict[tuple[int, ...], list[tuple[bool, ...]]] = {}
    training = Training(
        workshop.model(architecture="encoder_only"),
        objective,
        workshop.train_spec(batch_tokens=10_000),
        32,
        workshop.data.split("train"),
        seed=1,
    )

    def note(module, given):
        batch = given[0]
        for row in range(len(batch.scored)):
            piece = tuple(batch.target_output[row, batch.target_padding[row]].tolist())
            holes.setdefault(piece, []).append(tuple(batch.scored[row, batch.target_padding[row]].tolist()))

    training.model.register_forward_pre_hook(note)
    losses(training, 3)  # one batch an epoch
    assert all(len(set(found)) > 1 for piece, found in holes.items() if len(piece) > 16)


def gradients(training):
    """What one update at rate zero leaves in the weights."""
    training.optimizer.step = lambda: None  # the weights stay, so that gradients of several trainings compare
    values = training.update()
    return values, {name: parameter.grad.clone() for name, parameter in training.model.named_parameters()}


@pytest.mark.parametrize("micro_batch_tokens", [1, 13, 50, 127])
def test_parts_add_up_to_the_large_batch(workshop, micro_batch_tokens):
    def both(**fields):
        return workshop.training(workshop.model(dropout=0.0, num_layers=2), batch_tokens=128, **fields)

    whole, in_parts = both(), both(micro_batch_tokens=micro_batch_tokens)
    (values, expected), (sums, found) = gradients(whole), gradients(in_parts)
    assert sums == pytest.approx(values, rel=1e-5)
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-5, atol=1e-7)


def test_parts_and_the_large_batch_stay_together_over_updates(workshop):
    def both(**fields):
        return workshop.training(workshop.model(dropout=0.0), batch_tokens=128, warmup_steps=4000, **fields)

    whole, in_parts = both(), both(micro_batch_tokens=30)
    assert losses(in_parts, 20) == pytest.approx(losses(whole, 20), rel=1e-5)
    assert whole.step == in_parts.step == 20  # the schedule counts updates, not parts
    assert whole.optimizer.param_groups[0]["lr"] == in_parts.optimizer.param_groups[0]["lr"]


def test_parts_hold_no_more_than_asked(workshop, monkeypatch):
    training = workshop.training(batch_tokens=128, micro_batch_tokens=40)
    seen, forward = [], training.model.forward

    def noting(batch):
        seen.append(batch)
        return forward(batch)

    monkeypatch.setattr(training.model, "forward", noting)
    training.update()
    assert len(seen) > 1
    assert all(max(part.source.numel(), part.target_input.numel()) <= 40 for part in seen)


@pytest.mark.parametrize("micro_batch_tokens", [None, 40])
@pytest.mark.parametrize("precision", ["tf32", "bfloat16", "float16"])
def test_every_precision_learns_with_finite_numbers(workshop, precision, micro_batch_tokens):
    fields = {"precision": precision, "micro_batch_tokens": micro_batch_tokens, "learning_rate_factor": 1.0}
    training = workshop.training(workshop.model(dropout=0.0, norm_order="pre_norm"), **fields)
    values = [training.update() for _ in range(60)]
    assert all(math.isfinite(value) for measured in values for value in measured.values())
    assert values[-1]["train/loss"] < values[0]["train/loss"] - 1.0
    assert all(weight.dtype == torch.float32 for weight in training.model.parameters())


def test_smoothing_over_the_others_leaves_the_right_piece_the_rest(workshop):
    """1 - ε for the right piece and ε / (V - 1) for each other, written out on random logits."""
    batch = workshop.objective.batch(*[workshop.data.split("train").sources(torch.arange(4))] * 2, torch.Generator())
    logits = torch.randn(*batch.target_output.shape, 260, generator=torch.Generator().manual_seed(0))
    spec = workshop.train_spec(label_smoothing=0.1, label_smoothing_over="others")
    summed, tokens = workshop.objective.loss(logits, batch, spec.smoothing(260))
    wanted = torch.full_like(logits, 0.1 / 259).scatter(-1, batch.target_output[..., None], 0.9)
    expected = -(wanted * logits.log_softmax(-1)).sum(-1)[batch.scored].mean()
    assert float(summed / tokens) == pytest.approx(float(expected), rel=1e-5)
    assert workshop.train_spec(label_smoothing=0.1).smoothing(260) == 0.1


def overflowing(training, times):
    """Let the gradients of the first `times` batches overflow, as a scale too large does."""
    left = iter(range(times))
    backward = training.arithmetic.backward
    weight = next(training.model.parameters())

    def backward_with_overflow(loss):
        backward(loss)
        if next(left, None) is not None:
            weight.grad[0] = math.inf

    training.arithmetic.backward = backward_with_overflow
    return training


def test_an_overflow_in_float16_skips_the_update_and_counts_no_step(workshop):
    """B28: ten updates are ten applied ones, and the schedule has moved ten times."""
    training = overflowing(workshop.training(steps=10, precision="float16", warmup_steps=3), times=1)
    scale = training.arithmetic.state()["scale"]
    values = []
    while not training.finished:
        values.append(training.update())
    assert [measured["train/learning_rate"] for measured in values] == [
        learning_rate(step, 32, 3, 0.3) for step in range(1, 11)
    ]
    assert {float(state["step"]) for state in training.optimizer.state.values()} == {10.0}
    assert values[0]["train/skipped_steps"] == values[-1]["train/skipped_steps"] == 1
    assert training.arithmetic.state()["scale"] == scale / 2
    assert training.position != Position(0, 0)


def test_a_skipped_update_leaves_the_weights_alone(workshop):
    training = overflowing(workshop.training(precision="float16"), times=1)
    training.arithmetic.step = lambda optimizer: None
    before = weights(training.model)
    training.update()
    assert same(before, weights(training.model))


def test_overflows_without_end_are_divergence(workshop):
    training = overflowing(workshop.training(precision="float16"), times=1000)
    with pytest.raises(Diverged, match=r"step 1: the gradients overflowed float16 40 times in a row"):
        training.update()
    assert training.skipped == 40
    assert training.step == 0


def test_other_precisions_do_not_skip(workshop):
    training = overflowing(workshop.training(precision="bfloat16"), times=1)
    with pytest.raises(Diverged, match="the norm of the gradients is inf"):
        training.update()


def products():
    cudnn: Any = torch.backends.cudnn
    kernels = [kernel.fp32_precision for kernel in (cudnn.conv, cudnn.rnn)]
    return torch.get_float32_matmul_precision(), *kernels


@pytest.mark.parametrize("outside", ["highest", "high"])
@pytest.mark.parametrize(
    ("precision", "expected"), [("tf32", ("high", "tf32", "tf32")), ("float32", ("highest", "ieee", "ieee"))]
)
def test_products_are_as_asked_within_an_update_only(workshop, monkeypatch, precision, expected, outside):
    torch.set_float32_matmul_precision(outside)
    before = products()
    training = workshop.training(precision=precision)
    seen, forward = [], training.model.forward

    def noting(batch):
        seen.append(products())
        return forward(batch)

    monkeypatch.setattr(training.model, "forward", noting)
    training.update()
    after = products()
    torch.set_float32_matmul_precision("highest")
    assert seen == [expected]
    assert after == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what torch's compiler warns of are parts of torch
def test_a_compiled_model_learns_the_same(workshop):
    plain, compiled = (workshop.training(workshop.model(dropout=0.0), compile=choice) for choice in (False, True))
    assert losses(compiled, 5) == pytest.approx(losses(plain, 5), rel=1e-4)


def test_gradients_too_large_only_together_are_scaled_down_too(workshop):
    """Each is finite and their norm is not, of which torch's scaler takes no notice."""
    training = workshop.training(precision="float16")
    scale, backward = training.arithmetic.state()["scale"], training.arithmetic.backward
    weight, left = next(training.model.parameters()), iter(range(3))

    def backward_with_large_gradients(loss):
        backward(loss)
        if next(left, None) is not None:
            weight.grad.fill_(1e25 * training.arithmetic.state()["scale"])

    training.arithmetic.backward = backward_with_large_gradients
    training.update()
    assert training.skipped == 3
    assert training.arithmetic.state()["scale"] == scale / 8
