"""What a trained model says: sources in, pieces out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from framework.contracts import Batch, Objective
from framework.data.batches import length_sorted_batches
from framework.evaluate.beam import beam_search
from framework.model.stack import StackState
from framework.model.transformer import GenerativeTransformer
from framework.seeds import derived_seed
from framework.spec import EvaluateSpec


@dataclass(frozen=True, slots=True)
class Outputs:
    """Pieces of every output, in the order of the sources."""

    pieces: list[list[int]]
    cut_off: int
    """How many had to end because the model tells no further positions apart."""


def generate(
    model: GenerativeTransformer, objective: Objective, sources: Sequence[Tensor], spec: EvaluateSpec
) -> Outputs:
    """Say what follows from each of `sources`, 1-D id tensors without special pieces, by beam search.

    Sources of similar length are worked on together; none depends on another. Each output may have as many pieces
    as its source and `spec.max_extra_tokens` more. Leaves the model in evaluation mode. Raises `Unmeasurable`.
    """
    model.eval()
    device = next(model.parameters()).device
    lengths = torch.tensor([len(source) for source in sources], dtype=torch.int64)  # (N,)
    positions = objective.lengths(lengths, torch.zeros_like(lengths))  # (N,)
    nothing = torch.empty(0, dtype=torch.int64)
    generator = torch.Generator().manual_seed(derived_seed("evaluation"))
    pieces: list[list[int]] = [[]] * len(sources)
    cut_off = 0
    with torch.no_grad():
        for indices in length_sorted_batches(positions, spec.batch_tokens):
            chosen = [sources[i] for i in indices.tolist()]
            batch = objective.batch(chosen, [nothing] * len(chosen), generator)
            for rows, prompt in _prompts(batch):
                group = indices[rows]
                allowed = limit = lengths[group] + spec.max_extra_tokens
                if model.max_positions is not None:  # the prompt takes some
                    limit = allowed.clamp(max=model.max_positions - prompt.target_input.size(1))
                found = beam_search(_Decoder(model, prompt.to(device)), limit, spec.beam_size, spec.length_penalty)
                for i, hypothesis in zip(group.tolist(), found, strict=True):
                    pieces[i] = hypothesis.pieces
                produced = torch.tensor([len(hypothesis.pieces) for hypothesis in found])
                cut_off += int(((produced == limit) & (limit < allowed)).sum())
    return Outputs(pieces, cut_off)


def _prompts(batch: Batch) -> Iterator[tuple[Tensor, Batch]]:
    """Part a batch by what the decoder starts from, in groups of one length: behind padding nothing can follow."""
    lengths = batch.target_padding.sum(1)  # (N,)
    for length in lengths.unique().tolist():
        rows = (lengths == length).nonzero()[:, 0]  # (N',)
        yield rows, batch.rows(rows, length)


class _Decoder:
    """A model's `Continuations`: each source is read once, each position decoded once."""

    def __init__(self, model: GenerativeTransformer, prompt: Batch) -> None:
        self._model = model
        self._prompt = prompt.target_input  # (N, L)
        self._device = prompt.target_input.device
        self._memory = model.read(prompt)  # (N, S, D), (N, S)
        self._states: StackState | None = model.start()
        self._position = 0
        self._hypotheses = len(self._prompt)

    def next(self, last: Tensor) -> tuple[Tensor, Tensor]:
        """See `Continuations.next`."""
        # At first the whole prompt, of which `last` is the beginning.
        new = last[:, None].to(self._device) if self._position else self._prompt  # (N, L)
        end = self._position + new.size(1)
        logits, self._states = self._model.decode(
            new,
            torch.arange(self._position, end, device=self._device)[None],
            torch.ones_like(new, dtype=torch.bool),
            *self._memory,
            self._states,
        )
        self._position = end
        scores = logits[:, -1].float()  # (N, V)
        return scores, scores.logsumexp(-1)

    def keep(self, rows: Tensor) -> None:
        """See `Continuations.keep`."""
        if torch.equal(rows, torch.arange(self._hypotheses)):
            return  # the usual case of a small beam, and copying the states is what decoding spends most on
        assert self._states is not None
        moved = rows.to(self._device)
        self._states = self._states.reorder(moved)
        self._hypotheses = len(rows)
        memory, padding = self._memory
        if memory is not None and padding is not None:
            self._memory = memory[moved], padding[moved]
