from __future__ import annotations

from pathlib import Path

import pytest

from framework.errors import Problem, SpecError
from framework.spec.load import read

MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"


def write(**files):
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_an_experiment_without_rows_has_the_base_alone(load):
    loaded = load(MINIMAL)
    assert list(loaded.rows) == list(loaded.experiment.rows) == ["base"]
    assert loaded.rows["base"].changes == {}
    assert loaded.experiment.seeds == (1,)


def test_rows_stand_in_the_order_of_the_file(load):
    assert list(load(f"{MINIMAL}rows: {{z: {{}}, base: {{}}, a: {{}}}}\n").rows) == ["z", "base", "a"]


def test_a_file_extends_another_by_merging(load):
    score = "{name: kernel, options: {bandwidth: 2}}"
    write(
        base=f"{MINIMAL}model: {{d_model: 64, num_heads: 4, attention_score: {score}}}\n"
        "seeds: [1, 2]\nrows: {base: {label: one}, a: {change: {model.d_k: 1}}}\n"
    )
    loaded = load(
        "extends: base.yaml\nname: y\nmodel: {num_heads: 2, attention_score: {name: kernel}}\nseeds: [3]\n"
        "rows: {a: {label: two, change: {model.d_v: 2}}, b: {}}\n"
    )
    experiment = loaded.experiment
    assert (experiment.name, experiment.seeds) == ("y", (3,))
    assert (experiment.model.d_model, experiment.model.num_heads) == (64, 2)
    assert str(experiment.model.attention_score) == "kernel"  # a component is replaced whole, its options with it
    assert list(experiment.rows) == ["base", "a", "b"]
    assert experiment.rows["base"].label == "one"
    assert experiment.rows["a"].label == "two"
    assert loaded.rows["a"].changes == {"model.d_k": 1, "model.d_v": 2}


def test_a_chain_of_files_is_followed_each_relative_to_the_one_that_names_it(load):
    write(
        shared__root=f"{MINIMAL}model: {{d_ff: 7}}\n", shared__deep__middle="extends: ../root.yaml\nmodel: {d_k: 3}\n"
    )
    model = load("extends: shared/deep/middle.yaml\nname: z\n").experiment.model
    assert (model.d_ff, model.d_k) == (7, 3)


def test_a_mistake_in_an_extended_file_is_told_where_it_was_made(faults):
    write(base=f"{MINIMAL}model: {{d_k: x}}\nseeds: [1]\nseeds: [2]\n")
    assert faults("extends: base.yaml\nmodel: {d_v: y}\n") == [
        'base.yaml:3:9: model.d_k: expected a whole number; this is "x" (text)',
        "base.yaml:5:1: seeds: duplicate key; it stands first in line 4",
        'x.yaml:2:9: model.d_v: expected a whole number; this is "y" (text)',
    ]


@pytest.mark.parametrize(
    ("extends", "words"),
    [
        ("x.yaml", "x.yaml extends this file, or itself, in a circle"),
        ("./x.yaml", "./x.yaml extends this file, or itself, in a circle"),
        ("none.yaml", "there is no file none.yaml"),
        (".", "there is no file ."),
        ("[y.yaml]", "expected the path of another experiment file"),
        ("null", "expected the path of another experiment file"),
    ],
)
def test_extending_what_cannot_be_extended_is_told_beside_the_other_mistakes(faults, extends, words):
    assert faults(f"{MINIMAL}extends: {extends}\nmodel: {{d_k: x}}\n") == [
        f"x.yaml:3:1: extends: {words}",
        'x.yaml:4:9: model.d_k: expected a whole number; this is "x" (text)',
    ]


def test_a_circle_through_another_file_is_found(faults):
    write(y="extends: x.yaml\n")
    assert faults(f"{MINIMAL}extends: y.yaml\n") == [
        "y.yaml:1:1: extends: x.yaml extends this file, or itself, in a circle"
    ]


