"""The scores of a model, by full name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from framework.contracts import Objective
from framework.data.prepared import PreparedData
from framework.evaluate.doubts import doubts
from framework.evaluate.exact_match import exact_match
from framework.evaluate.generate import generate
from framework.evaluate.metrics import GENERATED, MADE_HERE, chosen_metrics
from framework.evaluate.text_metrics import TEXT_METRICS, text_metric
from framework.evaluate.token_means import token_means
from framework.evaluate.words import why_not_whole, words
from framework.journal import Output
from framework.model.transformer import GenerativeTransformer, Transformer
from framework.spec import EvaluateSpec, TrainSpec


@dataclass(frozen=True, slots=True)
class Measurement:
    """Finite numbers by name, such as `dev/perplexity`, and what a reader needs to judge them."""

    metrics: dict[str, float] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    """What was generated, in the order of the split; none where nothing was."""


def measure(
    model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec, train: TrainSpec
) -> Measurement:
    """Measure a trained model on `spec.split`, in float32 whatever it was trained in. Leaves it in evaluation mode.

    Metrics that are made of the loss, per scored token in nats and over the whole split:

    - `perplexity` is exp(loss) without label smoothing, per piece: rows with other vocabularies do not compare
    - `smoothed_perplexity` is exp(loss) under the label smoothing of `train`, as training printed it: with ε above 0
      even a perfect model does not come to 1, and rows with another ε do not compare
    - `word_perplexity` is exp(summed loss / (words + ends)): the words between white space in the raw references, and
      an end for each; it compares across vocabularies where `SPLIT/word_perplexity` is the same

    Details by name: `SPLIT/scored` tells which tokens the means are over, alike for rows whose figures compare;
    `SPLIT/bleu`, `SPLIT/bleu_compound_split` and `SPLIT/chrf` are signatures alone, so that rows scored alike have them
    alike, and `SPLIT/word_perplexity` the words likewise; a metric that could not be measured has its reason there.
    `SPLIT/doubts` is what makes scores of text doubtful; `SPLIT/cut_off` counts outputs that had to end.

    Raises `SpecError` for a metric or a split that there is not, `Unmeasurable` where the model's outputs are
    not finite.
    """
    names = chosen_metrics(objective, spec)
    parts = []
    if set(names) - set(GENERATED):
        smoothing = train.smoothing(data.target_tokenizer.vocabulary_size)
        parts.append(_of_tokens(model, objective, data, spec, names, smoothing))
    if set(names) & set(GENERATED):
        parts.append(_of_outputs(model, objective, data, spec, names))
    return Measurement(
        {f"{spec.split}/{name}": value for part in parts for name, value in part.metrics.items()},
        {f"{spec.split}/{name}": told for part in parts for name, told in part.details.items()},
        tuple(output for part in parts for output in part.outputs),
    )


def _of_tokens(
    model: Transformer,
    objective: Objective,
    data: PreparedData,
    spec: EvaluateSpec,
    names: Sequence[str],
    label_smoothing: float,
) -> Measurement:
    split = data.split(spec.split)
    own = [name for name in names if name not in MADE_HERE]
    smoothing = label_smoothing if "smoothed_perplexity" in names else None
    means = token_means(model, objective, split, spec.batch_tokens, own, smoothing)
    measured = Measurement({"loss": means.loss, **means.metrics}, {"scored": means.scored})
    if "perplexity" in names:
        _exponentiate("perplexity", means.loss, measured)
    if means.smoothed_loss is not None:
        _exponentiate("smoothed_perplexity", means.smoothed_loss, measured)
    if "word_perplexity" in names:
        if (reason := why_not_whole(data, split, means.tokens)) is not None:
            measured.details["word_perplexity"] = f"not measured: {reason}"
        else:
            counted = words(data, split)
            measured.details["word_perplexity"] = counted.text
            _exponentiate("word_perplexity", means.loss * means.tokens / counted.number, measured)
    return measured


def _exponentiate(name: str, loss: float, measured: Measurement) -> None:
    """Add a perplexity, or why there is none."""
    try:
        measured.metrics[name] = math.exp(loss)
    except OverflowError:
        unit = "word" if name == "word_perplexity" else "token"
        measured.details[name] = f"too large for a number: the loss is {loss:.1f} nats per {unit}"


def _of_outputs(
    model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec, names: Sequence[str]
) -> Measurement:
    assert isinstance(model, GenerativeTransformer), "the survey has refused metrics that do not fit"
    split = data.split(spec.split)
    generated = generate(model, objective, split.sources(torch.arange(len(split))), spec)
    hypotheses, references = list(map(data.target_tokenizer.decode, generated.pieces)), split.target_texts
    pairs = zip(hypotheses, references, strict=True)
    measured = Measurement(outputs=tuple(Output(hypothesis=said, reference=right) for said, right in pairs))
    for name in TEXT_METRICS:
        if name in names:
            found = text_metric(name, spec.moses_language).score(hypotheses, references)
            measured.metrics[name], measured.details[name] = found.score, found.signature
    if "exact_match" in names:
        measured.metrics["exact_match"] = exact_match(hypotheses, references)
    if set(names) & set(TEXT_METRICS) and (found_doubts := doubts(hypotheses, references)):
        measured.details["doubts"] = "; ".join(found_doubts)
    if generated.cut_off:
        measured.details["cut_off"] = f"{generated.cut_off} of {len(split)} outputs end at the model's last position"
    return measured
