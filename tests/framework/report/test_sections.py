"""Rows on other data, or that score other tokens of it: a table of two tasks, of which the second has other options."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from framework.report import Report, render
from framework.report.sections import sections
from framework.spec import ExperimentSpec
from tests.framework.report.conftest import SECTIONS

LONG = {"corpus": {"name": "text_pairs", "options": {"path": "long.tsv"}}}
ONE_HEAD = {**SECTIONS["model"], "num_heads": 1}
ROWS: dict[str, dict[str, Any]] = {
    "base": {},
    "h1": {"change": {"model.num_heads": 1}},
    "long": {"change": {"data.corpus.options.path": "long.tsv"}},
    "long-h1": {"change": {"data.corpus.options.path": "long.tsv", "model.num_heads": 1}},
}


def pipe():
    return Console(file=StringIO(), force_terminal=False)


@pytest.fixture
def tasks(make):
    """The experiment; rows may stand in any order, and have whatever else a row may have."""
    return lambda rows=ROWS: make(ExperimentSpec, name="tasks", **SECTIONS, seeds=[1, 2, 3], rows=rows)


@pytest.fixture
def trials_of(trial):
    """The trials of a row: its model and data, and the data key of the latter."""

    def build(row, **fields):
        known: dict[str, dict[str, Any]] = {
            "base": {},
            "h1": {"model": ONE_HEAD},
            "long": {"data": LONG, "data_key": "long"},
            "long-h1": {"data": LONG, "data_key": "long", "model": ONE_HEAD},
        }
        return tuple(trial(row, seed, **{**known.get(row, {}), **fields}) for seed in (1, 2, 3))

    return build


@pytest.fixture
def both(trials_of):
    return sum(map(trials_of, ROWS), ())


@pytest.fixture
def report(tmp_path):
    return lambda experiment, plan: Report.build(experiment, plan, tmp_path)


def test_rows_on_the_same_data_are_one_section_without_a_heading(tasks, trials_of):
    (only,) = sections(tasks(), trials_of("base") + trials_of("h1"), {})
    assert (only.heading, only.rows, only.baseline) == ("", ("base", "h1"), "base")


def test_rows_are_parted_by_their_data_and_keep_the_order_of_the_file(tasks, both):
    rows = {name: ROWS[name] for name in ("long-h1", "base", "long", "h1")}
    long, short = sections(tasks(rows), both, {})
    assert (long.rows, long.baseline) == (("long-h1", "long"), "long")
    assert (short.rows, short.baseline) == (("base", "h1"), "base")
    assert (short.heading, long.heading) == ("on text_pairs(path=pairs.tsv)", "on text_pairs(path=long.tsv)")


def test_without_a_corpus_the_data_that_is_asked_for_parts_rows(tasks, trials_of):
    plan = sum((trials_of(row, data_key=None, train_key=None, evaluate_key=None) for row in ROWS), ())
    assert [section.rows for section in sections(tasks(), plan, {})] == [("base", "h1"), ("long", "long-h1")]


def test_the_same_text_from_two_places_is_the_same_data(tasks, trials_of):
    assert len(sections(tasks(), trials_of("base") + trials_of("long", data_key="data"), {})) == 1


def test_a_heading_tells_pieces_apart_where_they_are_not_the_same(tasks, trials_of):
    data = SECTIONS["data"] | {"tokenizer": {"vocabulary_size": 400}, "max_pieces": 100}
    plan = trials_of("base") + trials_of("long", data=data)
    headings = [section.heading for section in sections(tasks(), plan, {})]
    assert headings == [
        "on text_pairs(path=pairs.tsv), tokenizer.vocabulary_size=8000, max_pieces=256",
        "on text_pairs(path=pairs.tsv), tokenizer.vocabulary_size=400, max_pieces=100",
    ]


def test_only_a_row_that_changes_nothing_but_the_data_stands_in_for_the_baseline(tasks, trials_of):
    for change in ({"model": ONE_HEAD}, {"train": {"steps": 2}}, {"evaluate": {"beam_size": 1}}):
        _, other = sections(tasks(), trials_of("base") + trials_of("long", **change), {})
        assert other.baseline is None
    _, other = sections(tasks(), trials_of("base") + trials_of("long"), {})
    assert other.baseline == "long"


def test_a_row_that_writes_the_same_otherwise_stands_in_for_the_baseline(tasks, trials_of):
    full = {"self": {"mask": "full"}}
    everywhere = {"encoder": full, "decoder": {**full, "cross": {"mask": "full"}}}
    metrics = ("perplexity", "bleu")
    base = trials_of("base", evaluate={"metrics": metrics})
    for change in ({"d_k": 16}, {"sites": {"decoder": full}}, {"mask": "causal", "sites": everywhere}):
        model = {**SECTIONS["model"], **change}
        long = trials_of("long", model=model, evaluate={"metrics": metrics[::-1]})
        _, other = sections(tasks(), base + long, {})
        assert other.baseline == "long", change
    long = trials_of("long", model={**SECTIONS["model"], "sites": {"decoder": {"self": {"mask": "causal"}}}})
    _, other = sections(tasks(), trials_of("base") + long, {})
    assert other.baseline is None


def test_differences_and_verdicts_are_taken_within_a_section(report, tasks, both, finish):
    perplexities = {"base": 4.0, "h1": 5.0, "long": 40.0, "long-h1": 36.0}
    for trial in both:
        finish(trial, perplexities[trial.row], 20.0 + len(trial.row), further={"accuracy": 1 / perplexities[trial.row]})
    rows = report(tasks(), both).rows
    assert rows["verdict"].to_list() == ["baseline", "worse", "baseline", "better"]
    assert rows["baseline"].to_list() == ["base", "base", "long", "long"]
    assert rows["perplexity_difference"].to_list() == [None, pytest.approx(0.25), None, pytest.approx(-0.1)]
    assert rows["bleu_difference"].to_list() == [None, -2.0, None, 3.0]
    assert rows["dev/accuracy_difference"].to_list() == [None, pytest.approx(-0.05), None, pytest.approx(1 / 360)]


def test_the_reference_is_compared_within_a_section(report, tasks, both):
    printed = {"base": 4.0, "h1": 5.0, "long": 40.0, "long-h1": 36.0}
    rows = {name: {**row, "reference": {"perplexity": printed[name]}} for name, row in ROWS.items()}
    found = report(tasks(rows), both).rows["reference_perplexity_difference"].to_list()
    assert found == [None, pytest.approx(0.25), None, pytest.approx(-0.1)]


def test_notes_speak_of_each_section(report, tasks, both, finish):
    for trial in both:
        is_long = trial.row.startswith("long")
        finish(trial, 4.0 + len(trial.row) + trial.seed, data={"train/pairs": 7 if is_long else 2000})
    notes = report(tasks(), both).notes
    rest = "; 400 steps; 1,000 padded tokens a side at most; 285,000 parameters"
    assert notes[:2] == (
        f"on text_pairs(path=pairs.tsv): scale: train/pairs 2000{rest}",
        f"on text_pairs(path=long.tsv): scale: train/pairs 7{rest}",
    )
    assert notes[2].startswith("seeds 1, 2, 3; differences to base, long are paired by seed;")
    assert notes[4] == (
        "figures compare only within a section, whose rows share their data and the tokens of it that are scored; "
        "differences are to its baseline"
    )
    found = [note.partition(": ")[0] for note in notes if "smallest true difference in perplexity" in note]
    assert found == ["on text_pairs(path=pairs.tsv)", "on text_pairs(path=long.tsv)"]


def test_a_section_without_a_baseline_says_so_and_what_to_do(report, tasks, trials_of, finish):
    plan = trials_of("base") + trials_of("h1") + trials_of("long-h1")
    for trial in plan:
        finish(trial, 4.9)
    found = report(tasks(), plan)
    assert (
        "on text_pairs(path=long.tsv): no differences for long-h1, because no row here is base on other data: add one "
        "that changes only the data"
    ) in found.notes
    line = found.rows.row(2, named=True)
    assert (line["perplexity"], line["perplexity_difference"], line["verdict"], line["baseline"]) == (
        4.9,
        None,
        "",
        None,
    )


def test_sections_chosen_without_the_experiments_baseline_have_none(report, tasks, trials_of):
    found = report(tasks(), trials_of("h1") + trials_of("long"))
    assert "base is not among these rows, so that no section has a baseline" in found.notes
    assert found.rows["baseline"].to_list() == [None, None]


def test_a_table_shows_one_head_and_a_heading_over_each_section(report, tasks, both, finish):
    for trial in both:
        finish(trial, 4.9 if trial.row == "h1" else 1234.5)
    for console in (pipe(), Console(file=StringIO(), width=60, force_terminal=True, no_color=True)):
        lines = render(report(tasks(), both), "table", console).splitlines()
        head, *table = lines[1 : lines.index("", lines.index("on text_pairs(path=long.tsv)"))]
        assert head.startswith("row")
        starts = [line.partition(" ")[0] for line in table if not line.startswith(" ")]  # those go on from above
        assert starts == ["", "on", "base", "h1", "", "on", "long", "long-h1"]
        ends = {line.index(" ± ") for line in table if " ± " in line}
        assert len(ends) == 1, "figures stand in the same column in all sections"


def test_markdown_has_a_line_in_the_table_for_each_heading(report, tasks, both, finish):
    finish(both[0], 4.9)
    lines = render(report(tasks(), both), "markdown").splitlines()
    begin = lines.index("| **on text\\_pairs(path=pairs.tsv)** |  |  |  |  |  |  |  |")
    assert lines[begin - 2].startswith("| row | n | perplexity | Δ perplexity | verdict |")
    assert [line.split(" | ")[0] for line in lines[begin + 1 : begin + 6]] == [
        "| base",
        "| h1",
        "| **on text\\_pairs(path=long.tsv)**",
        "| long",
        "| long-h1",
    ]


def test_csv_and_json_name_the_row_that_differences_are_taken_from(report, tasks, both):
    lines = csv.DictReader(StringIO(render(report(tasks(), both), "csv", per="row")))
    assert [(line["row"], line["baseline"]) for line in lines] == [
        ("base", "base"),
        ("h1", "base"),
        ("long", "long"),
        ("long-h1", "long"),
    ]


ALL, SOME = "204 tokens (0a1b2c3d)", "30 tokens (4e5f6a7b)"


def test_rows_that_score_other_tokens_than_the_baseline_are_a_section_without_one(tasks, trials_of):
    rows: dict[str, dict[str, Any]] = {name: {} for name in ("masked", "base", "h1", "prefix", "hidden")}
    plan = sum(map(trials_of, rows), ())
    scored = {"masked": SOME, "base": ALL, "prefix": "90 tokens (00000000)", "hidden": SOME}
    other, usual, prefix = sections(tasks(rows), plan, scored)
    on = "on text_pairs(path=pairs.tsv), scoring"
    assert (usual.heading, usual.rows, usual.baseline) == (f"{on} {ALL}", ("base", "h1"), "base")
    assert (other.heading, other.rows, other.baseline) == (f"{on} {SOME}", ("masked", "hidden"), None)
    assert (prefix.heading, prefix.rows, prefix.baseline) == (f"{on} 90 tokens (00000000)", ("prefix",), None)
    assert [each.scores_unlike for each in (other, usual, prefix)] == ["base", None, "base"]


def test_what_is_scored_parts_rows_on_each_data_alone(tasks, both):
    same = sections(tasks(), both, {"base": ALL, "h1": ALL, "long": SOME, "long-h1": SOME})
    assert [(each.rows, each.baseline) for each in same] == [(("base", "h1"), "base"), (("long", "long-h1"), "long")]
    assert "scoring" not in "".join(each.heading for each in same)
    parted = sections(tasks(), both, {"base": ALL, "long": SOME, "long-h1": ALL})
    assert [(each.rows, each.baseline) for each in parted] == [
        (("base", "h1"), "base"),
        (("long",), "long"),
        (("long-h1",), None),
    ]
    assert (parted[1].heading, parted[2].scores_unlike) == (f"on text_pairs(path=long.tsv), scoring {SOME}", "long")


def test_until_the_baseline_is_measured_rows_of_its_objective_stand_with_it(tasks, trials_of):
    rows: dict[str, dict[str, Any]] = {"base": {}, "masked": {}, "h1": {}}
    masked = {"objective": {"name": "masked_token", "options": {"rate": 0.5}}}
    plan = trials_of("base") + trials_of("masked", train={**SECTIONS["train"], **masked}) + trials_of("h1")
    for scored in ({"masked": SOME}, {"masked": SOME, "h1": ALL}):
        usual, other = sections(tasks(rows), plan, scored)
        assert (usual.rows, usual.baseline, other.rows) == (("base", "h1"), "base", ("masked",))
    (only,) = sections(tasks(rows), plan, {"h1": ALL})
    assert (only.heading, only.rows) == ("", ("base", "masked", "h1"))
    parted = sections(tasks(rows), plan[3:], {"masked": SOME, "h1": ALL})
    assert [(each.rows, each.baseline, each.scores_unlike) for each in parted] == [
        (("masked",), None, None),
        (("h1",), None, "masked"),
    ]


def test_other_tokens_give_figures_and_neither_difference_nor_verdict(report, tasks, trials_of, finish):
    rows: dict[str, dict[str, Any]] = {"base": {}, "masked": {}, "h1": {}}
    plan = sum(map(trials_of, rows), ())
    for trial in plan:
        perplexity = {"base": 4.0, "h1": 5.0, "masked": 9.0}[trial.row]
        further = {"accuracy": 1 / perplexity}
        finish(trial, perplexity, 20.0, further=further, scored=SOME if trial.row == "masked" else ALL)
    found = report(tasks(rows), plan)
    line = found.rows.row(2, named=True)
    assert (line["row"], line["n"], line["perplexity"], line["bleu"]) == ("masked", 3, 9.0, 20.0)
    assert line["dev/accuracy"] == pytest.approx(1 / 9)
    differences = [line[f"{name}_difference"] for name in ("perplexity", "bleu", "dev/accuracy")]
    assert (differences, line["verdict"], line["baseline"]) == ([None] * 3, "", None)
    assert found.rows["verdict"].to_list() == ["baseline", "worse", ""]
    said = [note for note in found.notes if "cannot be compared" in note]
    assert said == [
        f"on text_pairs(path=pairs.tsv), scoring {SOME}: masked cannot be compared with base, because other tokens are "
        "scored: by another objective, by other options of it, or under a mask that leaves tokens out"
    ]
    assert not any("no row here is" in note for note in found.notes), "no row on other data is wanting"
    assert not any("dev/scored" in note for note in found.notes)
    for format in ("table", "markdown"):
        text = render(found, format, pipe()).replace("\\", "")
        assert text.index("| h1" if format == "markdown" else "\nh1") < text.index(f"scoring {SOME}")


def test_one_scoring_is_not_worth_a_word(report, tasks, trials_of, finish):
    plan = trials_of("base") + trials_of("h1")
    for trial in plan:
        finish(trial, 4.9, scored=ALL)
    for format in ("table", "markdown", "csv"):
        text = render(report(tasks(), plan), format, pipe())
        assert "scored" not in text
        assert "scoring" not in text
        assert ALL not in text
    assert f'"dev/scored": "{ALL}"' in render(report(tasks(), plan), "json")
