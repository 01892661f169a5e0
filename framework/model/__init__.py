"""HOW it is built: attention, layers, the Transformer, and their assembly from a spec."""

from framework.model.assemble import assemble, initialize
from framework.model.encoder_decoder import EncoderDecoder
from framework.model.stack import StackState
from framework.model.transformer import GenerativeTransformer, Transformer, num_parameters

__all__ = [
    "EncoderDecoder",
    "GenerativeTransformer",
    "StackState",
    "Transformer",
    "assemble",
    "initialize",
    "num_parameters",
]
