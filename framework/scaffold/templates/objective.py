"""Go on with a text whose first pieces are given: next-token prediction (Bengio et al. 2003, JMLR 3) of the rest.

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: N examples, B batch, T length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import NonNegativeInt
from torch import Generator, Tensor

import framework as fw


class MyPlugin(fw.Objective):
    name = "my_plugin"
    architectures = frozenset({"decoder_only"})
    metrics = ("perplexity", "accuracy")

    class Options(fw.Options):
        """What an experiment can set."""

        given: NonNegativeInt = 2
        """Pieces at the start of each text that are read, not said; of a shorter one the end is said alone."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries: one mapping for each way that the plugin computes."""
        return ({}, {"given": 0})

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        """Give the positions that each of N examples takes, so that batches can be cut: int64 `(N,)`."""
        return source_lengths + target_lengths + 2

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        """Read BOS, the source, which a text by itself has none of, EOS and the target; say what follows each piece.

        Whatever is random would be drawn from the generator. The loss, the cross entropy of what is scored, is the
        framework's, unless an objective overrides `loss`.
        """
        begin, end = torch.tensor([fw.BOS]), torch.tensor([fw.EOS])
        texts = [torch.cat((begin, s, end, t, end)) for s, t in zip(sources, targets, strict=True)]
        target_input, padding = fw.padded([text[:-1] for text in texts])  # (B, T)
        target_output, _ = fw.padded([text[1:] for text in texts])  # (B, T)
        first = [len(s) + 1 + min(self.options.given, len(t)) for s, t in zip(sources, targets, strict=True)]
        scored = padding & (torch.arange(padding.size(1)) >= torch.tensor(first)[:, None])  # (B, T)
        return fw.Batch(target_input=target_input, target_output=target_output, target_padding=padding, scored=scored)


@fw.hookimpl
def objective() -> type[fw.Objective]:
    return MyPlugin
