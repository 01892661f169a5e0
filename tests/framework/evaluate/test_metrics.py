import pytest

from framework.errors import PluginError, SpecError
from framework.evaluate.metrics import chosen_metrics
from framework.spec import EvaluateSpec
from plugins.objectives.translation import Translation


def test_without_a_choice_it_is_the_objective_s_own():
    assert chosen_metrics(Translation(Translation.Options()), EvaluateSpec()) == ("perplexity", "bleu")


def test_an_unknown_metric_is_an_error_with_the_nearest_name(workshop):
    with pytest.raises(
        SpecError,
        match=r"evaluate\.metrics: objective 'translation' has no metric 'blue'; it has: perplexity, bleu, "
        r"accuracy, exact_match, bleu_compound_split, chrf, smoothed_perplexity, word_perplexity; "
        r"did you mean 'bleu'\?",
    ):
        chosen_metrics(workshop.objective, EvaluateSpec(metrics=("perplexity", "blue")))


def test_a_language_is_refused_before_training_where_it_would_be_used(workshop):
    spec = EvaluateSpec(moses_language="xx")
    assert chosen_metrics(workshop.objective, spec) == ("perplexity", "bleu")
    with pytest.raises(SpecError, match="knows no language 'xx'"):
        chosen_metrics(workshop.objective, spec.model_copy(update={"metrics": ("bleu_compound_split",)}))


def test_an_objective_with_a_metric_that_cannot_be_measured_breaks_its_contract():
    class Precise(Translation):
        name = "precise"
        metrics = ("precision",)

    with pytest.raises(
        PluginError,
        match=r"objective 'precise' declares the metric 'precision', which its per_token does not give; there are: "
        "perplexity, smoothed_perplexity, word_perplexity, bleu, bleu_compound_split, chrf, exact_match, accuracy$",
    ):
        chosen_metrics(Precise(Precise.Options()), EvaluateSpec())


@pytest.mark.parametrize("name", ["loss", "perplexity", "word_perplexity", "bleu", "chrf", "exact_match"])
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
