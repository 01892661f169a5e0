"""The page of the small table is what the record says, the record says what it may, and the command extends it."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pytest

import framework as fw
from docs.essay.picture import svg
from docs.results.table3_small import record as recorded
from docs.results.table3_small import tables
from docs.results.table3_small.__main__ import main
from docs.results.table3_small.page import PAGE, PICTURE, assumptions, disagreement, text, values
from docs.results.table3_small.picture import draw
from docs.results.table3_small.record import RECORD
from docs.results.table3_small.results import PAPER, SMALL, results
from framework.identity import train_key
from framework.journal import Evaluation, TrainingResult, TrialFolder
from framework.report.render import render
from tests.docs.essay.test_essay import words_and_numbers

KEPT = {"spec.json", "plugins.json", "training.json", "metrics.jsonl"}


@pytest.fixture(scope="module")
def committed():
    return results()


@pytest.fixture(scope="module")
def small():
    return fw.load(SMALL)


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(RECORD, tmp_path / "record")
    return tmp_path / "record"


def one_measured(record):
    """A trial of the record that has scores."""
    path = next(iter(sorted(record.glob("trials/*/evaluations/*.json"))))
    return path.parents[1], path


def made_up(trial, perplexity, home, diverged=False):
    """A finished trial with scores that were not measured, under keys of its own."""
    key = train_key({"made up": trial.row}, trial.seed)
    named = trial.model_copy(update={"data_key": "made-up", "train_key": key, "evaluate_key": f"{key[:-1]}e"})
    folder = TrialFolder(home, key)
    folder.write_spec(named)
    trained = TrainingResult(status="trained", steps=5000, parameters=400_000, seconds=600.0, peak_memory_bytes=10**8)
    folder.write_training(trained.diverged(7, "the loss is nan", 2.0) if diverged else trained)
    if not diverged:
        folder.write_evaluation(str(named.evaluate_key), Evaluation(metrics={"dev/perplexity": perplexity}))
    return named


@pytest.fixture(scope="module")
def complete(tmp_path_factory, small):
    """Results of all trials, by a formula: rows differ from base by the paper's ratio, A-h1 by its inverse."""
    home = tmp_path_factory.mktemp("complete")
    for number, trial in enumerate(small.plan()):
        reference = small.spec.rows[trial.row].reference
        ratio = reference.perplexity / 4.92 if reference else 1.5
        ratio = 1 / ratio if trial.row == "A-h1" else ratio
        scatter = 0.002 * math.sin(12.9898 * number)  # the fractions of such sines look like chance
        perplexity = 12 * ratio * math.exp(0.03 * trial.seed + scatter)
        made_up(trial, perplexity, home, diverged=(trial.row, trial.seed) == ("F-no-residual", 3))
    return results(home)


def test_the_page_is_what_the_record_says(committed):
    assert PAGE.read_text(encoding="utf-8") == text(committed), "run `make docs`"


def test_the_picture_is_what_the_record_says(committed):
    drawn, there = svg(lambda: draw(committed)).decode(), (RECORD / PICTURE).read_text(encoding="utf-8")
    (words, numbers), (expected_words, expected_numbers) = map(words_and_numbers, (drawn, there))
    assert words == expected_words, "run `make docs`"
    assert numbers == pytest.approx(expected_numbers, abs=0.05), "run `make docs`"  # of a point, 1/72 inch


def test_the_record_has_neither_text_of_the_corpus_nor_weights():
    for path in (path for path in RECORD.rglob("*") if path.is_file()):
        place = path.relative_to(RECORD).parts
        if place == (PICTURE,):
            continue
        trials, _key, *rest = place
        assert trials == "trials", path
        assert (rest[0] in KEPT and len(rest) == 1) or (rest[0] == "evaluations" and path.suffix == ".json"), path


def test_every_recorded_trial_is_on_the_page_and_links_to_its_folder(committed):
    linked = set(re.findall(r"\]\(table3-small/trials/([0-9a-f]{20})\)", text(committed)))
    assert linked == {path.name for path in (RECORD / "trials").iterdir()}


def test_every_row_has_the_figures_of_ablate_report(committed):
    page, report = text(committed), render(committed.report, "markdown")
    for row in committed.report.summaries:
        if row.perplexity is None:
            continue
        (ours,), (theirs,) = (
            re.findall(rf"^\|.* {re.escape(name)} \|.*$", body, re.M)[:1]
            for name, body in ((f"`{row.row}`", page), (row.label, report))
        )
        cells = [cell.strip() for cell in theirs.split("|")]
        assert {cells[3], cells[4]} <= {cell.strip() for cell in ours.split("|")}, row.row


def test_a_figure_changes_with_the_trial_that_it_comes_from(copy, committed):
    folder, path = one_measured(copy)
    scores = json.loads(path.read_bytes())
    scores["metrics"]["dev/perplexity"] += 1
    path.write_text(json.dumps(scores), encoding="utf-8")
    before, after = (dict(values(found)) for found in (committed, results(copy)))
    changed = {name for name in before if before[name] != after[name]}
    assert {"trials"} <= changed <= {"trials", "paper", "own", "certainty", "directions", "agreement"}
    (line,) = (line for line in after["trials"].splitlines() if folder.name in line)
    assert f"{scores['metrics']['dev/perplexity']:.4f}" in line
    assert (after["paper"] != before["paper"]) or (after["own"] != before["own"])


def test_an_unfinished_record_says_so_and_how_many_trials_each_row_has(copy):
    for path in sorted((copy / "trials").iterdir())[1:]:
        shutil.rmtree(path)
    found = results(copy)
    assert "**Unfinished: 1 of 88 trials are in**" in text(found, copy)
    assert sum(row.n for row in found.report.summaries) == 1
    assert set(found.report.trials["status"]) == {"done", "to do"}


