import json
import os
import re
import signal
import time

import pytest
import torch
from pydantic import JsonValue
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from framework.train.checkpoint import restore, save
from framework.train.errors import CheckpointUnreadable


def weights(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def updates(training, number):
    return [training.update() for _ in range(number)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.safetensors"


PER_EPOCH = 3
"""Batches that the workshop's data makes."""


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float16"])
@pytest.mark.parametrize("stop", [0, 1, 2 * PER_EPOCH, 8, 12])
def test_stopping_and_going_on_equals_never_stopping(workshop, path, stop, precision):
    """B29: at no step, at step 1, at an epoch's end, within an epoch, at the last step."""
    straight = workshop.training(workshop.model(dropout=0.3), steps=12, precision=precision)
    expected, drawn = updates(straight, 12), torch.get_rng_state()

    stopped = workshop.training(workshop.model(dropout=0.3), steps=12, precision=precision)
    before = updates(stopped, stop)
    save(path, stopped, {})
    if not stopped.finished:
        updates(stopped, 2)  # lost with the process

    torch.rand(100)
    resumed = workshop.training(workshop.model(seed=5, dropout=0.3), steps=12, precision=precision)
    restore(path, resumed)
    assert resumed.step == stop
    assert before + updates(resumed, 12 - stop) == expected  # losses, rates, norms, tokens: to the last bit
    for state in (lambda training: weights(training.model), adam):
        assert same(state(resumed), state(straight))
    assert resumed.arithmetic.state() == straight.arithmetic.state()
    assert resumed.position == straight.position
    assert torch.equal(torch.get_rng_state(), drawn)


def adam(training):
    return {
        f"{name}/{part}": tensor
        for name, parameter in training.model.named_parameters()
        for part, tensor in training.optimizer.state[parameter].items()
    }


@pytest.mark.parametrize(("stop", "index"), [(2 * PER_EPOCH, PER_EPOCH), (8, 2)])
def test_the_stops_are_at_an_epoch_s_end_and_within_one(workshop, stop, index):
    training = workshop.training()
    updates(training, stop)
    assert training.position.epoch > 0
    assert training.position.index == index
    assert len(list(training._batches.epoch(0))) == PER_EPOCH


def test_divergence_after_resuming_still_knows_the_last_finite_loss(workshop, path):
    training = workshop.training()
    values = training.update()
    save(path, training, {})
    resumed = workshop.training()
    restore(path, resumed)
    assert resumed.last_loss == values["train/loss"]


def test_what_the_caller_adds_comes_back(workshop, path):
    extra: dict[str, JsonValue] = {"seconds": 1.5, "attempts": [1, 2], "note": None}
    save(path, workshop.training(), extra)
    assert restore(path, workshop.training()) == extra


def test_without_a_checkpoint_there_is_nothing_to_restore(workshop, path):
    assert restore(path, workshop.training()) is None


def test_equal_states_are_equal_files(workshop, path):
    training = workshop.training()
    updates(training, 2)
    save(path, training, {"a": 1, "b": 2})
    once = path.read_bytes()
    save(path, training, {"a": 1, "b": 2})
    assert path.read_bytes() == once


def test_a_weight_with_two_names_is_stored_once_and_stays_tied(workshop, path):
    model = workshop.model()
    model.second_name = model.source_table
    training = workshop.training(model)
    training.update()
    save(path, training, {})
    with safe_open(path, framework="pt") as file:
        stored = [key for key in file.keys() if key.startswith("model/")]  # noqa: SIM118
    assert len(stored) == len(list(model.parameters()))

    other = workshop.model(seed=2)
    other.second_name = other.source_table
    restore(path, workshop.training(other))
    assert other.second_name is other.source_table
    assert same(weights(other), weights(model))


@pytest.mark.parametrize("keep", [0, 4, 1000, -1])
def test_a_torn_checkpoint_is_said_and_touches_nothing(workshop, path, keep):
    training = workshop.training()
    training.update()
    save(path, training, {})
    path.write_bytes(path.read_bytes()[:keep])
    before = weights(training.model)
    with pytest.raises(CheckpointUnreadable, match=r"checkpoint\.safetensors cannot be read: .* training starts again"):
        restore(path, training)
    assert same(before, weights(training.model))
    assert training.step == 1


def test_a_checkpoint_of_another_model_is_refused_by_the_names_that_differ(workshop, path):
    save(path, workshop.training(), {})
    other = workshop.training(workshop.model(d_ff=48))
    before = weights(other.model)
    with pytest.raises(CheckpointUnreadable, match=r"it is of another model, which differs in .*feed_forward"):
        restore(path, other)
    assert same(before, weights(other.model))


def edited(path, progress=None, **tensors):
    """Write a checkpoint again, with other metadata and other tensors; None takes a tensor out."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    kept = {name: tensor for name, tensor in (load_file(path) | tensors).items() if tensor is not None}
    save_file(kept, path, metadata if progress is None else {"training": progress})


WHOLE = {"step": 1, "skipped": 0, "position": [0, 1], "arithmetic": {}, "last_loss": 5.0, "extra": {}}


@pytest.mark.parametrize(
    ("progress", "reason"),
    [
        ("{}", "step: Field required"),
        ("{", "Invalid JSON: EOF while parsing"),
        *[(json.dumps({k: v for k, v in WHOLE.items() if k != name}), f"{name}: Field required") for name in WHOLE],
        (json.dumps(WHOLE | {"step": -1}), "step: Input should be greater than or equal to 0"),
        (json.dumps(WHOLE | {"position": [1]}), "position.1: Field required"),
    ],
)
def test_a_checkpoint_that_does_not_say_where_training_stood_touches_nothing(workshop, path, progress, reason):
    save(path, workshop.training(), {})
    edited(path, progress)
    words = f"it does not say where training stood: {re.escape(reason)}"
    _refused(workshop, path, words)


def test_what_a_newer_version_adds_to_a_checkpoint_is_passed_over(workshop, path):
    save(path, workshop.training(), {})
    edited(path, json.dumps(WHOLE | {"novelty": 1}))
    training = workshop.training()
    assert restore(path, training) == {}
    assert training.step == 1


@pytest.mark.parametrize("state", [None, torch.zeros(3, dtype=torch.uint8), torch.zeros(5056)])
def test_a_checkpoint_without_the_generator_s_state_touches_nothing(workshop, path, state):
    save(path, workshop.training(), {})
    edited(path, **{"generator/cpu": state})
    _refused(workshop, path, "it does not hold the state of torch's generator on cpu")


@pytest.mark.parametrize("part", ["step", "exp_avg", "exp_avg_sq"])
@pytest.mark.parametrize("tensor", [None, torch.zeros(2, 3, 5)])
def test_a_checkpoint_that_lacks_a_part_of_adam_touches_nothing(workshop, path, part, tensor):
    training = workshop.training()
    training.update()
    save(path, training, {})
    edited(path, **{f"adam/source_table.weight/{part}": tensor})
    _refused(workshop, path, "what it holds of Adam does not fit source_table.weight")


def test_adam_s_state_of_a_weight_that_there_is_not_touches_nothing(workshop, path):
    save(path, workshop.training(), {})
    edited(path, **{f"adam/gone/{part}": torch.zeros(()) for part in ("step", "exp_avg", "exp_avg_sq")})
    _refused(workshop, path, "what it holds of Adam does not fit gone")


def _refused(workshop, path, words):
    training = workshop.training(workshop.model(seed=3))
    training.update()
    drawn, before = torch.get_rng_state(), weights(training.model)
    state = {parameter: dict(parts) for parameter, parts in training.optimizer.state.items()}
    with pytest.raises(CheckpointUnreadable, match=words):
        restore(path, training)
    assert same(before, weights(training.model))
    assert torch.equal(drawn, torch.get_rng_state())
    assert training.step == 1
    assert state.keys() == training.optimizer.state.keys()
    for parameter, parts in state.items():
        assert same(parts, training.optimizer.state[parameter])


def test_another_safetensors_file_is_no_checkpoint(workshop, path):
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(CheckpointUnreadable, match="it is not a checkpoint of training"):
        restore(path, workshop.training())


def test_a_checkpoint_of_another_device_touches_nothing(workshop, path):
    save(path, workshop.training(), {})
    edited(path, **{"generator/cuda": torch.zeros(16, dtype=torch.uint8)})
    _refused(workshop, path, "it is of a training on another device: it holds generator/cuda")


def test_a_checkpoint_of_another_precision_touches_nothing(workshop, path):
    save(path, workshop.training(precision="float16"), {})
    _refused(workshop, path, "it is of a training in another precision")


def test_a_kill_while_saving_leaves_the_last_good_one(workshop, path):
    training = workshop.training()
    training.update()
    save(path, training, {"save": 0})
    for delay in (0.005, 0.01, 0.02, 0.04):
        child = os.fork()
        if child == 0:
            try:
                for number in range(10**6):
                    save(path, training, {"save": number})
            finally:
                os._exit(1)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert restore(path, workshop.training()) is not None
