from __future__ import annotations

import time

import polars as pl
import pytest

from framework.journal import TrialFolder
from framework.report import Report, collect
from framework.spec import ExperimentSpec
from tests.framework.report.conftest import SECTIONS

SERVED = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0"


def test_rows_stand_in_the_order_of_the_experiment_with_their_figures(report, finished):
    rows = report(finished).rows
    assert rows["row"].to_list() == ["base", "h1", "N8"]
    assert rows["label"].to_list() == ["base", "1 head", "N8"]
    assert rows["verdict"].to_list() == ["baseline", "worse", "undecided"]
    assert rows["perplexity"].to_list() == pytest.approx([14.77 / 3, 15.73 / 3, 5.0])
    assert rows["bleu_difference"].to_list() == [None, pytest.approx(-2.5 / 3), pytest.approx(-0.1 / 3)]
    assert rows["perplexity_pairs"].to_list() == [None, 3, 3]
    assert rows["seconds"].to_list() == [90.0] * 3
    assert rows["peak_memory_megabytes"].to_list() == [500.0] * 3
    assert rows["train_keys"].to_list()[1] == ["h1-1", "h1-2", "h1-3"]


def test_the_reference_is_compared_with_its_own_baseline(report, finished):
    rows = report(finished).rows
    assert rows["reference_perplexity"].to_list() == [4.92, 5.29, 4.88]
    assert rows["reference_perplexity_difference"].to_list() == [
        None,
        pytest.approx(5.29 / 4.92 - 1),
        pytest.approx(4.88 / 4.92 - 1),
    ]
    assert rows["reference_bleu_difference"].to_list() == [None, pytest.approx(-0.9), pytest.approx(-0.3)]


def test_an_experiment_of_which_nothing_is_done_has_a_table(report, plan):
    found = report(plan, {"base": 285_000})
    assert found.rows["n"].to_list() == [0, 0, 0]
    assert found.rows["planned"].to_list() == [3, 3, 3]
    assert found.rows["perplexity"].null_count() == 3
    assert found.rows["parameters"].to_list() == [285_000, None, None]
    assert "0 of 9 trials are done; 9 to do" in found.notes
    assert found.warnings == ()


def test_a_diverged_seed_is_counted_and_told_and_its_pair_is_lost(report, plan, finish, diverge):
    for trial in plan:
        diverge(trial) if trial.evaluate_key == "h1-2-scores" else finish(trial, 4.9 + trial.seed / 100)
    found = report(plan)
    line = found.rows.row(1, named=True)
    assert (line["n"], line["planned"], line["diverged"]) == (2, 3, 1)
    assert (line["perplexity_pairs"], line["verdict"]) == (2, "n<3, 1 diverged")
    assert "h1, seed 2 diverged: loss is inf at step 7" in found.notes
    assert "8 of 9 trials are done; 1 diverged" in found.notes


def test_a_crash_is_told_with_its_reason(report, plan, fail):
    fail(plan[0])
    found = report(plan)
    assert found.rows["failed"].to_list() == [1, 0, 0]
    assert "base, seed 1 failed: OSError: no space left on device" in found.notes


