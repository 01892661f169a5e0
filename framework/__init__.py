"""Transformer ablations: an experiment file in, a trustworthy table out.

`import framework as fw` is cheap: a name's module is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framework.contracts import BOS as BOS
    from framework.contracts import EOS as EOS
    from framework.contracts import MASK as MASK
    from framework.contracts import PAD as PAD
    from framework.contracts import SPECIAL_PIECES as SPECIAL_PIECES
    from framework.contracts import AttentionScore as AttentionScore
    from framework.contracts import Batch as Batch
    from framework.contracts import Corpus as Corpus
    from framework.contracts import Dims as Dims
    from framework.contracts import DotProductForm as DotProductForm
    from framework.contracts import FeedForward as FeedForward
    from framework.contracts import Mask as Mask
    from framework.contracts import Mixer as Mixer
    from framework.contracts import Objective as Objective
    from framework.contracts import Pair as Pair
    from framework.contracts import Parts as Parts
    from framework.contracts import PositionalScheme as PositionalScheme
    from framework.contracts import Site as Site
    from framework.contracts import State as State
    from framework.contracts import TextCorpus as TextCorpus
    from framework.contracts import padded as padded
    from framework.data.files_by_split import FilesBySplit as FilesBySplit
    from framework.data.made_up import MADE_UP_WORDS as MADE_UP_WORDS
    from framework.data.made_up import Dice as Dice
    from framework.data.made_up import MadeUpCorpus as MadeUpCorpus
    from framework.data.made_up import SymbolCorpus as SymbolCorpus
    from framework.data.reading import TextUnit as TextUnit
    from framework.data.reading import read_line_pairs as read_line_pairs
    from framework.data.reading import read_pairs as read_pairs
    from framework.data.reading import read_splits as read_splits
    from framework.data.reading import read_text_splits as read_text_splits
    from framework.data.reading import read_texts as read_texts
    from framework.errors import FrameworkError as FrameworkError
    from framework.errors import MissingCorpus as MissingCorpus
    from framework.errors import PluginError as PluginError
    from framework.errors import SpecError as SpecError
    from framework.errors import TrialError as TrialError
    from framework.experiment import Experiment as Experiment
    from framework.experiment import load as load
    from framework.hookspecs import hookimpl as hookimpl
    from framework.model.attention import attend as attend
    from framework.model.attention import attention_weights as attention_weights
    from framework.model.attention import visible as visible
    from framework.model.dropout import dropout as dropout
    from framework.model.layers import Linear as Linear
    from framework.registry import Registry as Registry
    from framework.spec import ExperimentSpec as ExperimentSpec
    from framework.spec import Options as Options
    from framework.spec import TrialSpec as TrialSpec

_HOMES = {
    "framework.contracts": (
        "BOS",
        "EOS",
        "MASK",
        "PAD",
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
        "PositionalScheme",
        "Site",
        "State",
        "TextCorpus",
        "padded",
    ),
    "framework.data.files_by_split": ("FilesBySplit",),
    "framework.data.made_up": ("MADE_UP_WORDS", "Dice", "MadeUpCorpus", "SymbolCorpus"),
    "framework.data.reading": (
        "TextUnit",
        "read_line_pairs",
        "read_pairs",
        "read_splits",
        "read_text_splits",
        "read_texts",
    ),
    "framework.errors": ("FrameworkError", "MissingCorpus", "PluginError", "SpecError", "TrialError"),
    "framework.experiment": ("Experiment", "load"),
    "framework.hookspecs": ("hookimpl",),
    "framework.model.attention": ("attend", "attention_weights", "visible"),
    "framework.model.dropout": ("dropout",),
    "framework.model.layers": ("Linear",),
    "framework.registry": ("Registry",),
    "framework.spec": ("ExperimentSpec", "Options", "TrialSpec"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # made from the table above, which a test compares with the imports


def __getattr__(name: str) -> Any:
    try:
        module = _HOME_OF[name]
    except KeyError:
        raise AttributeError(f"module 'framework' has no attribute {name!r}") from None
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return list(__all__)
