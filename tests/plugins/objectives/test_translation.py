import json
from pathlib import Path

import pytest
import torch

import framework as fw
from plugins.objectives.translation import Translation

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/training.json").read_text())["label_smoothing"]
V = 5


@pytest.fixture
def objective():
    return Translation(Translation.Options())


def batch_of(target_output):
    target = torch.tensor([target_output])
    real = target != fw.PAD
    return fw.Batch(target_input=target, target_output=target, target_padding=real, scored=real)


@pytest.fixture
def logits():
    logits = torch.zeros(1, 3, V)
    logits[0, 0, 2] = logits[0, 1, 1] = 2.0
    return logits


def test_sequences_are_framed_and_padded(objective):
    sources = [torch.tensor([7, 8]), torch.tensor([9])]
    targets = [torch.tensor([5]), torch.tensor([6, 7, 8])]
    batch = objective.batch(sources, targets, torch.Generator())
    pad, bos, eos = fw.PAD, fw.BOS, fw.EOS
    assert batch.source.tolist() == [[7, 8, eos], [9, eos, pad]]
    assert batch.source_padding.tolist() == [[True, True, True], [True, True, False]]
    assert batch.target_input.tolist() == [[bos, 5, pad, pad], [bos, 6, 7, 8]]
    assert batch.target_output.tolist() == [[5, eos, pad, pad], [6, 7, 8, eos]]
    assert batch.target_padding.tolist() == [[True, True, False, False], [True, True, True, True]]
    assert batch.scored.equal(batch.target_padding)


def test_lengths_are_those_of_the_longer_side(objective):
    sources, targets = [torch.tensor([7, 8]), torch.tensor([9])], [torch.tensor([5]), torch.tensor([6, 7, 8])]
    lengths = objective.lengths(torch.tensor([2, 1]), torch.tensor([1, 3]))
    for source, target, length in zip(sources, targets, lengths.tolist(), strict=True):
        batch = objective.batch([source], [target], torch.Generator())
        assert length == max(batch.source.shape[1], batch.target_input.shape[1])


def test_a_sentence_without_pieces_still_has_its_end(objective):
    nothing = torch.empty(0, dtype=torch.int64)
    batch = objective.batch([nothing], [nothing], torch.Generator())
    assert batch.source.tolist() == [[fw.EOS]]
    assert batch.target_input.tolist() == [[fw.BOS]]
    assert batch.target_output.tolist() == [[fw.EOS]]
    assert batch.target_padding.all()


def test_label_smoothing_does_not_count_padding(objective, logits):
    """B24"""
    loss, tokens = objective.loss(logits, batch_of([2, 1, fw.PAD]), GOLDEN["smoothing"])
    assert tokens == 2
    assert loss.item() / 2 == pytest.approx(GOLDEN["loss_per_token"], abs=1e-6)


def test_more_padding_changes_nothing(objective, logits):
    loss, tokens = objective.loss(logits, batch_of([2, 1, fw.PAD]), 0.1)
    wider = torch.cat([logits, torch.randn(1, 4, V)], dim=1)
    wider_loss, wider_tokens = objective.loss(wider, batch_of([2, 1, fw.PAD, fw.PAD, fw.PAD, fw.PAD, fw.PAD]), 0.1)
    assert (wider_loss.item(), wider_tokens.item()) == (pytest.approx(loss.item()), tokens.item())


def test_padding_gets_no_gradient(objective, logits):
    logits.requires_grad_()
    objective.loss(logits, batch_of([2, 1, fw.PAD]), 0.1)[0].backward()
    assert logits.grad[0, :2].abs().sum() > 0
    assert not logits.grad[0, 2].any()


def test_nothing_but_padding_is_a_loss_of_zero_over_no_tokens(objective, logits):
    """B24: never 0 / 0."""
    logits.requires_grad_()
    loss, tokens = objective.loss(logits, batch_of([fw.PAD] * 3), 0.1)
    loss.backward()
    assert (loss.item(), tokens.item()) == (0.0, 0)
    assert not logits.grad.any()  # zero, not NaN


def test_smoothing_is_over_the_whole_vocabulary(objective, logits):
    target = [2, 1, 4]
    smoothing = 0.3
    log_probs = logits[0].log_softmax(-1)
    wanted = sum(
        -(1 - smoothing) * log_probs[i, piece] - smoothing * log_probs[i].mean() for i, piece in enumerate(target)
    )
    loss, _ = objective.loss(logits, batch_of(target), smoothing)
    torch.testing.assert_close(loss, wanted)


def test_loss_is_taken_in_float32(objective):
    logits = torch.randn(1, 3, V)
    loss, _ = objective.loss(logits.bfloat16(), batch_of([2, 1, 4]), 0.0)
    assert loss.dtype == torch.float32
    exact, _ = objective.loss(logits.bfloat16().float(), batch_of([2, 1, 4]), 0.0)
    assert loss == exact