def test_an_empty_record_has_a_page_too(tmp_path):
    (tmp_path / "trials").mkdir()
    page = text(results(tmp_path), tmp_path)
    assert "**Unfinished: 0 of 88 trials are in**" in page
    assert "No trial is in yet." in page


def test_of_a_complete_record_verdicts_and_disagreement_are_told(complete):
    said = values(complete, RECORD)
    assert said["standing"] == "All 88 trials are in, of which 1 diverged."
    verdicts = {row.row: row.verdict for row in complete.report.summaries}
    assert verdicts["C-N1"] == "worse"
    assert verdicts["A-h1"] == "better"
    assert verdicts["A-h16"] == "equivalent"
    assert verdicts["big"] == "n<3"
    (against,) = disagreement(complete)
    assert against.startswith("on the other side than in the paper: `A-h1` (better).")
    assert "direction: 10 of 11 rows" in said["agreement"]
    assert "Kendall's tau-b" in said["agreement"]
    assert "F-no-residual, seed 3: diverged at step 7: the loss is nan" in said["certainty"]
    assert any("degrees of freedom" in line for line in assumptions(complete.report))


def test_a_complete_picture_has_every_verdict_in_its_legend(complete):
    labels = {text.get_text() for text in draw(complete).legends[0].get_texts()}
    assert labels == {
        "margin of equivalence",
        "better",
        "worse",
        "equivalent or undecided",
        "a pair of seeds, without a verdict",
        "the paper (one run)",
    }


def test_trials_under_other_keys_than_today_s_are_said_to_be_of_an_earlier_program(complete):
    assert complete.earlier == 88
    assert values(complete, RECORD)["earlier"].startswith("Code of the program has changed since: 88 of them")


def test_a_row_stands_beside_the_paper_s_row_of_the_same_figures(small):
    ours, theirs = (
        [(row.group, row.reference) for row in experiment.spec.rows.values() if row.reference]
        for experiment in (small, fw.load(PAPER))
    )
    figures = [[(group, reference.perplexity, reference.bleu) for group, reference in rows] for rows in (ours, theirs)]
    assert figures[0] == figures[1]
    assert len(ours) == 20


def test_the_rows_whose_direction_is_compared_are_those_that_the_paper_tells_apart(committed):
    assert [row.row for row in tables.large(committed)] == [
        *("A-h1", "B-dk2", "C-N1", "C-N2", "C-d32", "C-d128", "C-ff128"),
        *("D-drop0", "D-ls0", "D-ls2", "big"),
    ]


def test_a_change_is_shown_with_the_paper_s_own_value(committed):
    rows = {row.row: row for row in committed.report.summaries}
    shown = {name: tables.change(committed, rows[name]) for name in ("base", "C-N1", "D-drop0", "F-no-scale")}
    assert shown == {"base": "–", "C-N1": "`num_layers` 1 (2)", "D-drop0": "`dropout` 0.0", "F-no-scale": "no scale"}


def test_the_command_keeps_what_is_finished_and_only_that(tmp_path, small, capsys):
    home, record, page = tmp_path / "home", tmp_path / "record", tmp_path / "page.md"
    trial = made_up(small.plan()[0], 12.0, home)
    folder = TrialFolder(home, str(trial.train_key))
    for name in ("lock", "checkpoint.safetensors", "evaluations/other.outputs.jsonl", "metrics.jsonl"):
        (folder.path / name).write_text("{}", encoding="utf-8")
    unfinished = made_up(small.plan()[1], 12.0, home)
    shutil.rmtree(TrialFolder(home, str(unfinished.train_key)).path / "evaluations")
    unknown = home / "trials" / "unknown"
    unknown.mkdir()
    (unknown / "spec.json").write_text("{}", encoding="utf-8")

    def kept():
        return {str(path.relative_to(record)): path.read_bytes() for path in record.rglob("*") if path.is_file()}

    main(["--from", str(home)], record, page)
    first = kept()
    place = f"trials/{trial.train_key}"
    assert set(first) == {
        PICTURE,
        f"{place}/spec.json",
        f"{place}/training.json",
        f"{place}/metrics.jsonl",
        f"{place}/evaluations/{trial.evaluate_key}.json",
    }
    assert "**Unfinished: 1 of 88 trials are in**" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out == f"1 of 88 trials are finished in {home}, and are in the record\n"
    main(["--from", str(home)], record, page)
    assert kept() == first


def test_what_is_recorded_counts_as_done_in_a_home_that_it_is_copied_into(copy):
    for path in (copy / "trials").iterdir():
        (evaluation,) = (path / "evaluations").glob("*.json")
        assert TrialFolder(copy, path.name).finished(evaluation.stem)
        assert evaluation.stem == json.loads((path / "spec.json").read_bytes())["evaluate_key"]


def test_a_folder_that_is_no_home_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--from", str(tmp_path)], tmp_path / "record", tmp_path / "page.md")
    assert "has no folder `trials`: name the home that `ablate run` wrote to" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not Path(tmp_path / "record").exists()


def test_two_trials_for_one_place_of_the_table_are_refused(tmp_path, small):
    trial = made_up(small.plan()[0], 12.0, tmp_path)
    folder = TrialFolder(tmp_path, "f" * 20)
    shutil.copytree(TrialFolder(tmp_path, str(trial.train_key)).path, folder.path)
    spec = json.loads((folder.path / "spec.json").read_bytes()) | {"train_key": "f" * 20}
    (folder.path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(fw.SpecError, match="are both row 'base' with seed 1, and the table has room for one: move one"):
        recorded.finished(tmp_path, small.plan(), small.registry)
