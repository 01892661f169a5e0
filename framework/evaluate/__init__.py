"""How good the weights are: means over tokens, outputs by beam search, and how these compare with the references."""

from framework.evaluate.beam import Hypothesis, beam_search, length_penalty
from framework.evaluate.bleu import Bleu, bleu
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.exact_match import exact_match
from framework.evaluate.generate import Outputs, generate
from framework.evaluate.measure import Measurement, chosen_metrics, measure
from framework.evaluate.token_means import TokenMeans, token_means

__all__ = [
    "Bleu",
    "Hypothesis",
    "Measurement",
    "Outputs",
    "TokenMeans",
    "Unmeasurable",
    "beam_search",
    "bleu",
    "chosen_metrics",
    "exact_match",
    "generate",
    "length_penalty",
    "measure",
    "token_means",
]