def test_a_misspelt_extends_is_caught(faults):
    assert faults(f"{MINIMAL}extens: y.yaml\n") == ["x.yaml:3:1: extens: unknown key 'extens'; did you mean 'extends'?"]


def test_plugin_paths_start_from_the_file_that_names_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(shared__base=f"{MINIMAL}plugins: [my.py, more/]\n", x="extends: shared/base.yaml\n")
    for file in ("shared/my.py", "shared/more/one.py", "a/b.py"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).touch()
    assert read(Path("x.yaml")).plugin_paths() == [Path("shared/my.py"), Path("shared/more")]
    assert read(Path("x.yaml"), ["plugins=[a/b.py]"]).plugin_paths() == [Path("a/b.py")]
    assert read(Path("x.yaml"), ["plugins=a/b.py"]).plugin_paths() == []  # validation tells what is wrong


def test_a_plugin_that_is_not_there_is_told_where_it_is_named_beside_the_other_mistakes(faults):
    write(shared__base=f"{MINIMAL}plugins: [none.py, notes.txt,\n  empty]\n")
    Path("shared/empty").mkdir()
    Path("shared/notes.txt").touch()
    assert faults("extends: shared/base.yaml\nmodel: {d_k: x}\n") == [
        "shared/base.yaml:3:11: plugins[0]: the plugin shared/none.py does not exist",
        "shared/base.yaml:3:20: plugins[1]: the plugin shared/notes.txt is no Python file or folder",
        "shared/base.yaml:4:3: plugins[2]: the folder shared/empty holds no Python file",
        'x.yaml:2:9: model.d_k: expected a whole number; this is "x" (text)',
    ]


def test_what_only_a_missing_file_leaves_out_is_no_second_mistake(faults):
    assert faults("extends: none.yaml\nmodel: {d_k: x}\n") == [
        "x.yaml:1:1: extends: there is no file none.yaml",
        'x.yaml:2:9: model.d_k: expected a whole number; this is "x" (text)',
    ]


@pytest.mark.parametrize("written", ["margin: .inf", "margin:\n    -.inf", "margin: .nan"])
def test_a_value_that_cannot_be_read_is_told_once(faults, written):
    assert faults(f"{MINIMAL}report:\n  {written}\n") == ["x.yaml:4:3: report.margin: a number must be finite"]
    changed = f"rows: {{base: {{change: {{train.{written.replace('margin', 'adam_epsilon')}}}}}}}\n"
    assert len(faults(f"{MINIMAL}{changed}")) == 1


def test_corpus_paths_start_from_the_file_that_names_the_corpus(load):
    corpus = "{name: text_pairs, options: {path: sub/p.tsv}}"
    write(shared__base=f"name: x\ndata: {{corpus: {corpus}}}\n")
    extending = "extends: shared/base.yaml\n"
    assert load(extending).rows["base"].base_dir == Path("shared")
    assert load(extending, "data.corpus.options.path=q.tsv").rows["base"].base_dir == Path("shared")
    assert load(extending, f"data.corpus={corpus}").rows["base"].base_dir == Path()
    assert load(extending, f"data={{corpus: {corpus}}}").rows["base"].base_dir == Path()
    rows = load(f"{extending}rows: {{base: {{}}, other: {{change: {{data.corpus: {corpus}}}}}}}\n").rows
    assert {name: row.base_dir for name, row in rows.items()} == {"base": Path("shared"), "other": Path()}


MISFIT = "choose a divisor, or set model.d_k"


def test_a_number_of_heads_that_does_not_divide_the_width_is_told_with_both_ways_out(faults, load):
    text = f"{MINIMAL}model: {{d_model: 512, num_heads: 3}}\n"
    assert faults(text) == [
        f"x.yaml:3:23: model.num_heads: model.d_model=512 is not divisible by model.num_heads=3: {MISFIT}"
    ]
    model = load(text, "model.d_k=64").experiment.model.resolved()
    assert (model.num_heads, model.d_k, model.d_v) == (3, 64, 64)  # 192 inside
    assert load(text, "model.d_k=64", "model.d_v=8").experiment.model.resolved().d_v == 8
    assert len(faults(text, "model.d_v=64")) == 1  # d_k would still have to be derived


