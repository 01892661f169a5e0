"""Corpus BLEU (Papineni et al. 2002) as sacreBLEU counts it: Post 2018, arXiv:1804.08771."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU

SUBWORD_MARKS = ("@@", "\u2581")  # of subword-nmt and of SentencePiece
_DETACHED_STOP = re.compile(r"\s[.!?]$")


class Bleu(NamedTuple):
    """A score from 0 to 100, how it was counted, and what makes it doubtful."""

    score: float
    signature: str
    doubts: tuple[str, ...]


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """Score detokenised text against one raw reference per line, with sacreBLEU's 13a tokenisation.

    Empty lines are allowed and count. BLEU multiplies the precisions of 1- to 4-grams over the whole corpus: where
    no line has four words it is 0, even for perfect output. Raises `ValueError` for unequal numbers of lines, or
    none.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses cannot be scored against {len(references)} references")
    if not references:
        raise ValueError("there are no lines to score")
    metric = BLEU(tokenize="13a", force=True)  # force: sacrebleu would log what `doubts` says, once per process
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    # sacrebleu takes the mean by logarithms and gives perfect output 100.00000000000004.
    return Bleu(min(score, 100.0), str(metric.get_signature()), _doubts(hypotheses, references))


def _doubts(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[str, ...]:
    """Signs that the output was not turned back into plain text; what the references hold too is no sign."""
    doubts = []
    for mark in SUBWORD_MARKS:
        marked = sum(mark in line for line in hypotheses)
        if marked and not any(mark in line for line in references):
            doubts.append(f"{marked} of {len(hypotheses)} hypotheses hold the sub-word mark {mark!r}: join the pieces")
    detached = sum(bool(_DETACHED_STOP.search(line)) for line in hypotheses)
    if detached > len(hypotheses) / 2 and not any(_DETACHED_STOP.search(line) for line in references):
        doubts.append(f"{detached} of {len(hypotheses)} hypotheses end in a detached full stop: detokenise them")
    return tuple(doubts)
