"""The measurement of speed measures what it says, on every system that is installed here."""

from __future__ import annotations

import time
from importlib.util import find_spec

import pytest
import torch

from framework.model import num_parameters
from tests.framework.train.systems.system import LENGTH, TOKENS, Sizes, Translator, random_batch
from tests.framework.train.training_bench import SYSTEMS, decode, load, rates, train, training_step
from tests.framework.train.training_bench_page import Decoding, Rates, Training, page
from tests.framework.train.waste import Waste

TINY = Sizes(d_model=16, d_ff=32, num_heads=2, num_layers=1, vocabulary=300)
NEEDS = {"marian": "transformers", "joey": "joeynmt", "x_transformers": "x_transformers"}
HERE = [module for module in SYSTEMS if module not in NEEDS or find_spec(NEEDS[module])]
TRANSLATORS = [module for module in HERE if module in ("ours", "marian", "joey")]

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # x-transformers


@pytest.fixture
def batch():
    return random_batch(TINY, torch.Generator().manual_seed(0))


def test_a_batch_fills_its_positions_with_little_padding(batch):
    for padding in (batch.source_padding, batch.target_padding):
        assert padding.shape == (TOKENS // LENGTH, LENGTH)
        assert 0.9 < float(padding.float().mean()) < 1.0
    assert torch.equal(batch.scored, batch.target_padding)


@pytest.mark.parametrize("module", HERE)
def test_a_system_scores_every_piece_and_has_the_parameters_of_this_project(module, batch):
    system = load(module, TINY)
    assert system.model.training
    assert system.logits(batch).shape == (*batch.target_output.shape, TINY.vocabulary)
    weights = sum(weight.numel() for weight in system.model.parameters() if weight.requires_grad)
    assert weights == pytest.approx(num_parameters(load("ours", TINY).model), rel=0.03)


@pytest.mark.parametrize("module", HERE)
def test_a_step_moves_every_weight(module, batch):
    system = load(module, TINY)
    before = {name: weight.detach().clone() for name, weight in system.model.named_parameters()}
    training_step(system, half=False)(batch)
    for name, weight in system.model.named_parameters():
        assert torch.equal(weight, before[name]) != weight.requires_grad, name


@pytest.mark.parametrize("module", HERE)
def test_the_loss_is_the_same_function_of_the_logits_everywhere(module, batch):
    system = load(module, TINY)
    system.model.eval()
    expected = torch.nn.functional.cross_entropy(
        system.logits(batch)[batch.scored], batch.target_output[batch.scored], label_smoothing=0.1
    )
    torch.testing.assert_close(system.loss(batch), expected)


@pytest.mark.parametrize("module", TRANSLATORS)
def test_a_translation_has_the_length_that_is_asked_for(module):
    system = load(module, TINY)
    assert isinstance(system, Translator)
    outputs = system.translate(torch.randint(3, TINY.vocabulary, (3, 5)), 7)
    assert [len(output) for output in outputs] == [7, 7, 7]


def test_a_rate_is_work_by_time_and_a_ratio_that_of_the_same_round(monkeypatch):
    now = 0.0

    def taking(seconds):
        def turn(number):
            nonlocal now
            now += seconds * (1 + number % 2)  # every other round is twice as slow for all
            return 12

        return turn

    monkeypatch.setattr(time, "process_time", lambda: now)
    found = rates({"fast": taking(1.0), "slow": taking(3.0)}, 0.0)
    assert found["fast"].times == {"fast": 1.0, "slow": 3.0}
    assert found["slow"].times == {"fast": pytest.approx(1 / 3), "slow": 1.0}
    assert (found["fast"].low, found["fast"].high) == (6.0, 12.0)
    assert found["slow"].median == 4.0


def test_training_and_decoding_are_measured_here(monkeypatch):
    monkeypatch.setattr("tests.framework.train.training_bench.sizes_of", lambda d_model: TINY)
    trained = train(16, ["ours", "torch_nn"], 0.0)
    assert list(trained.systems) == ["this project", "torch.nn.Transformer", "this project, bfloat16"]
    assert all(rate.median > 0 for rate in trained.systems.values())
    monkeypatch.setattr("tests.framework.train.training_bench.VOCABULARY", TINY.vocabulary)
    assert list(decode(16, ["ours", "torch_nn"], 0.0).systems) == ["this project"]


def test_the_page_says_what_was_measured():
    marian, ours = "Marian (Hugging Face)", "this project"
    systems = {
        ours: Rates(1200.4, 1100.0, 1300.0, {ours: 1.0, marian: 1.25}),
        marian: Rates(960.0, 950.0, 970.0, {ours: 0.8, marian: 1.0}),
    }
    text = page(
        [Training(128, systems, {ours: 1000, marian: 1001})],
        [Decoding(128, systems)],
        [Waste(8000, 4000, 9, 0.034)],
        [],
    )
    assert "| this project | 1,000 | 1,200 | 1,100 to 1,300 | 1.25 |" in text
    assert "| Marian (Hugging Face) | 960.0 | 950.0 to 970.0 | 0.80 | 1.00 |" in text
    assert "| 8,000 | 4,000 | 9 | 3.4 % |" in text
    assert f"torch {torch.__version__.split('+')[0]}" in text
