import math

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

    def loss(self, logits, batch, label_smoothing):
        self.empty_batches -= 1
        if self.empty_batches >= 0:
            return logits.sum() * 0, torch.tensor(0)
        return super().loss(logits, batch, label_smoothing)


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
