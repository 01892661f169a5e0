from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.identity import components_used, data_key, digest, key_of, provenance
from framework.plan import plan
from framework.registry import Registry
from framework.sources import named
from framework.spec import INCIDENTAL, DataSpec, EvaluateSpec, ModelSpec, TokenizerSpec, TrainSpec
from framework.spec.load import read, validate
from tests.framework.plugin_files import install, plugin, score, write_one_of_each

# After a change of identity that is meant, raise NUMERICS_VERSION if numbers change as well, and write what
# `pytest -q tests/framework/test_identity.py -k golden` shows as new into this file.
GOLDEN = json.loads((Path(__file__).parents[1] / "golden/keys.json").read_text())["keys"]

MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"

Keys = dict[str, str | None]


@pytest.fixture
def keys(tmp_path: Path) -> Callable[..., Keys]:
    """The keys of the first trial of an experiment that is planned with the plugins of a folder."""

    def keys(text: str = MINIMAL, *settings: str, plugins: Path | None = None) -> Keys:
        registry = Registry(named([plugins or write_one_of_each(tmp_path / "plugins")]))
        file = tmp_path / "x.yaml"
        file.write_text(text)
        trial = plan(validate(read(file, settings), registry), registry)[0]
        return {"data": trial.data_key, "train": trial.train_key, "evaluate": trial.evaluate_key}

    return keys


def changed(before: Keys, after: Keys) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def test_golden_keys_are_what_they_were(keys):
    assert keys(MINIMAL) == GOLDEN


