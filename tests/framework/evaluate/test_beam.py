import json
import math
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import BOS, EOS, PAD, SPECIAL_PIECES
from framework.evaluate.beam import beam_search, length_penalty
from framework.evaluate.errors import Unmeasurable

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/length_penalty.json").read_text())
V = 5  # PAD, BOS, EOS and two pieces
PIECES = range(SPECIAL_PIECES, V)


class Scorer:
    """A small scorer whose log-probabilities depend on the sentence and on the whole prefix."""

    def __init__(self, *sentences):
        self.rows: list[tuple[int, tuple[int, ...]]] = [(sentence, ()) for sentence in sentences]
        self.asked: list[int] = []

    def log_probs(self, sentence, prefix):
        seed = hash((sentence, prefix)) % 2**63
        # Sharper than one unit of noise, so that good hypotheses of several lengths compete.
        return (2 * torch.randn(V, generator=torch.Generator().manual_seed(seed))).log_softmax(-1)

    def next(self, last):
        self.asked.append(len(last))
        self.rows = [(s, (*prefix, int(p))) for (s, prefix), p in zip(self.rows, last, strict=True)]
        # Any normaliser will do, for what counts is the difference.
        scores = torch.stack([self.log_probs(*row) for row in self.rows])
        normalisers = torch.tensor([sentence % 8 for sentence, _ in self.rows]) / 4
        return scores + normalisers[:, None], normalisers

    def keep(self, rows):
        self.rows = [self.rows[row] for row in rows.tolist()]


class Table(Scorer):
    """Log-probabilities as listed by prefix, without BOS; what is not listed is all but impossible."""

    def __init__(self, table):
        super().__init__(0)
        self.table = table

    def log_probs(self, sentence, prefix):
        row = torch.full((V,), -1e4)
        for piece, value in self.table.get(prefix[1:], {}).items():
            row[piece] = value
        return row


def search(scorer, max_pieces, beam_size, alpha=0.6):
    return beam_search(scorer, torch.tensor(max_pieces), beam_size, alpha)


def log_probability(scorer, sentence, pieces):
    """Of a whole output, its end included."""
    prefix: tuple[int, ...] = (BOS,)
    total = 0.0
    for piece in (*pieces, EOS):
        total += float(scorer.log_probs(sentence, prefix)[piece])
        prefix = (*prefix, piece)
    return total


def normalised(scorer, sentence, pieces, alpha):
    return log_probability(scorer, sentence, pieces) / ((5 + len(pieces) + 1) / 6) ** alpha


def exhaustive(scorer, sentence, max_pieces, alpha):
    """The best of all outputs, one by one."""
    outputs = [pieces for n in range(max_pieces + 1) for pieces in product(PIECES, repeat=n)]
    best = max(outputs, key=lambda pieces: normalised(scorer, sentence, pieces, alpha))
    return list(best), normalised(scorer, sentence, best, alpha)


def greedy(scorer, sentence, max_pieces):
    prefix: tuple[int, ...] = (BOS,)
    while len(prefix) <= max_pieces:
        log_probs = scorer.log_probs(sentence, prefix)
        piece = max(range(EOS, V), key=lambda piece: float(log_probs[piece]))
        if piece == EOS:
            break
        prefix = (*prefix, piece)
    return list(prefix[1:])


SENTENCES = st.integers(0, 10**6)
ALPHAS = st.sampled_from([0.0, 0.6, 1.0, 2.0])


@given(sentence=SENTENCES, max_pieces=st.integers(0, 4), alpha=ALPHAS)
@settings(deadline=None, max_examples=60)
def test_a_beam_wide_enough_for_all_outputs_finds_the_best(sentence, max_pieces, alpha):
    scorer = Scorer(sentence)
    pieces, score = exhaustive(scorer, sentence, max_pieces, alpha)
    (found,) = search(scorer, [max_pieces], beam_size=2 ** (max_pieces + 2), alpha=alpha)
    assert found.pieces == pieces
    assert found.score == pytest.approx(score, abs=1e-5)


@given(sentence=SENTENCES, max_pieces=st.integers(0, 6), alpha=ALPHAS)
@settings(deadline=None, max_examples=60)
def test_a_beam_of_one_is_greedy(sentence, max_pieces, alpha):
    """B32"""
    scorer = Scorer(sentence)
    (found,) = search(scorer, [max_pieces], beam_size=1, alpha=alpha)
    assert found.pieces == greedy(scorer, sentence, max_pieces)


