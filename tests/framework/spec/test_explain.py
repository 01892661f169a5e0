"""The sentences that a person reads who made a mistake in an experiment file."""

from __future__ import annotations

import pytest

from framework.spec.explain import unknown_key

MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"


def test_every_mistake_of_a_file_is_told_at_once_each_with_its_place(faults):
    assert faults("""\
name: five
data:
  corpus: toy_translation
  max_pieces: 12
  max_pieces: 13
model:
  d_model: true
  num_heads: "8"
  attention_score: {name: kernel, options: {bandwith: 2.0}}
  sites: {decoder: {cross: {attention_score: additiv}}}
""") == [
        "x.yaml:5:3: data.max_pieces: duplicate key; it stands first in line 4",
        "x.yaml:7:3: model.d_model: expected a whole number; this is true (true or false, not a number)",
        'x.yaml:8:3: model.num_heads: expected a whole number; this is "8" (text)',
        "x.yaml:9:45: model.attention_score.options.bandwith: unknown key 'bandwith'; did you mean 'bandwidth'?",
        "x.yaml:10:29: model.sites.decoder.cross.attention_score: no attention score is named 'additiv'; "
        "did you mean 'additive'? There are: additive, bilinear, cosine, dot_product, kernel",
    ]


@pytest.mark.parametrize(
    ("written", "path", "words"),
    [
        ("d_model: 8.0", "d_model", "expected a whole number; this is 8.0"),
        ("d_model: 1e3", "d_model", "expected a whole number; this is 1000.0"),
        ("d_model: null", "d_model", "expected a whole number; this is null"),
        ("d_model: no", "d_model", 'expected a whole number; this is "no" (text)'),
        ("d_model: 0", "d_model", "expected more than 0; this is 0"),
        ("d_model: 100000000000000000000", "d_model", "expected at most 1000000; this is 100000000000000000000"),
        ("num_layers: 10001", "num_layers", "expected at most 10000; this is 10001"),
        ("d_model: {a: 1}", "d_model", "expected a whole number; this is a mapping"),
        ("d_model: []", "d_model", "expected a whole number; this is an empty list"),
        ("dropout: 1.0", "dropout", "expected less than 1; this is 1.0"),
        ("dropout: -0.5", "dropout", "expected at least 0; this is -0.5"),
        ("dropout: true", "dropout", "expected a number; this is true (true or false, not a number)"),
        ("dropout: 'é'", "dropout", 'expected a number; this is "é" (text)'),
        ("residual: 1", "residual", "expected true or false; this is 1"),
        ("residual: 'true'", "residual", 'expected true or false; this is "true" (text)'),
        ("sites: 3", "sites", "expected a mapping; this is 3"),
        ("norm: rmsnorm", "norm", 'expected \'layer_norm\' or \'rms_norm\'; this is "rmsnorm" (text); did you mean '
         "'rms_norm'?"),
        ("norm_order: 7", "norm_order", "expected 'post_norm', 'pre_norm' or 'none'; this is 7"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_beside_what_belongs_there(faults, written, path, words):
    assert faults(f"{MINIMAL}model: {{{written}}}\n") == [f"x.yaml:3:9: model.{path}: {words}"]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("seeds: []", "x.yaml:3:1: seeds: expected 1 or more entries; this is an empty list"),
        ("seeds: 3", "x.yaml:3:1: seeds: expected a list; this is 3"),
        ("seeds: [1, -1]", "x.yaml:3:12: seeds[1]: expected at least 0; this is -1"),
        ("seeds: [99999999999999999999]", "x.yaml:3:9: seeds[0]: expected at most 9223372036854775807; this is "
         "99999999999999999999"),
        ("seeds: [1, 2, 1]", "x.yaml:3:15: seeds[2]: 1 stands twice: write it once"),
        ("rows: {base: {seeds: [3, 3]}}", "x.yaml:3:26: rows.base.seeds[1]: 3 stands twice: write it once"),
        ("evaluate: {metrics: [bleu, bleu]}", "x.yaml:3:28: evaluate.metrics[1]: bleu stands twice: write it once"),
        ("seeds: [yes]", 'x.yaml:3:9: seeds[0]: expected a whole number; this is "yes" (text)'),
        ("seeds: [true]", "x.yaml:3:9: seeds[0]: expected a whole number; this is true (true or false, not a number)"),
        ("seeds: [1.0]", "x.yaml:3:9: seeds[0]: expected a whole number; this is 1.0"),
        ("rows:", "x.yaml:3:1: rows: expected a mapping; this is null"),
        ("rows: {}", "x.yaml:3:1: rows: expected 1 or more entries; this is an empty mapping"),
        ("rows: [base]", "x.yaml:3:1: rows: expected a mapping; this is a list"),
        ("rows: {base: }", "x.yaml:3:8: rows.base: expected a mapping; this is null"),
        ("rows: {base: {seeds: []}}", "x.yaml:3:15: rows.base.seeds: expected 1 or more entries; this is an empty "
         "list"),
        ("rows: {base: {change: model.d_k}}", 'x.yaml:3:15: rows.base.change: expected a mapping; this is "model.d_k" '
         "(text)"),
        ("evaluate: {metrics: []}", "x.yaml:3:12: evaluate.metrics: expected 1 or more entries; this is an empty list"),
        ("data2: {}", "x.yaml:3:1: data2: unknown key 'data2'; did you mean 'data'?"),
        ("extend: y.yaml", "x.yaml:3:1: extend: unknown key 'extend'; did you mean 'extends'?"),
    ],
)  # fmt: skip
def test_the_outer_keys_are_told_about_likewise(faults, written, words):
    assert faults(f"{MINIMAL}{written}\n") == [words]


def test_a_row_s_name_has_a_form(faults):
    assert faults(f"{MINIMAL}rows: {{base: {{}}, a b: {{}}}}\n") == [
        'x.yaml:3:18: rows.a b: expected text of the form ^[A-Za-z0-9][A-Za-z0-9._-]*$; this is "a b" (text)'
    ]
    assert faults(f"{MINIMAL}rows: {{base: {{}}, {'a' * 101}: {{}}}}\n") == [
        f'x.yaml:3:18: rows.{"a" * 101}: expected at most 100 characters; this is "{"a" * 101}" (text)'
    ]


def test_a_key_that_is_missing_is_told_where_it_should_stand(faults):
    assert faults("") == ["x.yaml:1:1: name: is required", "x.yaml:1:1: data: is required"]
    assert faults("name: x\ndata: {max_pieces: 3}\n") == ["x.yaml:2:1: data.corpus: is required"]


@pytest.mark.parametrize("scale", ["'yes'", "yes", "[1]", "{a: 1}", "null"])
def test_a_value_that_fits_no_member_of_a_union_gives_one_sentence(faults, scale):
    (fault,) = faults(f"{MINIMAL}model: {{attention_score: {{name: dot_product, options: {{scale: {scale}}}}}}}\n")
    words = "x.yaml:3:56: model.attention_score.options.scale: expected true or false, or a number; this is "
    assert fault.startswith(words)


def test_bounds_of_a_union_s_member_are_said_with_it(faults):
    assert faults(f"{MINIMAL}model: {{attention_score: {{name: dot_product, options: {{scale: -1}}}}}}\n") == [
        "x.yaml:3:56: model.attention_score.options.scale: expected true or false, or more than 0; this is -1"
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("{train: {sorce: a, target: b}, dev: d.tsv}", "3:24: data.corpus.options.train.sorce: unknown key 'sorce'; "
         "did you mean 'source'?"),
        ("{train: t.tsv, dev: 3}", "3:30: data.corpus.options.dev: expected a mapping; this is 3"),
        ("{train: {source: a}, dev: d.tsv}", "3:16: data.corpus.options.train: name either a table, or a source and a "
         "target file that pair up line by line"),
        ("{whatever: 1, path: p.tsv}", "3:16: data.corpus.options.whatever: unknown key 'whatever'; known here: dev, "
         "path, source_column, split_column, target_column, test, train"),
    ],
)  # fmt: skip
def test_a_plugin_s_own_options_are_explained_at_any_depth(faults, options, words):
    assert faults(f"name: x\ndata: {{corpus: {{name: text_pairs,\n     options: {options}}}}}\n") == [f"x.yaml:{words}"]


def test_a_plugin_s_own_rule_is_said_in_its_own_words_also_for_the_short_form(faults):
    (fault,) = faults("name: x\ndata: {corpus: text_pairs}\n")
    assert fault.startswith("x.yaml:2:8: data.corpus.options: there are no files for train and dev: give path")


def test_an_unknown_key_is_told_what_there_is():
    assert unknown_key("d_modl", ["d_model", "d_ff"]) == "unknown key 'd_modl'; did you mean 'd_model'?"
    assert unknown_key("zzz", ["b", "a"]) == "unknown key 'zzz'; known here: a, b"
    assert unknown_key("zzz", []) == "unknown key 'zzz'; nothing can be set here"


def test_a_plugin_without_options_says_that_there_are_none(faults):
    assert faults(f"{MINIMAL}model: {{mask: {{name: full, options: {{width: 3}}}}}}\n") == [
        "x.yaml:3:38: model.mask.options.width: unknown key 'width'; nothing can be set here"
    ]
