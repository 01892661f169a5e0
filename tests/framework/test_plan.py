from __future__ import annotations

import pytest

from framework.errors import SpecError
from framework.plan import corpus_of, plan
from framework.spec.load import read, validate
from tests.experiments.shipped import EXPERIMENTS, FILES

TEXT = """\
name: x
data: {corpus: {name: toy_translation, options: {train_pairs: 30, dev_pairs: 3, test_pairs: 3}}}
seeds: [2, 1]
rows:
  z: {}
  base: {seeds: [1, 2, 3], group: A}
  one-head: {change: {model.num_heads: 1}}
  same: {change: {model.num_heads: 8}, label: the same as base}
"""


@pytest.fixture
def load(tmp_path, registry):
    def load(text=TEXT, *settings):
        (tmp_path / "x.yaml").write_text(text)
        return validate(read(tmp_path / "x.yaml", settings), registry)

    return load


def test_every_row_with_every_seed_in_the_file_s_order(load, registry):
    trials = [(trial.row, trial.seed) for trial in plan(load(), registry)]
    assert trials == [
        ("z", 2), ("z", 1), ("base", 1), ("base", 2), ("base", 3), ("one-head", 2), ("one-head", 1), ("same", 2),
        ("same", 1),
    ]  # fmt: skip


def test_a_trial_holds_all_that_a_worker_needs(load, registry):
    trial = plan(load(), registry, rows=["one-head"], seeds=[1])[0]
    assert (trial.experiment, trial.row, trial.group, trial.seed) == ("x", "one-head", None, 1)
    assert trial.model.num_heads == 1
    assert trial.changes == {"model.num_heads": 1}
    assert plan(load(), registry, rows=["base"])[0].group == "A"


def test_a_trial_reads_back_from_json_as_itself(load, registry):
    trial = plan(load(), registry)[0]
    assert type(trial).model_validate_json(trial.model_dump_json(), context={"catalog": registry}) == trial


def test_planning_twice_gives_equal_plans(load, registry):
    assert plan(load(), registry) == plan(load(), registry)


def test_equal_rows_have_equal_keys_and_others_do_not(load, registry):
    keys = {(trial.row, trial.seed): (trial.train_key, trial.evaluate_key) for trial in plan(load(), registry)}
    assert keys["z", 1] == keys["base", 1] == keys["same", 1]
    assert len({keys["z", 1], keys["z", 2], keys["one-head", 1], keys["one-head", 2], keys["base", 3]}) == 5
    assert {trial.data_key for trial in plan(load(), registry)} == {plan(load(), registry)[0].data_key}


def test_a_selection_is_a_part_of_the_whole_plan(load, registry):
    whole = plan(load(), registry)
    some = plan(load(), registry, rows=["same", "base"], seeds=[3, 1])
    assert some == tuple(trial for trial in whole if trial.row in ("base", "same") and trial.seed in (1, 3))


@pytest.mark.parametrize(
    ("rows", "seeds", "words"),
    [
        (["one-hed"], [], "--row: the experiment has no row 'one-hed'; did you mean 'one-head'? There are: z, base, "
         "one-head, same"),
        (["zzzzz"], [], "--row: the experiment has no row 'zzzzz'; there are: z, base, one-head, same"),
        ([], [7], "--seed: the experiment has no seed 7; there are: 1, 2, 3"),
        (["z"], [3], "--seed: the experiment has no seed 3; there are: 1, 2"),
    ],
)  # fmt: skip
def test_a_row_or_a_seed_that_does_not_exist_is_refused(load, registry, rows, seeds, words):
    with pytest.raises(SpecError) as caught:
        plan(load(), registry, rows, seeds)
    assert str(caught.value) == words


def test_without_its_corpus_an_experiment_plans_with_null_keys(load, registry):
    corpus = "{name: text_pairs, options: {path: missing.tsv}}"
    rows = f"here: {{change: {{data.corpus: toy_translation}}}}, m: {{change: {{data.corpus: {corpus}}}}}"
    trials = plan(load(f"name: x\ndata: {{corpus: {corpus}}}\nrows: {{base: {{}}, {rows}}}\n"), registry)
    null = {trial.row: [trial.data_key, trial.train_key, trial.evaluate_key] for trial in trials}
    assert null["base"] == null["m"] == [None, None, None]
    assert None not in null["here"]


def test_planning_writes_nothing(load, registry, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    loaded = load()
    before = sorted(tmp_path.rglob("*"))
    plan(loaded, registry)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_corpus_is_built_in_the_folder_that_names_it(load, registry, tmp_path):
    row = load().rows["base"]
    corpus = corpus_of(row, registry)
    assert corpus.base_dir == tmp_path
    assert [len(list(corpus.pairs(split))) for split in corpus.splits()] == [30, 3, 3]


@pytest.mark.parametrize("name", FILES)
def test_every_experiment_of_the_project_loads_and_plans(name, registry):
    loaded = validate(read(EXPERIMENTS / name), registry)
    trials = plan(loaded, registry)
    seeds = {name: row.seeds or loaded.experiment.seeds for name, row in loaded.experiment.rows.items()}
    assert [(trial.row, trial.seed) for trial in trials] == [(row, seed) for row in seeds for seed in seeds[row]]


def test_the_experiments_of_the_project_are_found():
    assert {"quickstart.yaml", "table3.yaml"} <= set(FILES)
