import math
import re

import pytest
import torch

from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.evaluate.measure import measure as measured_under
from framework.spec import EvaluateSpec, TrainSpec
from plugins.objectives.next_token import NextToken
from plugins.objectives.translation import Translation


def measure(model, objective, data, spec, label_smoothing=0.0):
    return measured_under(model, objective, data, spec, TrainSpec.model_construct(label_smoothing=label_smoothing))


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
    assert doubtful.details["dev/doubts"] == (
        "16 of 16 hypotheses hold the sub-word mark '\u2581': join the pieces; "
        "16 of 16 hypotheses end in a detached full stop: detokenise them"
    )


def test_names_carry_the_split_and_only_what_is_asked_is_measured(workshop, trained):
    spec = EvaluateSpec(metrics=("perplexity",))
    assert measure(trained, workshop.objective, workshop.data, spec).metrics.keys() == {"dev/loss", "dev/perplexity"}


def test_a_split_that_there_is_not_is_an_error(workshop, trained):
    with pytest.raises(SpecError, match="no split 'test'"):
        measure(trained, workshop.objective, workshop.data, EvaluateSpec(split="test"))


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


def test_figures_say_which_tokens_they_are_of(workshop, trained):
    details = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("accuracy",))).details
    assert details.keys() == {"dev/scored"}
    assert (
        "dev/scored" not in measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("bleu",))).details
    )


def test_what_was_generated_is_kept_beside_its_references(workshop, trained):
    found = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("exact_match",)))
    texts = workshop.data.split("dev").target_texts
    assert [output.reference for output in found.outputs] == texts
    assert [output.hypothesis for output in found.outputs] == texts  # it copies without a mistake
    assert measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("perplexity",))).outputs == ()


def test_every_score_of_text_has_its_signature(workshop, trained):
    spec = EvaluateSpec(metrics=("bleu", "bleu_compound_split", "chrf"), moses_language="en")
    found = measure(trained, workshop.objective, workshop.data, spec)
    assert found.metrics == {"dev/bleu": 100, "dev/bleu_compound_split": 100, "dev/chrf": 100}
    assert "tok:13a" in found.details["dev/bleu"]
    assert "tok:moses-en-" in found.details["dev/bleu_compound_split"]
    assert "nc:6" in found.details["dev/chrf"]


def test_the_smoothed_perplexity_is_that_of_what_training_minimised(workshop, trained):
    """B25: its exp is another number than the perplexity, and even a perfect model does not come to 1."""
    spec = EvaluateSpec(metrics=("perplexity", "smoothed_perplexity"))
    found = measure(trained, workshop.objective, workshop.data, spec, label_smoothing=0.1).metrics
    split, V = workshop.data.split("dev"), 260
    batch = workshop.objective.batch(
        split.sources(torch.arange(len(split))), split.targets(torch.arange(len(split))), torch.Generator()
    )
    with torch.no_grad():
        log_probs = trained(batch).log_softmax(-1)[batch.scored]  # (N, V)
    right = log_probs.gather(1, batch.target_output[batch.scored][:, None]).mean()
    smoothed = 0.9 * right + 0.1 * log_probs.mean()
    assert found["dev/perplexity"] == pytest.approx(math.exp(-right), rel=1e-4)
    assert found["dev/smoothed_perplexity"] == pytest.approx(math.exp(-smoothed), rel=1e-4)
    floor = -0.1 * math.log(0.1 / V) - 0.9 * math.log(0.9)  # all but exactly: the right piece keeps 0.9 + 0.1 / V
    assert found["dev/smoothed_perplexity"] > 0.99 * math.exp(floor) > 2
    unsmoothed = measure(trained, workshop.objective, workshop.data, spec, label_smoothing=0.0).metrics
    assert unsmoothed["dev/smoothed_perplexity"] == unsmoothed["dev/perplexity"] == found["dev/perplexity"]


def test_the_perplexity_per_word_spreads_the_same_loss_over_words_and_ends(workshop, trained):
    found = measure(trained, workshop.objective, workshop.data, EvaluateSpec(metrics=("word_perplexity",)))
    split = workshop.data.split("dev")
    words = sum(len(line.split()) for line in split.target_texts)
    nats = found.metrics["dev/loss"] * (int(split.target_lengths.sum()) + len(split))
    assert found.metrics["dev/word_perplexity"] == pytest.approx(math.exp(nats / (words + 16)))
    assert found.details["dev/word_perplexity"].startswith(f"{words} words and 16 ends (")


def test_words_of_which_the_loss_is_not_whole_are_not_measured(workshop):
    model = workshop.model(architecture="decoder_only", mask={"name": "prefix", "options": {"length": 9}})
    objective = NextToken(NextToken.Options())
    found = measure(model, objective, workshop.data, EvaluateSpec(metrics=("word_perplexity",)))
    assert found.metrics.keys() == {"dev/loss"}
    assert re.fullmatch(r"not measured: \d+ of \d+ tokens enter the loss", found.details["dev/word_perplexity"])
