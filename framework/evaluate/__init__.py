"""How good the weights are: means over tokens, outputs by beam search, and how these compare with the references."""

from framework.evaluate.beam import Hypothesis, beam_search, length_penalty
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.exact_match import exact_match
from framework.evaluate.generate import Outputs, generate
from framework.evaluate.measure import Measurement, measure
from framework.evaluate.metrics import chosen_metrics
from framework.evaluate.text_metrics import CorpusScore, TextMetric, text_metric
from framework.evaluate.token_means import TokenMeans, token_means

__all__ = [
    "CorpusScore",
    "Hypothesis",
    "Measurement",
    "Outputs",
    "TextMetric",
    "TokenMeans",
    "Unmeasurable",
    "beam_search",
    "chosen_metrics",
    "exact_match",
    "generate",
    "length_penalty",
    "measure",
    "text_metric",
    "token_means",
]
