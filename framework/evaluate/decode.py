"""Translation by a trained model: sources in, pieces out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from framework.contracts import Objective
from framework.data.batches import length_sorted_batches
from framework.evaluate.beam import beam_search
from framework.model.stack import StackState
from framework.model.transformer import Transformer
from framework.spec import EvaluateSpec


@dataclass(frozen=True, slots=True)
class Translations:
    """Pieces of every translation, in the order of the sources."""

    pieces: list[list[int]]
    cut_off: int
    """How many had to end because the model tells no further positions apart."""


def translate(model: Transformer, objective: Objective, sources: Sequence[Tensor], spec: EvaluateSpec) -> Translations:
    """Translate `sources`, 1-D id tensors without special pieces, by beam search.

    Sentences of similar length are decoded together; none depends on another. Each may have as many pieces as
    its source and `spec.max_extra_tokens` more. Leaves the model in evaluation mode. Raises `Unmeasurable`.
    """
    model.eval()
    lengths = torch.tensor([len(source) for source in sources], dtype=torch.int64)  # (N,)
    allowed = limit = lengths + spec.max_extra_tokens
    if model.max_positions is not None:
        limit = allowed.clamp(max=model.max_positions - 1)  # BOS takes a position of the decoder's input
    pieces: list[list[int]] = [[]] * len(sources)
    with torch.no_grad():
        for indices in length_sorted_batches(lengths, spec.batch_tokens):
            chosen = [sources[i] for i in indices.tolist()]
            continuations = _Decoder(model, objective, chosen)
            found = beam_search(continuations, limit[indices], spec.beam_size, spec.length_penalty)
            for i, hypothesis in zip(indices.tolist(), found, strict=True):
                pieces[i] = hypothesis.pieces
    produced = torch.tensor([len(p) for p in pieces], dtype=torch.int64)
    return Translations(pieces, cut_off=int(((produced == limit) & (limit < allowed)).sum()))


class _Decoder:
    """A model's `Continuations`: each source is encoded once, each position decoded once."""

    def __init__(self, model: Transformer, objective: Objective, sources: Sequence[Tensor]) -> None:
        nothing = torch.empty(0, dtype=torch.int64)
        batch = objective.batch(sources, [nothing] * len(sources))
        self._model = model
        self._memory = model.encode(batch.source, batch.source_padding)  # (N, S, D)
        self._memory_padding = batch.source_padding  # (N, S)
        self._states: StackState | None = model.start()
        self._position = 0

    def next(self, last: Tensor) -> Tensor:
        logits, self._states = self._model.decode(
            last[:, None],
            torch.tensor([[self._position]]),
            torch.ones(len(last), 1, dtype=torch.bool),
            self._memory,
            self._memory_padding,
            self._states,
        )
        self._position += 1
        return logits[:, -1].float().log_softmax(-1)  # (N, V)

    def keep(self, rows: Tensor) -> None:
        if torch.equal(rows, torch.arange(len(self._memory))):
            return  # the usual case of a small beam, and copying the states is what decoding spends most on
        assert self._states is not None
        self._states = self._states.reorder(rows)
        self._memory = self._memory[rows]
        self._memory_padding = self._memory_padding[rows]