@given(sentence=SENTENCES, beam_size=st.integers(1, 6), alpha=ALPHAS)
@settings(deadline=None, max_examples=60)
def test_no_beam_beats_the_exhaustive_one_and_scores_are_true(sentence, beam_size, alpha):
    """B32"""
    scorer = Scorer(sentence)
    (found,) = search(scorer, [4], beam_size, alpha)
    (widest,) = search(Scorer(sentence), [4], 64, alpha)
    assert found.score <= widest.score + 1e-9
    assert found.score == pytest.approx(normalised(scorer, sentence, found.pieces, alpha), abs=1e-5)


@given(
    sentences=st.lists(st.tuples(SENTENCES, st.integers(0, 6)), min_size=1, max_size=6),
    beam_size=st.integers(1, 5),
)
@settings(deadline=None, max_examples=40)
def test_sentences_do_not_depend_on_each_other(sentences, beam_size):
    together = search(Scorer(*(s for s, _ in sentences)), [limit for _, limit in sentences], beam_size)
    alone = [search(Scorer(s), [limit], beam_size)[0] for s, limit in sentences]
    assert together == alone


SHORT_AND_LONG = {
    (): {3: -0.5, 4: -0.3},
    (3,): {3: -0.5},
    (3, 3): {EOS: -0.5},  # length 3 with its end, -1.5
    **{(4,) * n: {4: -0.3} for n in range(1, 5)},
    (4,) * 5: {EOS: -0.3},  # length 6 with its end, -1.8
}


def test_a_finished_hypothesis_does_not_stop_a_longer_one_that_can_still_win():
    """B32: -1.5 at length 3 against -1.8 at length 6."""
    (found,) = search(Table(SHORT_AND_LONG), [10], beam_size=2, alpha=GOLDEN["alpha"])
    assert found.pieces == [4] * 5
    assert found.score == pytest.approx(GOLDEN["long"]["score"], abs=1e-4)


def test_without_a_length_penalty_the_short_one_wins():
    """B32"""
    (found,) = search(Table(SHORT_AND_LONG), [10], beam_size=2, alpha=0.0)
    assert (found.pieces, found.score) == ([3, 3], pytest.approx(-1.5))


@pytest.mark.parametrize("case", ["short", "long"])
def test_the_end_counts_in_the_length(case):
    case = GOLDEN[case]
    penalty = length_penalty(torch.tensor(case["length"], dtype=torch.float64), GOLDEN["alpha"])
    assert case["log_probability"] / float(penalty) == pytest.approx(case["score"], abs=1e-4)


def test_padding_and_begin_are_never_produced():
    class Temptation(Scorer):
        def log_probs(self, sentence, prefix):
            log_probs = super().log_probs(sentence, prefix) - 5.0
            log_probs[[PAD, BOS]] = -0.01
            return log_probs

    for hypothesis in search(Temptation(*range(20)), [5] * 20, beam_size=3):
        assert set(hypothesis.pieces) <= set(PIECES)


def test_an_output_of_the_greatest_length_pays_for_its_end():
    endless = Table({(3,) * n: {3: -0.1, EOS: -7.0} for n in range(4)})
    (found,) = search(endless, [3], beam_size=1, alpha=0.0)
    assert (found.pieces, found.score) == ([3, 3, 3], pytest.approx(-0.3 - 7.0))


def test_no_pieces_allowed_is_an_empty_output():
    (found,) = search(Scorer(1), [0], beam_size=4)
    assert found.pieces == []


def test_the_search_ends_once_nothing_can_win():
    scorer = Table({(): {EOS: -0.01, 3: -5.0, 4: -6.0}})
    assert search(scorer, [100], beam_size=4)[0].pieces == []
    assert len(scorer.asked) == 1


def test_what_has_ended_is_computed_no_further():
    class EndsAtOnce(Scorer):
        def log_probs(self, sentence, prefix):
            if sentence == 0:
                return torch.tensor([-9.0, -9.0, -0.001, -9.0, -9.0])
            return torch.tensor([-9.0, -9.0, -9.0, -0.1, -0.2])

    scorer = EndsAtOnce(0, 0, 0, 1)
    search(scorer, [3] * 4, beam_size=2)
    assert scorer.asked == [4, 2, 2, 2]


def test_log_probabilities_that_are_not_numbers_are_refused():
    class Broken(Scorer):
        def log_probs(self, sentence, prefix):
            return torch.full((V,), math.nan)

    with pytest.raises(Unmeasurable, match="log-probabilities of the trained model are not finite"):
        search(Broken(0), [5], beam_size=2)
