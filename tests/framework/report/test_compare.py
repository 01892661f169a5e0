import random

import pytest

from framework.errors import SpecError
from framework.journal import Evaluation, Output, TrialFolder
from framework.report.compare import compare, comparison_lines

WORDS = ["the", "a", "small", "grey", "cat", "dog", "sat", "lay", "slept", "on", "under", "mat", "house", "tree"]


def line(seed):
    return " ".join(random.Random(seed).choices(WORDS, k=8))


REFERENCES = [line(seed) for seed in range(20)]


def worse(wrong):
    """The references with the last word of some lines wrong."""
    return [text if i not in wrong else f"{text.rpartition(' ')[0]} WRONG" for i, text in enumerate(REFERENCES)]


@pytest.fixture
def said(tmp_path):
    """`said(trial, hypotheses)`: leave the folder of a trial that generated these."""

    def write(trial, hypotheses, references=REFERENCES):
        outputs = tuple(Output(hypothesis=a, reference=b) for a, b in zip(hypotheses, references, strict=True))
        folder = TrialFolder(tmp_path, trial.train_key)
        folder.write_evaluation(trial.evaluate_key, Evaluation(metrics={"dev/bleu": 1.0}), outputs)

    return write


def test_rows_are_compared_at_each_seed_that_both_have(tmp_path, trial, said):
    plan = (trial("base", 1), trial("base", 2), trial("h1", 2), trial("h1", 3))
    said(plan[1], REFERENCES)
    said(plan[2], worse(range(20)))
    (found,) = compare(plan, tmp_path, "base", "h1", "bleu")
    assert found.seed == 2
    assert found.score == pytest.approx(100)
    # Of 8 words, 7 pairs, 6 and 5 longer n-grams in each line, the last is wrong.
    assert found.other_score == pytest.approx(100 * (7 / 8 * 6 / 7 * 5 / 6 * 4 / 5) ** 0.25)
    assert found.p_value == pytest.approx(1 / 10_001)  # no exchange of 10,000 made more of it
    assert found.signature.startswith("nrefs:1|ar:10000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert comparison_lines("base", "h1", [found]) == [
        "seed 2: base 100.00   h1    84.09   difference -15.91   p = 0.0001",
        found.signature,
    ]


def test_the_same_lines_give_the_same_p(tmp_path, trial, said):
    plan = (trial("base", 1), trial("h1", 1))
    said(plan[0], worse(range(0, 9)))
    said(plan[1], worse(range(7, 14)))
    first, again = (compare(plan, tmp_path, "base", "h1", "chrf") for _ in range(2))
    assert first == again
    assert 0.05 < first[0].p_value < 1
    assert "nc:6" in first[0].signature


@pytest.mark.parametrize(("wrong", "p_value"), [((), 1.0), ((3,), 1.0), ((3, 4), 0.5), ((3, 4, 5), 0.25)])
def test_few_lines_that_differ_prove_little(tmp_path, trial, said, wrong, p_value):
    # Leaving all d and exchanging all d give the difference again: 2 of 2^d ways.
    plan = (trial("base", 1), trial("h1", 1))
    said(plan[0], REFERENCES)
    said(plan[1], worse(wrong))
    (found,) = compare(plan, tmp_path, "base", "h1", "bleu")
    assert found.p_value == pytest.approx(p_value, abs=0.02)


def test_the_paper_s_way_of_scoring_has_its_own_signature(tmp_path, trial, said):
    plan = (trial("base", 1), trial("h1", 1))
    said(plan[0], worse((1,)))
    said(plan[1], worse((2,)))
    (found,) = compare(plan, tmp_path, "base", "h1", "bleu_compound_split")
    assert "|tok:moses-de-" in found.signature
    assert "+hyphen-split|smooth:none|" in found.signature


def test_rows_without_outputs_are_refused(tmp_path, trial, said):
    plan = (trial("base", 1), trial("h1", 1))
    said(plan[0], REFERENCES)
    expected = r"rows\.h1: row 'h1' has no outputs at seed 1: they are kept once `ablate run` has measured it by what"
    with pytest.raises(SpecError, match=expected):
        compare(plan, tmp_path, "base", "h1", "bleu")


def test_a_row_without_its_corpus_has_no_outputs(tmp_path, trial):
    plan = (trial("base", 1, data_key=None, train_key=None, evaluate_key=None), trial("h1", 1))
    with pytest.raises(SpecError, match="row 'base' has no outputs at seed 1"):
        compare(plan, tmp_path, "base", "h1", "bleu")


def test_unlike_references_are_refused(tmp_path, trial, said):
    plan = (trial("base", 1), trial("h1", 1))
    said(plan[0], REFERENCES)
    said(plan[1], REFERENCES[:19], REFERENCES[:19])
    expected = (
        r"data: rows 'base' and 'h1' were measured on unlike references at seed 1 \(20 and 19 lines\): give them the "
        r"same corpus, evaluate\.split and data\.max_pieces"
    )
    with pytest.raises(SpecError, match=expected):
        compare(plan, tmp_path, "base", "h1", "bleu")


def test_rows_that_share_no_seed_are_refused(tmp_path, trial):
    expected = r"seeds: rows 'base' and 'h1' have no seed in common: 'base' has 1, and 'h1' has 2; give both a seed"
    with pytest.raises(SpecError, match=expected):
        compare((trial("base", 1), trial("h1", 2)), tmp_path, "base", "h1", "bleu")


@pytest.mark.parametrize(
    ("row", "other", "metric", "expected"),
    [
        ("base", "bas", "bleu", r"compare: the experiment has no row 'bas'; did you mean 'base'\? There are: base, h1"),
        ("base", "base", "bleu", "compare: row 'base' cannot be compared with itself: name another"),
        ("base", "h1", "blue", r"--metric: outputs are not compared by 'blue'; did you mean 'bleu'\? There are: bleu,"),
    ],
)
def test_what_there_is_not_is_refused(tmp_path, trial, row, other, metric, expected):
    with pytest.raises(SpecError, match=expected):
        compare((trial("base", 1), trial("h1", 1)), tmp_path, row, other, metric)
