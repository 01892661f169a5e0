import math

import pytest
import torch

from framework.data.tokenizer import Tokenizer
from framework.errors import PluginError, SpecError
from framework.evaluate.measure import chosen_metrics, measure
from framework.spec import EvaluateSpec
from plugins.objectives.translation import Translation


def test_a_model_that_learned_its_task_measures_well(workshop, trained):
    found = measure(trained, workshop.objective, workshop.data, EvaluateSpec())
    assert found.metrics.keys() == {"dev/loss", "dev/perplexity", "dev/bleu"}
    assert found.metrics["dev/loss"] < 0.2
    assert found.metrics["dev/perplexity"] == pytest.approx(math.exp(found.metrics["dev/loss"]))


def test_translations_are_scored_against_the_raw_text(workshop, trained):
    # One line has a ligature that NFKC would rewrite, one is empty: only the text as it stands gives 100.
    found = measure(trained, workshop.objective, workshop.data, EvaluateSpec())
    assert found.metrics["dev/bleu"] == pytest.approx(100)


def test_bleu_comes_with_its_signature(workshop, trained):
    found = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("bleu",)))
    signature = found.details["dev/bleu"]
    assert found.details == {"dev/bleu": signature}
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_what_makes_bleu_doubtful_does_not_change_its_signature(workshop, trained, monkeypatch):
    sure = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("bleu",)))
    monkeypatch.setattr(Tokenizer, "decode", lambda self, pieces: "a\u2581 line .")
    doubtful = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("bleu",)))
    assert doubtful.details["dev/bleu"] == sure.details["dev/bleu"]
    assert doubtful.details["dev/bleu_doubts"] == (
        "16 of 16 hypotheses hold the sub-word mark '\u2581': join the pieces; "
        "16 of 16 hypotheses end in a detached full stop: detokenise them"
    )


def test_names_carry_the_split_and_only_what_is_asked_is_measured(workshop, trained):
    spec = EvaluateSpec(metrics=("perplexity",))
    assert measure(trained, workshop.objective, workshop.data, spec).metrics.keys() == {"dev/loss", "dev/perplexity"}


def test_a_split_that_there_is_not_is_an_error(workshop, trained):
    with pytest.raises(SpecError, match="no split 'test'"):
        measure(trained, workshop.objective, workshop.data, EvaluateSpec(split="test"))


def test_an_unknown_metric_is_an_error_with_the_nearest_name(workshop):
    with pytest.raises(
        SpecError,
        match=r"evaluate\.metrics: objective 'translation' has no metric 'blue'; it has: perplexity, bleu, "
        r"accuracy, exact_match; "
        r"did you mean 'bleu'\?",
    ):
        chosen_metrics(workshop.objective, EvaluateSpec(metrics=("perplexity", "blue")))


def test_an_objective_with_a_metric_that_cannot_be_measured_breaks_its_contract():
    class Precise(Translation):
        name = "precise"
        metrics = ("precision",)

    with pytest.raises(
        PluginError,
        match=r"objective 'precise' declares the metric 'precision', which its per_token does not give; "
        "there are: perplexity, bleu, exact_match, accuracy$",
    ):
        chosen_metrics(Precise(Precise.Options()), EvaluateSpec())


def test_an_objective_may_measure_tokens_its_own_way(workshop, trained):
    class Confident(Translation):
        name = "confident"
        metrics = ("perplexity", "confidence")

        def per_token(self, logits, batch):
            return {**super().per_token(logits, batch), "confidence": logits.softmax(-1).amax(-1)}

    found = measure(trained, Confident(Confident.Options()), workshop.data, EvaluateSpec())
    assert found.metrics.keys() == {"dev/loss", "dev/perplexity", "dev/confidence"}
    assert 0.5 < found.metrics["dev/confidence"] < 1.0


def test_accuracy_and_exact_matches_are_shares(workshop, trained):
    spec = EvaluateSpec(metrics=("accuracy", "exact_match"))
    found = measure(trained, workshop.objective, workshop.data, spec).metrics
    assert found == {"dev/loss": pytest.approx(0.1, abs=0.1), "dev/accuracy": 1.0, "dev/exact_match": 1.0}
    untrained = measure(workshop.model(), workshop.objective, workshop.data, spec).metrics
    assert untrained["dev/exact_match"] == 0.0
    assert untrained["dev/accuracy"] < 0.2


def test_a_perplexity_too_large_for_a_number_is_left_out_and_said(workshop):
    model = workshop.model(norm_order="none")
    with torch.no_grad():
        model.source_table.weight.mul_(1e3)
    found = measure(model, workshop.objective, workshop.data, EvaluateSpec(metrics=("perplexity",)))
    assert found.metrics.keys() == {"dev/loss"}
    assert math.isfinite(found.metrics["dev/loss"])
    assert found.details["dev/perplexity"].startswith("too large for a number: the loss is ")


def test_translations_that_meet_the_last_position_are_counted(workshop):
    model = workshop.model(positional_scheme={"name": "learned", "options": {"max_positions": 41}})
    with torch.no_grad():
        model.source_table.weight[2] = 0  # EOS is never the most likely piece
    spec = EvaluateSpec(metrics=("bleu",), beam_size=1)
    found = measure(model, workshop.objective, workshop.data, spec)
    assert found.details["dev/cut_off"] == "16 of 16 outputs end at the model's last position"


@pytest.mark.parametrize("name", ["loss", "perplexity", "bleu", "exact_match"])
def test_an_objective_cannot_measure_what_the_framework_does(name):
    class Own(Translation):
        name = "own"

        def per_token(self, logits, batch):
            return {measure_name: logits[..., 0] for measure_name in ("accuracy", taken)}

    taken = name
    with pytest.raises(
        PluginError, match=f"objective 'own' gives '{name}' in per_token, which is the framework's own measure: choose"
    ):
        chosen_metrics(Own(Own.Options()), EvaluateSpec())


def test_figures_say_which_tokens_they_are_of(workshop, trained):
    details = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("accuracy",))).details
    assert details.keys() == {"dev/scored"}
    assert (
        "dev/scored" not in measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("bleu",))).details
    )
