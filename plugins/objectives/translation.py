"""Translation with teacher forcing: Sutskever et al. 2014, arXiv:1409.3215; Vaswani et al. 2017, arXiv:1706.03762."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

import framework as fw


class Translation(fw.Objective):
    """Say the target piece by piece, given the source: Sutskever et al. 2014, arXiv:1409.3215.

    source = pieces + EOS, decoder input = BOS + pieces, decoder output = pieces + EOS; all filled up with PAD.
    """

    name = "translation"
    architectures: ClassVar[frozenset[str]] = frozenset({"encoder_decoder"})
    metrics: ClassVar[tuple[str, ...]] = ("perplexity", "bleu")

    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor]) -> fw.Batch:
        begin, end = torch.tensor([fw.BOS]), torch.tensor([fw.EOS])
        source, source_padding = _padded([torch.cat([pieces, end]) for pieces in sources])
        target_input, target_padding = _padded([torch.cat([begin, pieces]) for pieces in targets])
        target_output, _ = _padded([torch.cat([pieces, end]) for pieces in targets])
        return fw.Batch(source, source_padding, target_input, target_output, target_padding)

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        """Give the summed cross entropy in nats, in float32, and the number of target tokens, EOS included.

        The smoothing mass is spread evenly over the whole vocabulary, the right token and the special pieces
        included (Szegedy et al. 2016, arXiv:1512.00567, section 7).
        """
        loss = F.cross_entropy(
            logits.float().flatten(0, 1),  # (B*T, V)
            batch.target_output.flatten(),  # (B*T,)
            ignore_index=fw.PAD,
            label_smoothing=label_smoothing,
            reduction="sum",
        )
        return loss, batch.target_padding.sum()


def _padded(sequences: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Ids `(B, L)` and padding `(B, L)`, True where a sequence reaches."""
    ids = pad_sequence(sequences, batch_first=True, padding_value=fw.PAD)  # (B, L)
    lengths = torch.tensor([len(sequence) for sequence in sequences])  # (B,)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


@fw.hookimpl
def objective() -> type[fw.Objective]:
    return Translation
