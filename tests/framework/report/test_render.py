from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from rich.console import Console

from framework.journal import TrialFolder
from framework.report import render


def pipe():
    return Console(file=StringIO(), force_terminal=False)


def screen(width, **settings):
    return Console(file=StringIO(), width=width, force_terminal=True, **settings)


def test_csv_has_a_line_per_trial_with_numbers_that_read_back_the_same(report, plan, finish):
    finish(plan[0], 4.900000000000001, 1 / 3)
    lines = list(csv.DictReader(StringIO(render(report(plan), "csv"))))
    assert [(line["row"], line["seed"], line["status"]) for line in lines[:2]] == [
        ("base", "1", "done"),
        ("base", "2", "to do"),
    ]
    assert float(lines[0]["dev/perplexity"]) == 4.900000000000001
    assert float(lines[0]["dev/bleu"]) == 1 / 3
    assert lines[1]["dev/perplexity"] == ""
    assert len(lines) == len(plan)


def test_csv_of_equal_experiments_has_equal_bytes(report, plan, finish):
    for trial in plan:
        finish(trial, 4.9, 25.0, seconds=1.0, peak_memory_bytes=1, environment={"torch": "1", "device": "cpu"})
    first = render(report(plan), "csv")
    for trial in plan:
        finish(trial, 4.9, 25.0, seconds=2.0, peak_memory_bytes=2, environment={"torch": "2", "device": "cuda"})
    assert render(report(plan), "csv") == first
    assert first.splitlines()[0] == ("row,group,seed,status,train_key,evaluate_key,parameters,dev/bleu,dev/perplexity")


