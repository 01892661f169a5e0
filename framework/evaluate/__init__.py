"""How good the weights are: loss and perplexity, translations by beam search, and BLEU."""

from framework.evaluate.beam import Hypothesis, beam_search, length_penalty
from framework.evaluate.bleu import Bleu, bleu
from framework.evaluate.decode import Translations, translate
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.measure import Measurement, chosen_metrics, measure
from framework.evaluate.perplexity import loss_per_token

__all__ = [
    "Bleu",
    "Hypothesis",
    "Measurement",
    "Translations",
    "Unmeasurable",
    "beam_search",
    "bleu",
    "chosen_metrics",
    "length_penalty",
    "loss_per_token",
    "measure",
    "translate",
]
