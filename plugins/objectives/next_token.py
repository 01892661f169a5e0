"""Next-token prediction: Bengio et al. 2003, JMLR 3; Radford et al. 2018, "Improving Language Understanding" (GPT)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Generator, Tensor

import framework as fw


class NextToken(fw.Objective):
    """Say a text piece by piece, each from those before it: Bengio et al. 2003; Radford et al. 2018 (GPT), equation 1.

    A pair is one sequence, BOS + source + EOS + target + EOS, and a text by itself, whose source is empty, is
    BOS + target + EOS. The input is all but the last piece, the output all but the first. Scored are the target's
    pieces and its EOS: a source is given, not said.
    """

    name = "next_token"
    architectures: ClassVar[frozenset[str]] = frozenset({"decoder_only"})
    metrics: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy")
    further_metrics: ClassVar[tuple[str, ...]] = (
        "bleu",
        "exact_match",
        "bleu_compound_split",
        "chrf",
        "smoothed_perplexity",
        "word_perplexity",
    )

    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        prompts = torch.where(source_lengths > 0, source_lengths + 1, 0)  # EOS
        return prompts + target_lengths + 1  # BOS in the input, EOS in the output

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> fw.Batch:
        begin, end = torch.tensor([fw.BOS]), torch.tensor([fw.EOS])
        prompts = [torch.cat([begin, pieces, end]) if len(pieces) else begin for pieces in sources]
        sequences = [torch.cat([prompt, pieces, end]) for prompt, pieces in zip(prompts, targets, strict=True)]
        target_input, padding = fw.padded([sequence[:-1] for sequence in sequences])  # (B, T)
        target_output, _ = fw.padded([sequence[1:] for sequence in sequences])  # (B, T)
        last_given = torch.tensor([len(prompt) - 1 for prompt in prompts])  # (B,), says the target's first piece
        return fw.Batch(
            target_input=target_input,
            target_output=target_output,
            target_padding=padding,
            scored=padding & (torch.arange(padding.shape[1]) >= last_given[:, None]),
        )


@fw.hookimpl
def objective() -> type[fw.Objective]:
    return NextToken