def test_a_misfit_that_a_row_makes_is_told_at_its_change(faults):
    rows = "rows:\n  base: {}\n  wide:\n    change: {model.d_model: 100}\n  heads:\n    change: {model.num_heads: 7}\n"
    assert faults(MINIMAL + rows) == [
        f"x.yaml:6:5: rows.wide.change: model.d_model=100 is not divisible by model.num_heads=8: {MISFIT}",
        "x.yaml:8:14: rows.heads.change.model.num_heads: model.d_model=512 is not divisible by model.num_heads=7: "
        f"{MISFIT}",
    ]


TIED = (
    "source and target have vocabularies of their own and cannot share a table: "
    "set data.tokenizer.shared: true, or model.tie_embeddings: false"
)


def test_embeddings_of_two_vocabularies_cannot_be_tied(faults, load):
    """B23: whatever their sizes."""
    text = "name: x\ndata: {corpus: toy_translation, tokenizer: {shared: false}}\nmodel: {tie_embeddings: true}\n"
    assert faults(text) == [f"x.yaml:3:9: model.tie_embeddings: {TIED}"]
    assert not load(text, "model.tie_embeddings=false").experiment.model.tie_embeddings
    rows = "rows:\n  base: {}\n  apart: {change: {data.tokenizer.shared: false}}\n"
    assert faults(MINIMAL + rows) == [f"x.yaml:5:11: rows.apart.change: {TIED}"]


def test_the_baseline_is_one_of_the_rows(faults, load):
    text = f"{MINIMAL}baseline: bas\nrows: {{base: {{}}, x: {{}}}}\n"
    assert faults(text) == [
        "x.yaml:3:1: baseline: no row is named 'bas': set baseline to one that is; did you mean 'base'? "
        "There are: base, x"
    ]
    assert load(text, "baseline=x").experiment.baseline == "x"
    assert faults(f"{MINIMAL}rows: {{first: {{}}}}\n") == [
        "x.yaml:1:1: baseline: no row is named 'base': set baseline to one that is; there are: first"
    ]


def test_a_row_may_have_seeds_of_its_own(load):
    loaded = load(f"{MINIMAL}seeds: [1, 2]\nrows: {{base: {{seeds: [1, 2, 3]}}, a: {{}}}}\n")
    assert loaded.experiment.rows["base"].seeds == (1, 2, 3)
    assert loaded.experiment.rows["a"].seeds is None


def test_a_problem_that_shows_later_is_placed_where_its_value_was_written(load):
    rows = load(
        f"{MINIMAL}model:\n  positional_scheme: learned\n"
        "rows:\n  base: {}\n  b:\n    change: {model.positional_scheme: {name: learned}}\n"
    ).rows
    problem = Problem("is too small", "model.positional_scheme.options.max_positions")
    assert str(rows["base"].placed(problem)) == (
        "x.yaml:4:3: model.positional_scheme.options.max_positions: is too small"
    )
    assert str(rows["b"].placed(problem)) == (
        "x.yaml:8:14: rows.b.change.model.positional_scheme.options.max_positions: is too small"
    )


def test_a_missing_file_and_a_broken_one_are_told_about(tmp_path):
    with pytest.raises(SpecError, match=r"none\.yaml: cannot be read: No such file or directory$"):
        read(tmp_path / "none.yaml")


@pytest.mark.parametrize("text", ["", "rows: {base: {change: {model.d_k: x}}}\n"])
def test_problems_come_in_the_order_of_the_file(faults, text):
    lines = faults(f"{text}zzz: 1\nmodel: {{d_v: y}}\n")
    places = [tuple(map(int, line.split(":")[1:3])) for line in lines]
    assert places == sorted(places)
    assert len(lines) == len(set(lines))
