"""Translation with teacher forcing: Sutskever et al. 2014, arXiv:1409.3215; Vaswani et al. 2017, arXiv:1706.03762."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Generator, Tensor

import framework as fw


class Translation(fw.Objective):
    """Say the target piece by piece, given the source: Sutskever et al. 2014, arXiv:1409.3215.

    source = pieces + EOS, decoder input = BOS + pieces, decoder output = pieces + EOS; all filled up with PAD.
    """

    name = "translation"
    architectures: ClassVar[frozenset[str]] = frozenset({"encoder_decoder"})
    metrics: ClassVar[tuple[str, ...]] = ("perplexity", "bleu")
    further_metrics: ClassVar[tuple[str, ...]] = (
        "accuracy",
        "exact_match",
        "bleu_compound_split",
        "chrf",
        "smoothed_perplexity",
        "word_perplexity",
    )
    needs_sources: ClassVar[bool] = True

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return torch.maximum(source_lengths, target_lengths) + 1  # EOS

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        begin, end = torch.tensor([fw.BOS]), torch.tensor([fw.EOS])
        source, source_padding = fw.padded([torch.cat([pieces, end]) for pieces in sources])
        target_input, target_padding = fw.padded([torch.cat([begin, pieces]) for pieces in targets])
        target_output, _ = fw.padded([torch.cat([pieces, end]) for pieces in targets])
        return fw.Batch(
            target_input=target_input,
            target_output=target_output,
            target_padding=target_padding,
            scored=target_padding,
            source=source,
            source_padding=source_padding,
        )


@fw.hookimpl
def objective() -> type[fw.Objective]:
    return Translation
