"""Beam search with length normalisation: Wu et al. 2016, arXiv:1609.08144, section 7, without coverage.

The search knows no model, only what may follow a piece, so that it can be tried on scorers small enough to
search exhaustively. B sentences, N live hypotheses over all of them, K places per sentence, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import torch
from torch import Tensor

from framework.contracts import BOS, EOS, PAD
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.largest import largest


class Continuations(Protocol):
    """What may follow each of some hypotheses; remembers what came before. It begins with one per sentence."""

    def next(self, last: Tensor) -> tuple[Tensor, Tensor]:
        """Read the last pieces `(N,)` and score the next: scores `(N, V)`, to be overwritten, and normalisers `(N,)`.

        A log-probability is a score minus its row's normaliser: few of them are ever read, and subtracting from all
        would take a pass over the largest tensor of the search. `last` lies on the CPU, the results on any device.
        """
        ...

    def keep(self, rows: Tensor) -> None:
        """Let hypothesis r continue what hypothesis `rows[r]` was. `rows` is `(N',)`, on the CPU, and may repeat
        and omit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished output, without its end piece, and its length-normalised log-probability."""

    pieces: list[int]
    score: float


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """Give ((5 + length) / 6)^alpha, eq. 14, by which a log-probability is divided. EOS counts in the length."""
    return ((5 + length) / 6) ** alpha


def beam_search(continuations: Continuations, max_pieces: Tensor, beam_size: int, alpha: float) -> list[Hypothesis]:
    """Give the best finished hypothesis of each sentence.

    `max_pieces` is `(B,)`, on the CPU, without the end piece: a hypothesis of that length can only end, at the price
    of its EOS. A finished hypothesis keeps its place in the beam, so that a beam of 1 is greedy decoding; the decoder
    of arXiv:1706.03762, in tensor2tensor, gives the place away again and so looks a little further. A live hypothesis
    is dropped once it cannot beat the best finished one: log-probabilities only fall and, with alpha >= 0, nothing
    divides them by more than the penalty of the longest length allowed. A sentence without live hypotheses costs
    nothing. No sentence depends on another.

    The beams are kept on the CPU, wherever the model is: of the scores only the best of each hypothesis come there,
    once per piece, so that a device is waited for no oftener than that.

    Raises `Unmeasurable` if the log-probabilities are not finite.
    """
    best = [Hypothesis([], -math.inf)] * len(max_pieces)
    best_score = torch.full((len(max_pieces),), -math.inf, dtype=torch.float64)  # (B,)
    places = torch.full((len(max_pieces),), beam_size)  # (B,) not yet taken by a finished hypothesis
    longest = length_penalty(max_pieces.double() + 1, alpha)  # (B,)

    sentence = torch.arange(len(max_pieces))  # (N,) whose hypothesis it is, ascending
    score = torch.zeros(len(sentence), dtype=torch.float64)  # (N,)
    pieces = torch.full((len(sentence), 1), BOS)  # (N, length)
    for length in count(1):
        added, choice = _likeliest(*continuations.next(pieces[:, -1]), length > max_pieces[sentence], beam_size)
        row, piece, score = _best_continuations(score[:, None] + added, choice, sentence, places, beam_size)
        sentence, pieces = sentence[row], torch.cat([pieces[row], piece[:, None]], dim=1)

        ended = piece == EOS  # (N,)
        normalised = score / length_penalty(torch.tensor(length, dtype=torch.float64), alpha)
        for i in ended.nonzero().flatten().tolist():
            s = int(sentence[i])
            if normalised[i] > best_score[s]:
                best_score[s] = normalised[i]
                best[s] = Hypothesis(pieces[i, 1:-1].tolist(), float(normalised[i]))
        places -= torch.bincount(sentence[ended], minlength=len(places))

        live = ~ended & (score / longest[sentence] > best_score[sentence])
        sentence, score, pieces = sentence[live], score[live], pieces[live]
        if not len(sentence):
            break
        continuations.keep(row[live])
    if not best_score.isfinite().all():
        raise Unmeasurable("the log-probabilities of the trained model are not finite: its last updates diverged")
    return best


def _likeliest(scores: Tensor, normalisers: Tensor, must_end: Tensor, beam_size: int) -> tuple[Tensor, Tensor]:
    """Give the likeliest next pieces of each hypothesis, from scores `(N, V)` on any device: two `(N, W)` on the CPU.

    These are log-probabilities, in float64, and the pieces; W is the beam size or V, for no sentence can use more of
    one hypothesis. A hypothesis that `must_end`, `(N,)` on the CPU, is left nothing but its end.
    """
    scores[:, PAD] = scores[:, BOS] = -math.inf
    end = scores[:, EOS] - normalisers  # (N,)
    top, choice = largest(scores, min(beam_size, scores.size(1)))  # (N, W)
    added, choice = (top - normalisers[:, None]).cpu().double(), choice.cpu()
    if must_end.any():
        added[must_end] = -math.inf
        added[must_end, 0], choice[must_end, 0] = end.cpu().double()[must_end], EOS
    return added, choice


def _best_continuations(
    score: Tensor, choice: Tensor, sentence: Tensor, places: Tensor, beam_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """For each sentence its best continuations, as many as it has places.

    From the W likeliest continuations of each live hypothesis, their scores and pieces `(N, W)`: which hypothesis is
    continued, with which piece, and the new score, `(N',)` each, in order of sentence.
    """
    width = score.size(1)
    first = torch.searchsorted(sentence, torch.arange(len(places)))  # (B,) row of a sentence's first hypothesis
    rank = torch.arange(len(sentence)) - first[sentence]  # (N,)
    table = torch.full((len(places), beam_size, width), -math.inf, dtype=torch.float64)
    table[sentence, rank] = score
    ranked, index = table.flatten(1).topk(beam_size)  # (B, K)
    taken = (torch.arange(beam_size) < places[:, None]) & (ranked > -math.inf)  # (B, K)
    owner, index = taken.nonzero()[:, 0], index[taken]  # (N',)
    row = first[owner] + index // width
    return row, choice[row, index % width], ranked[taken]
