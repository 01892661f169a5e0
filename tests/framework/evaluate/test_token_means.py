import math

import pytest
import torch

from framework.errors import PluginError, SpecError
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.token_means import token_means
from framework.testing.device import elsewhere, moved
from plugins.objectives.masked_token import MaskedToken
from plugins.objectives.next_token import NextToken


def loss_per_token(*arguments, **keywords):
    return token_means(*arguments, **keywords).loss


@pytest.fixture
def dev(workshop):
    return workshop.data.split("dev")


def test_the_loss_does_not_depend_on_the_batch_size(workshop, trained, dev):
    one_by_one = loss_per_token(trained, workshop.objective, dev, batch_tokens=1)
    together = loss_per_token(trained, workshop.objective, dev, batch_tokens=10_000)
    assert one_by_one == pytest.approx(together, rel=1e-4)


def test_the_loss_is_the_mean_over_tokens_not_over_sentences(workshop, dev):
    model = workshop.model().eval()
    total, tokens = 0.0, 0
    for i in range(len(dev)):
        batch = workshop.objective.batch(
            dev.sources(torch.tensor([i])), dev.targets(torch.tensor([i])), torch.Generator()
        )
        log_probs = model(batch).log_softmax(-1)[0]  # (T, V)
        total -= log_probs.gather(1, batch.target_output[0][:, None]).sum().item()
        tokens += batch.target_output.numel()
    assert loss_per_token(model, workshop.objective, dev, 500) == pytest.approx(total / tokens, rel=1e-5)


def test_the_loss_is_that_of_the_true_pieces_whatever_smoothing_the_training_had(workshop, trained, dev):
    """B25"""
    # Trained to the end with smoothing, a model gives the true piece all but the smoothing's mass: that is its
    # loss, and exp(smoothed loss) would be several times the perplexity.
    smoothing, V = 0.1, 260
    best = -math.log(1 - smoothing + smoothing / V)
    assert loss_per_token(trained, workshop.objective, dev, 500) == pytest.approx(best, abs=0.03)


def test_a_model_that_knows_nothing_has_the_vocabulary_as_its_perplexity(workshop, dev):
    model = workshop.model()
    with torch.no_grad():
        model.source_table.weight.zero_()
    assert math.exp(loss_per_token(model, workshop.objective, dev, 500)) == pytest.approx(260, rel=1e-5)


def test_dropout_is_off(workshop, dev):
    model = workshop.model(dropout=0.5).train()
    first = loss_per_token(model, workshop.objective, dev, 500)
    assert loss_per_token(model.train(), workshop.objective, dev, 500) == first


def test_a_model_that_diverged_with_its_last_update_is_said(workshop, dev):
    model = workshop.model()
    with torch.no_grad():
        next(model.parameters()).fill_(math.nan)
    with pytest.raises(Unmeasurable, match="the loss of the trained model is nan: its last updates diverged"):
        loss_per_token(model, workshop.objective, dev, 500)


def test_pieces_are_hidden_alike_for_every_model_and_whatever_the_batches(workshop, dev):
    objective = MaskedToken(MaskedToken.Options())
    model = workshop.model(architecture="encoder_only")
    one_by_one = token_means(model, objective, dev, 1, ["accuracy"])
    torch.rand(7)  # torch's own generator has no say, and is left alone
    before = torch.get_rng_state()
    together = token_means(model, objective, dev, 10_000, ["accuracy"])
    assert one_by_one.metrics == pytest.approx(together.metrics, rel=1e-4)
    assert one_by_one.loss == pytest.approx(together.loss, rel=1e-4)
    assert one_by_one.scored == together.scored
    assert torch.equal(torch.get_rng_state(), before)


def test_a_split_without_a_scored_token_is_refused(workshop, dev):
    mask = {"name": "prefix", "options": {"length": 100}}
    model = workshop.model(architecture="decoder_only", mask=mask)
    with pytest.raises(SpecError, match=r"model\.mask: no token of the split 'dev' enters the loss"):
        token_means(model, NextToken(NextToken.Options()), dev, 500)


def test_what_is_scored_is_told_apart(workshop, dev):
    def scored(objective, **model):
        return token_means(workshop.model(**model), objective, dev, 500).scored

    translation = scored(workshop.objective)
    assert translation.startswith(f"{int(dev.target_lengths.sum()) + len(dev)} tokens (")  # each with its end
    assert scored(workshop.objective, attention_score="additive", num_layers=2) == translation
    text = scored(NextToken(NextToken.Options()), architecture="decoder_only")
    prefix = {"name": "prefix", "options": {"length": 9}}
    few = scored(NextToken(NextToken.Options()), architecture="decoder_only", mask=prefix)
    hidden = scored(MaskedToken(MaskedToken.Options()), architecture="encoder_only")
    half = scored(MaskedToken(MaskedToken.Options(rate=0.5)), architecture="encoder_only")
    assert len({translation, text, few, hidden, half}) == 5


def test_a_measure_that_is_not_finite_is_the_objectives_mistake(workshop, dev):
    class Unsure(NextToken):
        name = "unsure"

        def per_token(self, logits, batch):
            return {"doubt": torch.full(batch.scored.shape, torch.nan)}

    model = workshop.model(architecture="decoder_only")
    expected = r"objective 'unsure' measures 'doubt' as nan on the split 'dev': its per_token must give a finite number"
    with pytest.raises(PluginError, match=expected):
        token_means(model, Unsure(Unsure.Options()), dev, 500, ["doubt"])


def test_a_model_is_measured_on_its_own_device(workshop, dev):
    model = workshop.model()
    here = token_means(model, workshop.objective, dev, 500, ["accuracy"], label_smoothing=0.1)
    assert here.smoothed_loss is not None
    assert here.tokens == int(dev.target_lengths.sum()) + len(dev)
    with elsewhere():
        moved(model)
        assert token_means(model, workshop.objective, dev, 500, ["accuracy"], label_smoothing=0.1) == here