def test_the_same_in_another_process_with_another_hash_seed(registry):
    file = Path(__file__).parents[2] / "experiments/quickstart.yaml"
    program = f"""
from pathlib import Path
from framework.plan import plan
from framework.registry import Registry
from framework.spec.load import read, validate
registry = Registry.load()
print([trial.evaluate_key for trial in plan(validate(read(Path({str(file)!r})), registry), registry)])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7" if os.environ.get("PYTHONHASHSEED") != "7" else "8"},
        cwd=file.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    here = [trial.evaluate_key for trial in plan(validate(read(file), registry), registry)]
    assert done.stdout == f"{here}\n"


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL.replace("name: x", "name: other"),
        f"# a comment\n\n{MINIMAL}",
        "data:\n  corpus: {name: toy_translation, options: {}}\nname: x\n",
        f"{MINIMAL}model: {{d_k: 64, d_v: 64}}\n",
        f"{MINIMAL}model: {{dropout: 0.10, attention_dropout: 0}}\n",
        f"{MINIMAL}rows: {{base: {{label: b, group: g, reference: {{bleu: 25.8}}}}}}\n",
        f"{MINIMAL}rows: {{other: {{seeds: [1, 2]}}}}\nbaseline: other\n",
        f"{MINIMAL}report: {{margin: 0.1}}\n",
        f"{MINIMAL}rows: {{base: {{change: {{model.num_heads: 8}}}}}}\n",
        f"{MINIMAL}model: {{sites: {{encoder: {{self: {{attention_score: dot_product, mask: full}}}}}}}}\n",
        f"{MINIMAL}evaluate: {{metrics: [bleu, perplexity]}}\n",
    ],
)
def test_names_labels_references_and_ways_of_writing_are_outside(keys, text):
    assert keys(text) == keys(MINIMAL)


# A value for each field that differs from the default.
MODEL = {
    "d_model": 256, "d_ff": 1, "num_layers": 1, "num_heads": 4, "d_k": 3, "d_v": 3, "dropout": 0.2,
    "attention_dropout": 0.2, "feed_forward_dropout": 0.2, "projection_bias": "false", "norm_order": "pre_norm",
    "norm": "rms_norm", "residual": "false", "tie_embeddings": "false",
    "sites": "{decoder: {cross: {attention_score: other}}}", "attention_score": "other", "positional_scheme": "other",
    "mask": "other", "mixer": "other", "feed_forward": "other",
}  # fmt: skip
TRAIN = {
    "objective": "other", "steps": 7, "batch_tokens": 1000, "warmup_steps": 7, "learning_rate_factor": 2,
    "adam_beta1": 0.5, "adam_beta2": 0.5, "adam_epsilon": "1e-8", "gradient_clip": 1, "label_smoothing": 0.2,
    "precision": "bfloat16", "micro_batch_tokens": 100, "label_smoothing_over": "others", "compile": "true",
}  # fmt: skip
EVALUATE = {
    "split": "test", "metrics": "[perplexity]", "beam_size": 1, "length_penalty": 1, "max_extra_tokens": 1,
    "batch_tokens": 500, "moses_language": "en", "average_last": 2, "average_every": 7,
}  # fmt: skip
TOKENIZER = {"vocabulary_size": 300, "shared": "false"}
INSIDE = {
    **{f"model.{key}={value}": {"train", "evaluate"} for key, value in MODEL.items()},
    **{f"train.{key}={value}": {"train", "evaluate"} for key, value in TRAIN.items()},
    **{f"evaluate.{key}={value}": {"evaluate"} for key, value in EVALUATE.items()},
    **{f"data.tokenizer.{key}={value}": {"data", "train", "evaluate"} for key, value in TOKENIZER.items()},
    "data.max_pieces=7": {"data", "train", "evaluate"},
    "seeds=[2]": {"train", "evaluate"},
}


def others(folder):
    """A plugin called `other` of every kind beside those called as the defaults are."""
    write_one_of_each(folder)
    for file in list(folder.glob("*.py")):
        name = next(line for line in file.read_text().splitlines() if line.startswith("    name = "))
        (folder / f"other_{file.name}").write_text(file.read_text().replace(name, '    name = "other"'))
    return folder


@pytest.mark.parametrize("setting", INSIDE)
def test_what_determines_results_is_inside_and_in_no_key_further_up(keys, tmp_path, setting):
    plugins = others(tmp_path / "both")
    text = f"{MINIMAL}model: {{tie_embeddings: true}}\n"
    untied = ["model.tie_embeddings=false"] if "shared" in setting else []
    before = keys(text, *untied, plugins=plugins)
    assert changed(before, keys(text, *untied, setting, plugins=plugins)) == INSIDE[setting]


def test_the_settings_above_are_all_there_are():
    assert set(MODEL) | {"architecture"} == set(ModelSpec.model_fields)  # one architecture so far
    incidental = {name for name, field in TrainSpec.model_fields.items() if INCIDENTAL in field.metadata}
    assert incidental == {"log_every", "evaluate_every", "checkpoint_every", "keep"}
    assert set(TRAIN) | incidental == set(TrainSpec.model_fields)
    assert set(EVALUATE) == set(EvaluateSpec.model_fields)
    assert set(TOKENIZER) | {"algorithm"} == set(TokenizerSpec.model_fields)  # one algorithm so far
    assert set(DataSpec.model_fields) == {"corpus", "tokenizer", "max_pieces"}


@pytest.mark.parametrize("name", ["log_every", "evaluate_every", "checkpoint_every"])
def test_intervals_of_logging_are_outside(keys, name):
    assert keys(MINIMAL, f"train.{name}=7") == keys(MINIMAL)


def test_a_plugin_s_option_is_inside(registry, make):
    def used(options):
        spec = make(ModelSpec, attention_score={"name": "kernel", "options": options})
        return key_of(spec.attention_score.model_dump(mode="json"))

    assert used({}) == used({"bandwidth": None, "learned": "no"})
    assert used({"bandwidth": 2}) == used({"bandwidth": 2.0}) != used({})


PROSE = '''
# A comment at the top
"""Other words."""

import framework as fw

class Plugin(fw.Mask):
    """New words."""
    name = (
        'full'
    )
    """Words below a field."""
    def allowed(self,query_positions,   key_positions):
        """More words."""
        return None  # nothing

@fw.hookimpl
def mask(): return Plugin
'''


def test_comments_docstrings_and_formatting_of_a_plugin_s_file_are_outside(keys, tmp_path):
    before = keys()
    plugins = write_one_of_each(tmp_path / "elsewhere")
    (plugins / "mask.py").write_text(PROSE)
    os.utime(plugins / "mask.py", (0, 0))
    assert keys(plugins=plugins) == before


def test_a_plugin_s_formula_is_inside_and_another_plugin_s_is_not(keys, tmp_path):
    before = keys()
    plugins = write_one_of_each(tmp_path / "elsewhere")
    (plugins / "unused.py").write_text(score("unused"))
    assert keys(plugins=plugins) == before
    (plugins / "attention_score.py").write_text(plugin("attention_score").replace("query @", "2 * query @"))
    assert changed(before, keys(plugins=plugins)) == {"train", "evaluate"}


def test_a_constant_is_what_it_is_worth(tmp_path):
    def digest_of(text):
        (tmp_path / "one.py").write_text(score("one").replace("query @", f"{text} * query @"))
        return digest(Registry(named([tmp_path])).entry("attention_score", "one"))

    assert digest_of("1e-4") == digest_of("0.0001")
    assert len({digest_of("1"), digest_of("1.0"), digest_of("'1'"), digest_of("None"), digest_of("...")}) == 5


def test_the_corpus_counts_by_its_text_and_not_by_the_code_that_reads_it(keys, tmp_path):
    before = keys()
    plugins = write_one_of_each(tmp_path / "elsewhere")
    text = plugin("corpus")
    (plugins / "corpus.py").write_text(text.replace("return [fw.Pair", "return 1 * [fw.Pair"))
    assert keys(plugins=plugins) == before
    assert keys(MINIMAL, "data.corpus.options.twice=true", plugins=plugins) == before
    (plugins / "corpus.py").write_text(text.replace("fw.Pair(split, 'b')", "fw.Pair(split, 'c')"))
    assert changed(before, keys(plugins=plugins)) == {"data", "train", "evaluate"}


def test_where_the_corpus_lies_and_how_its_file_is_written_is_outside(make, registry, tmp_path):
    lines = [("train", "a", "b"), ("dev", "c", "d")]
    for folder, separator in (("one", "\t"), ("two", ",")):
        (tmp_path / folder).mkdir()
        table = "".join(f"{separator.join(line)}\n" for line in [("split", "source", "target"), *lines])
        (tmp_path / folder / ("p.tsv" if separator == "\t" else "q.csv")).write_text(table)

    def key(folder, file):
        component = make(DataSpec, corpus={"name": "text_pairs", "options": {"path": file}})
        corpus = registry.plugin("corpus", "text_pairs")(component.corpus.options, tmp_path / folder)
        return data_key(component, corpus.fingerprint())

    assert key("one", "p.tsv") == key("two", "q.csv")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A distribution whose score leans on another module of its package, edited between two digests."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    install(tmp_path, "outside", "1.0", "a = outside_pkg", outside_pkg____init__="", outside_pkg__mine=score("mine"),
            outside_pkg__kernel="WIDTH = 1\n")  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    entry = Registry.load().entry("attention_score", "mine")
    return tmp_path / "outside_pkg", entry


def test_every_module_of_an_outside_package_counts(package):
    folder, entry = package
    before = digest(entry)
    (folder / "kernel.py").write_text("# comment\nWIDTH = 1\n")
    assert digest(entry) == before
    (folder / "kernel.py").write_text("WIDTH = 2\n")
    assert digest(entry) != before


def test_a_built_in_counts_alone(registry):
    digests = {digest(entry) for entry in registry.entries()}
    assert len(digests) == len(registry.entries())


def test_the_plugins_used_are_those_of_the_sites(registry, tmp_path):
    (tmp_path / "x.yaml").write_text(
        f"{MINIMAL}model: {{attention_score: kernel, sites: {{decoder: {{cross: {{attention_score: additive}}}}}}}}\n"
    )
    row = validate(read(tmp_path / "x.yaml"), registry).rows["base"]
    assert components_used(row.spec, registry) == [
        ("attention_score", "additive"),
        ("attention_score", "kernel"),
        ("feed_forward", "relu_mlp"),
        ("mask", "full"),
        ("mixer", "attention"),
        ("objective", "translation"),
        ("positional_scheme", "sinusoidal"),
    ]
    sources = {(entry["kind"], entry["name"]): entry for entry in provenance(row.spec, registry)}
    assert set(sources) == {*components_used(row.spec, registry), ("corpus", "toy_translation")}
    kernel = sources["attention_score", "kernel"]
    assert kernel["module"] == "plugins.attention_scores.kernel"
    assert kernel["origin"] == "transformer-ablations 0.1.0"
    assert kernel["digest"] == digest(registry.entry("attention_score", "kernel"))


def test_what_no_mixer_takes_is_outside(registry, tmp_path):
    def key(site):
        (tmp_path / "x.yaml").write_text(f"{MINIMAL}model: {{sites: {{decoder: {{self: {site}}}}}}}\n")
        return plan(validate(read(tmp_path / "x.yaml"), registry), registry)[0].train_key

    assert key("{mixer: none}") == key("{mixer: none, attention_score: additive, mask: causal}") != key("{}")


def test_a_key_is_made_of_json_values_only():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert len(key_of({})) == 20
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        key_of(float("nan"))