def test_json_has_an_object_per_trial_with_plain_keys(report, plan, finish, diverge):
    finish(plan[0], 4.9, 25.8)
    diverge(plan[1])
    done, diverged, *_ = json.loads(render(report(plan), "json"))
    assert done == {
        "row": "base",
        "group": None,
        "seed": 1,
        "status": "done",
        "train_key": "base-1",
        "evaluate_key": "base-1-scores",
        "parameters": 285_000,
        "seconds": 90.0,
        "peak_memory_bytes": 500_000_000,
        "reason": None,
        "data": "train/pairs 2000, train/left_out 3",
        "torch": "2.13.0",
        "device": "cpu",
        "cpu_capability": None,
        "changes": {},
        "metrics": {"dev/perplexity": 4.9, "dev/bleu": 25.8},
        "details": {"dev/bleu": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"},
    }
    assert (diverged["status"], diverged["reason"], diverged["metrics"]) == (
        "diverged",
        "loss is inf at step 7",
        {},
    )


def test_rows_as_csv_and_json_have_means_intervals_differences_and_keys(report, finished):
    (_, head, _) = csv.DictReader(StringIO(render(report(finished), "csv", per="row")))
    assert (head["row"], head["n"], head["verdict"], head["reference_perplexity"]) == ("h1", "3", "worse", "5.29")
    assert float(head["perplexity_low"]) < float(head["perplexity"]) < float(head["perplexity_high"])
    assert head["train_keys"] == "h1-1 h1-2 h1-3"
    assert not {"seconds", "peak_memory_megabytes"} & head.keys()
    (_, same, _) = json.loads(render(report(finished), "json", per="row"))
    assert same["perplexity_difference"] == float(head["perplexity_difference"])
    assert (same["seconds"], same["evaluate_keys"][0]) == (90.0, "h1-1-scores")


def test_markdown_ends_with_the_trials_and_their_keys(report, finished):
    last = render(report(finished), "markdown").splitlines()[-1]
    assert last.startswith("| N8 | 3 | done | ")
    assert last.endswith(" | N8-3 | N8-3-scores |")


def test_what_scores_are_to_be_read_with_is_said_by_row_and_seed(report, plan, finish, tmp_path):
    for trial in plan[:2]:
        finish(trial, 4.9, 25.8)
        folder = TrialFolder(tmp_path, trial.train_key)
        scores = folder.evaluation(trial.evaluate_key)
        assert scores is not None
        details = {**scores.details, "dev/cut_off": "3 of 9 end at the last position", "dev/bleu_doubts": "a doubt"}
        folder.write_evaluation(trial.evaluate_key, scores.model_copy(update={"details": details}))
    notes = report(plan).notes
    assert "dev/cut_off of base (seed 1, 2): 3 of 9 end at the last position" in notes
    assert "dev/bleu_doubts of base (seed 1, 2): a doubt" in notes


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_tables_show_interval_difference_verdict_and_the_paper_beside(report, finished, format):
    text = render(report(finished), format, pipe())
    line = next(line for line in text.splitlines() if "1 head" in line)
    for cell in ("5.24 ± 0.12", "5.29", "+6.5% [+4.7, +8.3]", "+7.5%", "worse", "24.90 ± 0.75", "-0.83 [-1.55, -0.11]"):
        assert cell in line
    assert "undecided (±15.4%)" in text
    assert "smallest true difference" in text


def test_two_seeds_are_shown_as_points(report, plan, finish):
    for trial in plan:
        if trial.seed < 3:
            finish(trial, 4.9 + trial.seed / 10)
    line = next(line for line in render(report(plan), "markdown").splitlines() if "1 head" in line)
    assert "| 2/3 | 5.00, 5.10 | 5.29 | +0.0%, +0.0% |" in line
    assert "n<3" in line


def test_pairs_are_counted_where_they_are_fewer_than_the_seeds(report, plan, finish):
    for trial in plan[1:]:
        finish(trial, 4.9)
    line = next(line for line in render(report(plan), "markdown").splitlines() if "1 head" in line)
    assert "+0.0%, +0.0% (2 of 3)" in line


def test_what_nobody_has_gets_no_column(report, plan, finish):
    finish(plan[0], 4.9)
    head = next(line for line in render(report(plan), "markdown").splitlines() if line.startswith("| group"))
    assert "BLEU" not in head, "a reference is shown beside what was measured only"
    assert "| ref. | Δ perplexity |" in head


def test_every_measured_metric_has_its_mean_and_its_difference(report, plan, finish):
    accuracies = {"base": (0.90, 0.91, 0.92), "h1": (0.80, 0.82, 0.81), "N8": (0.91, 0.91, 0.91)}
    for trial in plan:
        further = {"accuracy": accuracies[trial.row][trial.seed - 1], "loss": 1.6, "surprise": 2.5}
        finish(trial, 4.9 + trial.seed / 100, 25.0, further=further)
    found = report(plan)
    for format in ("table", "markdown"):
        lines = render(found, format, pipe()).splitlines()
        head = next(line for line in lines if "Δ perplexity" in line)
        titles = ["verdict", "BLEU", "accuracy", "Δ accuracy", "surprise", "Δ surprise", "params (M)"]
        assert sorted(titles, key=head.index) == titles
        assert "loss" not in head, "that is the logarithm of the perplexity"
        line = next(line for line in lines if "1 head" in line)
        # Student's t(2) at 97.5 % is 4.3027, and the row's own scatter 0.01. The residuals of rows and seeds are 1/150
        # three times and -1/300 six times, 0.00707 over 4 degrees of freedom; Dunnett's value for two rows is 3.31.
        assert "0.810 ± 0.025" in line
        assert "-0.100 [-0.119, -0.081]" in line
        assert "2.500 ± 0.000" in line


def test_further_metrics_stand_in_the_lines_of_rows_by_their_full_names(report, plan, finish):
    for trial in plan:
        finish(trial, 4.9, further={"accuracy": 0.9 if trial.row == "base" else 0.8})
    (_, head, _) = csv.DictReader(StringIO(render(report(plan), "csv", per="row")))
    assert float(head["dev/accuracy"]) == pytest.approx(0.8)
    assert float(head["dev/accuracy_difference"]) == pytest.approx(-0.1)
    assert head["dev/accuracy_pairs"] == "3"
    assert head["bleu"] == ""
    (_, same, _) = json.loads(render(report(plan), "json", per="row"))
    assert same["dev/accuracy_low"] == pytest.approx(0.8)


def test_a_metric_may_bear_the_name_of_a_column(report, plan, finish):
    finish(plan[0], 4.9, further={"n": 7.0})
    found = report(plan)
    assert found.rows["n"].to_list() == [1, 0, 0]
    assert found.rows["dev/n"].to_list() == [7.0, None, None]
    assert "| base | 1/3 | 4.90 |" in render(found, "markdown")
    assert "| 7.000 |" in render(found, "markdown")


def test_an_enormous_perplexity_does_not_break_the_columns(report, plan, finish):
    finish(plan[0], 3.2e12)
    assert "| 3.20e+12 |" in render(report(plan), "markdown")


def test_figures_are_aligned_right(report, finished):
    shown = render(report(finished), "table", pipe()).splitlines()
    head = next(line for line in shown if line.startswith("group"))
    edge = head.index("Δ perplexity") + len("Δ perplexity")
    ends = {line[:edge].rstrip()[-1] for line in shown if line.startswith(("A ", "C "))}
    assert ends == {"]"}
    assert "---:" in render(report(finished), "markdown")


def test_a_pipe_gets_every_column_and_no_colours(report, finished):
    text = render(report(finished), "table", pipe())
    assert "memory (MB)" in text
    assert "…" not in text
    assert "\x1b" not in text


def test_a_narrow_terminal_drops_columns_and_says_which(report, finished):
    text = render(report(finished), "table", screen(80, no_color=True))
    assert "+6.5% [+4.7, +8.3]" in text
    assert "memory (MB)" not in text.partition("not shown for want of width:")[0]
    assert "not shown for want of width: " in text


def test_warnings_are_marked(report, plan, finish):
    finish(plan[0], 4.9, environment={"torch": "2.12.0", "device": "cpu"})
    finish(plan[1], 4.9)
    found = report(plan)
    assert "warning: the trials differ in torch (2.12.0, 2.13.0)" in render(found, "table", pipe())
    assert "- **warning:** the trials differ in torch" in render(found, "markdown")
    assert "\x1b[33m" in render(found, "table", screen(200, color_system="standard"))


def test_markdown_keeps_signs_of_its_own_out_of_cells(report, trial, tmp_path):
    failed = trial("base", 1)
    TrialFolder(tmp_path, "base-1").add_failure("KeyError: a|b*c", trace="")
    assert r"base, seed 1 failed: KeyError: a\|b\*c" in render(report((failed,)), "markdown")


@pytest.mark.parametrize("format", ["table", "markdown", "csv", "json"])
def test_every_format_shows_an_experiment_of_which_nothing_is_done(report, plan, format):
    text = render(report(plan), format, pipe())
    assert "base" in text
    assert text.endswith("\n")