def test_scale_and_rules_are_stated(report, finished):
    notes = report(finished).notes
    assert notes[0] == (
        "scale: train/pairs 2000, train/left_out 3; 400 steps; 1,000 padded tokens a side at most; 285,000 parameters"
    )
    assert notes[1] == (
        "seeds 1, 2, 3; differences to base are paired by seed; 95% intervals: ± of a row's own seeds (Student's t), "
        "[ ] of all differences of a column together; equivalent: the whole interval within ±2% perplexity"
    )
    assert notes[2] == (
        "perplexity per piece, natural log, unsmoothed, dev split; "
        "BLEU: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    )


def test_agreement_of_parameters_is_counted(report, finished):
    assert (
        "parameters agree with 0 of 2 printed figures; not with those of base (0.3), N8 (0.3)" in report(finished).notes
    )


def test_parameters_are_compared_as_the_reference_counted_them(report_of):
    """A model of 64.49M and 320 rows of width 512 make 64.65M, which rounds to the 65 that is printed."""
    found = report_of(
        parameters={"base": 64_490_000},
        rows={"base": {"reference": {"parameters_millions": 65}}},
        report={"reference_embedding_rows": 320},
        model={"d_model": 512},
    )
    assert found.rows["parameters"].to_list() == [64_490_000]
    assert found.rows["compared_parameters"].to_list() == [64_490_000 + 320 * 512]
    assert "parameters, counted with 320 more embedding rows, agree with 1 of 1 printed figures" in found.notes


def test_two_bleu_scorers_never_share_a_column(report, plan, finish):
    for trial in plan:
        other = {"signature": SERVED} if trial.evaluate_key == "N8-3-scores" else {}
        finish(trial, 4.9, 99.0 if other else 25.0 + trial.seed, **other)
    found = report(plan)
    line = found.rows.row(2, named=True)
    assert (line["bleu"], line["bleu_pairs"]) == (26.5, 2)
    assert line["perplexity_pairs"] == 3
    assert found.warnings == (
        f"N8 (seed 3) is scored by another BLEU ({SERVED}): it is left out of the column of "
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    )


def test_two_splits_never_share_a_column(report, plan, trial, finish):
    mixed = tuple(trial("N8", 1, evaluate={"split": "test"}) if each is plan[6] else each for each in plan)
    for each in mixed:
        finish(each, 4.9)
    found = report(mixed)
    assert found.rows["perplexity_pairs"].to_list() == [None, 3, 2]
    assert found.warnings == (
        "N8 (seed 1) is measured on another split (test) than the baseline: its figures have no place in "
        "these columns, the formats csv and json have them",
    )
    assert found.trials["test/perplexity"].to_list()[6] == 4.9


def test_seeds_of_a_row_that_score_unlike_tokens_never_share_a_column(report, plan, finish):
    for trial in plan:
        is_odd = trial.evaluate_key == "N8-1-scores"
        finish(trial, 99.0 if is_odd else 4.9, scored="30 tokens (4e5f6a7b)" if is_odd else "30 tokens (0a1b2c3d)")
    found = report(plan)
    line = found.rows.row(2, named=True)
    assert (line["perplexity"], line["perplexity_pairs"], line["baseline"]) == (4.9, 2, "base")
    assert found.warnings == (
        "N8 (seed 1) is measured on 30 tokens (4e5f6a7b), not on those of the row's other seeds: its figures have no "
        "place in these columns, the formats csv and json have them",
    )


@pytest.mark.parametrize("name", ["torch", "device"])
def test_trials_from_unlike_machines_are_warned_of(report, plan, finish, name):
    usual = {"torch": "2.13.0", "device": "cpu"}
    finish(plan[0], 4.9, environment=usual)
    finish(plan[1], 4.9, environment=usual | {name: "other"})
    assert report(plan).warnings == (
        f"the trials differ in {name} ({', '.join(sorted((usual[name], 'other')))}): "
        "small differences may come from that",
    )


def test_a_row_alone_is_shown_without_its_baseline(report, finished):
    found = report(finished[3:6])
    assert found.rows["row"].to_list() == ["h1"]
    assert found.rows["perplexity_difference"].to_list() == [None]
    assert found.rows["verdict"].to_list() == [""]


def test_without_a_corpus_there_is_a_table_too(report, trial):
    found = report(tuple(trial("base", seed, data_key=None, train_key=None, evaluate_key=None) for seed in (1, 2)))
    assert "0 of 2 trials are done; 2 no corpus" in found.notes
    assert found.rows["train_keys"].to_list() == [[]]


def test_any_metrics_scorer_parts_its_column(report, plan, finish, tmp_path):
    """A row that another chrF scored has no chrF here, and so no difference; its BLEU and the rest stay."""
    for trial in plan:
        finish(trial, 4.9, 25.0, further={"chrf": 50.0 + trial.seed, "word_perplexity": 30.0})
        folder = TrialFolder(tmp_path, trial.train_key)
        scores = folder.evaluation(trial.evaluate_key)
        assert scores is not None
        order = 2 if trial.row == "h1" else 0
        signatures = {"dev/chrf": f"chrF{order}", "dev/word_perplexity": "90 words"}
        folder.write_evaluation(trial.evaluate_key, scores.model_copy(update={"details": scores.details | signatures}))
    found = report(plan)
    line = found.rows.row(1, named=True)
    assert (line["dev/chrf"], line["dev/chrf_difference"], line["dev/word_perplexity"]) == (None, None, 30.0)
    assert (line["bleu"], line["bleu_pairs"]) == (25.0, 3)
    assert found.warnings == (
        "h1 (seed 1, 2, 3) is scored by another chrf (chrF2): it is left out of the column of chrF0",
    )
    assert found.notes[2].endswith("; BLEU: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0; chrf: chrF0")
    assert "dev/word_perplexity: 90 words" in found.notes, "what all have alike is said once"


def test_a_report_of_ten_thousand_trials_takes_seconds(make, trial, monkeypatch, tmp_path):
    """The cost of reading them aside, which is a file or two a trial."""
    rows: dict[str, dict[str, str]] = {"base": {}, **{f"row{at}": {} for at in range(1, 1000)}}
    experiment = make(ExperimentSpec, name="large", **SECTIONS, rows=rows)
    first = trial("base", 1)
    plan = tuple(first.model_copy(update={"row": row, "seed": seed}) for row in rows for seed in range(10))
    scores = [4.9 + (at * 7919 % 1000) / 1e5 for at in range(len(plan))]
    own = {"row": [each.row for each in plan], "seed": [each.seed for each in plan], "dev/perplexity": scores}
    keys = {"evaluate_key": [f"{each.row}-{each.seed}" for each in plan], "status": ["done"] * len(plan)}
    frame = pl.concat([collect.trials(plan[:1], tmp_path)] * len(plan)).with_columns(
        *(pl.Series(name, each) for name, each in (own | keys).items())
    )
    monkeypatch.setattr(collect, "trials", lambda *_: frame)
    start = time.perf_counter()
    found = Report.build(experiment, plan, tmp_path)
    assert (found.rows["perplexity_pairs"][1:] == 10).all()
    assert len(found.notes) > 3
    assert time.perf_counter() - start < 10
