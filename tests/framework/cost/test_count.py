"""Arithmetic and memory of an update: by hand, by torch's own count of both passes, and on a model with storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from framework.cost.batch import typical_batch
from framework.cost.count import META, Counting
from framework.experiment import load
from framework.model.assemble import assemble

ROOT = Path(__file__).parents[3]
PAPER = {"base": 3.3e18, "big": 2.3e19}
"""Training cost in FLOPs, arXiv:1706.03762, table 2: hours x processors x what one of them sustains."""


class Case:
    """A row, and what its cost is counted with."""

    def __init__(self, experiment, row="base"):
        self.registry = experiment.registry
        self.spec = next(trial for trial in experiment.plan() if trial.row == row)
        self.objective = self.registry.plugin("objective", self.spec.train.objective.name)(
            self.spec.train.objective.options
        )
        self.batch = typical_batch(self.spec, self.objective, self.registry, experiment.home)

    def count(self):
        return Counting(self.registry).of(self.spec, self.batch, self.objective)

    def on(self, device):
        with torch.device(device):
            model = assemble(self.spec.model, self.spec.data, self.registry).train()
        return model, model.restricted(self.batch.made(self.objective).to(torch.device(device)))


@pytest.mark.parametrize("layers", [1, 3])
def test_an_encoder_decoder_is_counted_as_by_hand(tiny, layers):
    sizes = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 3, "d_v": 5, "num_layers": layers}
    case = Case(tiny(model=sizes))
    batch, length, keys, values = case.batch.examples, 31, 2 * 3, 2 * 5  # 30 pieces and an end
    projections = 16 * (2 * keys + 2 * values)
    pairs = length * (keys + values)
    layer = 3 * (projections + pairs) + 2 * 2 * 16 * 24  # of one position on either side: 3 attentions, 2 MLPs
    products = batch * length * (layers * layer + 16 * 270)
    assert case.count().flops == 3 * 2 * products
    weights = sum(parameter.numel() for parameter in case.on("meta")[0].parameters())
    assert case.count().state_bytes == 16 * weights


MODELS: dict[str, dict[str, Any]] = {
    "dot_product": {},
    "additive": {"attention_score": "additive"},
    "kernel": {"attention_score": "kernel"},
    "cosine": {"attention_score": "cosine"},
    "bilinear": {"attention_score": "bilinear"},
    "relative": {"positional_scheme": "relative"},
    "rotary": {"positional_scheme": "rotary"},
    "gated": {"feed_forward": "gated"},
    **{
        mixer: {"sites": {stack: {"self": {"mixer": mixer}} for stack in ("encoder", "decoder")}}
        for mixer in ("linear_attention", "recurrent", "convolution", "none")
    },
    "bottleneck": {"sites": {"decoder": {"cross": {"mixer": "bottleneck"}}}},
}


@pytest.mark.parametrize("name", MODELS)
def test_three_forward_passes_are_what_both_passes_come_to(tiny, name):
    """Within what the first step of a recurrence leaves out: nothing is learned through the state it begins with."""
    case = Case(tiny(model={**MODELS[name], "num_layers": 1}, data={"max_pieces": 8}))
    model, given = case.on("meta")
    with FlopCounterMode(display=False) as counter:
        case.objective.loss(model(given), given, 0.1)[0].backward()
    assert case.count().flops == pytest.approx(counter.get_total_flops(), rel=0.03)


@pytest.mark.parametrize("name", ["recurrent", "linear_attention"])
def test_layers_alike_are_counted_once_and_come_to_the_whole(tiny, name):
    case = Case(tiny(model={**MODELS[name], "num_layers": 4}, data={"max_pieces": 6}))
    model, given = case.on("meta")
    with FlopCounterMode(display=False) as counter:
        case.objective.loss(model(given), given, 0.1)
    assert case.count().flops == 3 * counter.get_total_flops()


def test_what_is_kept_is_what_a_model_with_storage_keeps(tiny):
    """With dropout on its weights, attention takes the same way on every device."""
    case = Case(tiny(model={"attention_dropout": 0.1, "num_layers": 3}))
    model, given = case.on("cpu")
    weights = {weight.data_ptr() for weight in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        case.objective.loss(model(given), given, 0.1)
    measured = sum(storage.nbytes() for pointer, storage in kept.items() if pointer not in weights)
    assert case.count().activation_bytes == pytest.approx(measured, rel=0.02)


def test_parts_take_the_memory_of_one_and_the_arithmetic_of_all(tiny):
    whole, parts = Case(tiny()).count(), Case(tiny(train={"micro_batch_tokens": 100})).count()
    assert parts.flops == whole.flops
    assert parts.state_bytes == whole.state_bytes
    assert parts.activation_bytes == pytest.approx(whole.activation_bytes * 3 / 12, rel=0.05)


def test_the_paper_s_models_come_to_what_the_paper_estimates():
    """Its processors' time at the rate they sustain is an upper bound, which none of them reach."""
    experiment = load(ROOT / "experiments" / "table3.yaml", rows=["base", "big"])
    found = {row: Case(experiment, row) for row in PAPER}
    shares = {row: case.spec.train.steps * case.count().flops / PAPER[row] for row, case in found.items()}
    assert all(0.2 < share < 1 for share in shares.values()), shares


def test_layers_that_differ_are_counted_each(tmp_path, tiny):
    mine = tmp_path / "mine.py"
    mine.write_text(
        '''"""A feed-forward as wide as the model is deep."""

import framework as fw


class Mine(fw.FeedForward):
    name = "mine"

    def __init__(self, options, dims):
        super().__init__(options, dims)
        self.inner = fw.Linear(dims.d_model, 8 * dims.num_layers)
        self.outer = fw.Linear(8 * dims.num_layers, dims.d_model)

    def forward(self, x):
        return self.outer(self.inner(x).relu())


@fw.hookimpl
def feed_forward():
    return Mine
'''
    )
    case = Case(tiny(plugins=[mine], model={"feed_forward": "mine", "num_layers": 4}))
    model, given = case.on(META)
    with FlopCounterMode(display=False) as counter:
        case.objective.loss(model(given), given, 0.1)
    assert case.count().flops == 3 * counter.get_total_flops()
