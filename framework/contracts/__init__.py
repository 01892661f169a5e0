"""What a plugin of each kind must be.

Shapes, everywhere: B batch, H heads, Q query length, K key length, L length, S source length,
T target length, D d_model, V vocabulary. A size written `B|1` is either.
"""

from framework.contracts.attention_score import AttentionScore, DotProductForm
from framework.contracts.corpus import Corpus, Pair, TextCorpus
from framework.contracts.dims import ADDRESSES, SITES, Dims, Site
from framework.contracts.feed_forward import FeedForward
from framework.contracts.mask import Mask
from framework.contracts.mixer import Mixer, Parts, State
from framework.contracts.objective import BOS, EOS, MASK, PAD, SPECIAL_PIECES, Batch, Objective, padded
from framework.contracts.plugin import Plugin
from framework.contracts.positional_scheme import PositionalScheme

__all__ = [
    "ADDRESSES",
    "BOS",
    "EOS",
    "MASK",
    "PAD",
    "SITES",
    "SPECIAL_PIECES",
    "AttentionScore",
    "Batch",
    "Corpus",
    "Dims",
    "DotProductForm",
    "FeedForward",
    "Mask",
    "Mixer",
    "Objective",
    "Pair",
    "Parts",
    "Plugin",
    "PositionalScheme",
    "Site",
    "State",
    "TextCorpus",
    "padded",
]
