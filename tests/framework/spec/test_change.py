"""`--set` and the changes of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.errors import Place, SpecError
from framework.spec.change import assign, merge
from framework.spec.located import Located
from framework.spec.reading import read_text

MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"


def test_a_setting_changes_one_dotted_key_and_is_typed_as_yaml_is(load):
    model = load(MINIMAL, "model.dropout=1e-1", "model.d_k=7", "model.residual=false").experiment.model
    assert (model.dropout, model.d_k, model.residual) == (0.1, 7, False)


@pytest.mark.parametrize("setting", ["model.d_k=null", "model.d_k=~", "model.d_k="])
def test_a_setting_can_be_null(load, setting):
    assert load(f"{MINIMAL}model: {{d_k: 3}}\n", setting).experiment.model.d_k is None


def test_the_last_setting_of_a_key_counts(load):
    assert load(MINIMAL, "model.d_k=3", "model.d_k=5").experiment.model.d_k == 5


def test_a_setting_holds_for_every_row_that_does_not_change_it(load):
    rows = load(f"{MINIMAL}rows: {{base: {{}}, b: {{change: {{model.d_k: 3}}}}}}\n", "model.d_k=5").rows
    assert [row.spec.model.d_k for row in rows.values()] == [5, 3]


def test_lists_and_mappings_can_be_set(load):
    loaded = load(MINIMAL, "seeds=[3, 4]", "data.tokenizer={vocabulary_size: 300}", "rows.base.label=the base")
    assert loaded.experiment.seeds == (3, 4)
    assert loaded.experiment.data.tokenizer.vocabulary_size == 300
    assert loaded.experiment.rows["base"].label == "the base"


KERNEL = f"{MINIMAL}model: {{attention_score: {{name: kernel, options: {{bandwidth: 2.0}}}}}}\n"


@pytest.mark.parametrize(
    ("setting", "score"),
    [
        ("model.attention_score=dot_product", "dot_product"),
        ("model.attention_score={name: kernel}", "kernel"),
        ("model.attention_score.options.learned=shared", "kernel(bandwidth=2.0, learned=shared)"),
        ("model.attention_score.options={learned: shared}", "kernel(learned=shared)"),
    ],
)
def test_a_component_is_replaced_whole_and_an_option_alone(load, setting, score):
    assert str(load(KERNEL, setting).experiment.model.attention_score) == score
    key, _, value = setting.partition("=")
    changed = load(f"{KERNEL}rows: {{base: {{change: {{{key}: {value}}}}}}}\n").rows["base"]
    assert str(changed.spec.model.attention_score) == score


def test_an_option_can_be_changed_in_the_short_form_and_in_a_default(load):
    setting = "model.attention_score.options.scale=false"
    assert str(load(MINIMAL, setting).experiment.model.attention_score) == "dot_product(scale=False)"
    short = f"{MINIMAL}model: {{attention_score: dot_product}}\n"
    assert str(load(short, setting).experiment.model.attention_score) == "dot_product(scale=False)"
    corpus = load(MINIMAL, "data.corpus.options.dev_pairs=7").experiment.data.corpus
    assert str(corpus) == "toy_translation(dev_pairs=7)"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model.d_k", "a setting is written key=value"),
        ("", "a setting is written key=value"),
        ("=3", "'' is no dotted key"),
        ("model..d_k=3", "model..d_k: 'model..d_k' is no dotted key"),
        ("model.dk=3", "model.dk: unknown key 'dk'; did you mean 'd_k'?"),
        ("modl.d_k=3", "modl: unknown key 'modl'; did you mean 'model'?"),
        ("model.d_k=x", 'model.d_k: expected a whole number; this is "x" (text)'),
        ("model.d_k.x=1", "model.d_k: expected a whole number; this is a mapping"),
        ("model={d_modl: 3}", "model.d_modl: unknown key 'd_modl'; did you mean 'd_model'?"),
        ("model.dropout=.inf", "model.dropout: a number must be finite"),
        ("model.dropout=[1", "is no YAML: did not find expected ',' or ']'"),
        ("model.dropout=!!float 1", "model.dropout: the tag !!float is not allowed: write a plain value"),
        ("model.attention_score.options.scal=1", "model.attention_score.options.scal: unknown key 'scal'; did you mean "
         "'scale'?"),
        ("model.attention_score.name=kernel", "model.attention_score.name: a component is replaced whole: assign to "
         "model.attention_score instead of its name"),
        ("model.sites.decoder.cross.mask.options.x=1", "model.sites.decoder.cross.mask.options.x: "
         "model.sites.decoder.cross.mask names no component whose option could be changed"),
        ("model.num_heads=3", "model.num_heads: model.d_model=512 is not divisible by model.num_heads=3: choose a "
         "divisor, or set model.d_k"),
        ("model.d_model=12", "model.num_heads: model.d_model=12 is not divisible by model.num_heads=8: choose a "
         "divisor, or set model.d_k"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_setting_is_shown_with_the_setting_as_its_place(faults, setting, words):
    assert faults(MINIMAL, setting) == [f"--set {setting}: {words}"]


def test_mistakes_in_settings_and_in_the_file_are_told_together(faults):
    assert faults(f"{MINIMAL}model: {{d_k: x}}\n", "model.d_v", "model.d_v=y") == [
        "--set model.d_v: a setting is written key=value",
        '--set model.d_v=y: model.d_v: expected a whole number; this is "y" (text)',
        'x.yaml:3:9: model.d_k: expected a whole number; this is "x" (text)',
    ]


def rows(change):
    return f"{MINIMAL}rows:\n  base: {{}}\n  r:\n    change: {{{change}}}\n"


def test_a_row_changes_what_it_names_and_says_what(load):
    row = load(rows("model.num_heads: 4, train.label_smoothing: 0, data.tokenizer.vocabulary_size: 300")).rows["r"]
    assert row.spec.model.num_heads == 4
    assert row.spec.train.label_smoothing == 0.0
    assert row.spec.data.tokenizer.vocabulary_size == 300
    assert row.changes == {"model.num_heads": 4, "train.label_smoothing": 0, "data.tokenizer.vocabulary_size": 300}


@pytest.mark.parametrize("change", ["", "model.sites.decoder.cross.attention_score: additive"])
def test_the_base_is_not_touched_by_another_row_s_change(load, change):
    loaded = load(rows(change))
    assert loaded.rows["base"].spec.model == loaded.experiment.model
    assert loaded.rows["base"].changes == {}


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ("model.atention_score: kernel", "model.atention_score", "unknown key 'atention_score'; did you mean "
         "'attention_score'?"),
        ("model.atention.d_k: 16", "model.atention", "unknown key 'atention'; did you mean 'attention_score'?"),
        ("modl.d_k: 16", "modl.d_k", "a row changes keys inside model, data, train, evaluate; not 'modl.d_k'; did you "
         "mean 'model'?"),
        ("seeds: [1]", "seeds", "a row changes keys inside model, data, train, evaluate; not 'seeds'"),
        ("model: {d_k: 16}", "model", "a row changes keys inside a section, not the whole of it: write model.KEY"),
        ("model..d_k: 16", "model..d_k", "'model..d_k' is no dotted key"),
        ("model.d_k: no", "model.d_k", 'expected a whole number; this is "no" (text)'),
        ("model.attention_score.name: kernel", "model.attention_score.name", "a component is replaced whole: assign to "
         "model.attention_score instead of its name"),
        ("model.attention_score: {name: kernel, options: {bandwith: 2}}", "model.attention_score.options.bandwith",
         "unknown key 'bandwith'; did you mean 'bandwidth'?"),
        ("model.sites.decoder.cross.mask.options.x: 1", "model.sites.decoder.cross.mask.options.x",
         "model.sites.decoder.cross.mask names no component whose option could be changed"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_row_s_change_is_told_there(faults, change, key, words):
    column = 62 if "bandwith" in change else 14
    assert faults(rows(change)) == [f"x.yaml:6:{column}: rows.r.change.{key}: {words}"]


UNDONE = [
    ("model.attention_score.options.scale: false", "model.attention_score: dot_product"),
    ("model.sites.decoder.cross.attention_score: additive", "model.sites.decoder: {}"),
]


@pytest.mark.parametrize(("first", "whole"), UNDONE)
def test_a_change_that_would_silently_undo_an_earlier_one_is_refused(faults, load, first, whole):
    inner, outer = (change.partition(":")[0] for change in (first, whole))
    words = f"replaces all of {outer}, and so undoes {inner} before it: put this first"
    column = 14 + len(first) + 2
    assert faults(rows(f"{first}, {whole}")) == [f"x.yaml:6:{column}: rows.r.change.{outer}: {words}"]
    settings = [change.replace(": ", "=", 1) for change in (first, whole)]
    assert faults(MINIMAL, *settings) == [f"--set {settings[1]}: {outer}: {words}"]
    assert load(rows(f"{whole}, {first}")).rows["r"].spec.model == load(MINIMAL, *settings[::-1]).experiment.model


def test_a_file_may_replace_what_the_file_that_it_extends_changes_a_part_of(load):
    inner = "model.attention_score.options.scale: false"
    Path("base.yaml").write_text(
        f"{MINIMAL}rows: {{base: {{}}, A: {{}}, A.1: {{label: x}}, r: {{change: {{{inner}, model.d_k: 3}}}}}}\n"
    )
    loaded = load("extends: base.yaml\nrows: {A: {label: y}, r: {change: {model.attention_score: kernel}}}\n")
    assert loaded.rows["r"].changes == {"model.d_k": 3, "model.attention_score": "kernel"}
    assert loaded.experiment.rows["A.1"].label == "x"


@pytest.mark.parametrize("setting", ["extends=y.yaml", "extends.x=1"])
def test_what_a_file_extends_cannot_be_set(faults, setting):
    key = setting.partition("=")[0]
    assert faults(MINIMAL, setting) == [
        f"--set {setting}: {key}: is followed before anything is set: write it in a file"
    ]


def test_a_mistake_of_the_base_is_told_once_however_many_rows_inherit_it(faults):
    text = f"{MINIMAL}model: {{d_k: x}}\nrows: {{base: {{}}, a: {{}}, b: {{change: {{model.d_v: 3}}}}}}\n"
    assert faults(text) == ['x.yaml:3:9: model.d_k: expected a whole number; this is "x" (text)']


def test_merging_replaces_lists_scalars_and_components_and_merges_mappings():
    base = read_text("a: {b: 1, c: [1, 2]}\nmask: {name: x, options: {y: 1}}\nd: 3\n", "base.yaml")
    over = read_text("a: {c: [3], e: 4}\nmask: {name: z}\nd: {f: 5}\n", "over.yaml")
    merged = merge(base, over)
    assert merged.plain() == {"a": {"b": 1, "c": [3], "e": 4}, "mask": {"name": "z"}, "d": {"f": 5}}
    assert str(merged.follow(("a", "b"))[0].place) == "base.yaml:1:5"
    assert str(merged.follow(("a", "e"))[0].place) == "over.yaml:1:13"


def test_assigning_leaves_the_tree_it_was_given_alone():
    root = read_text("model: {d_k: 1}\n", "x.yaml")
    assigned = assign(root, "model.d_k", Located(2, Place("--set"), "model.d_k"))
    assert (root.plain(), assigned.plain()) == ({"model": {"d_k": 1}}, {"model": {"d_k": 2}})


def test_no_dotted_key_can_be_empty():
    with pytest.raises(SpecError, match=r"'a\.' is no dotted key"):
        assign(Located({}, Place("x"), ""), "a.", Located(2, Place("--set"), "a."))
