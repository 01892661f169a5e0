"""What an experiment asks for must fit together, and is told where it does not before anything runs."""

from __future__ import annotations

import pytest

import framework as fw
from framework.errors import SpecError

BASE = """
name: x
data: {corpus: CORPUS, tokenizer: {vocabulary_size: 283}, max_pieces: 30}
model: {d_model: 16, d_ff: 16, num_layers: 1, num_heads: 2, architecture: ARCHITECTURE}
train: {objective: OBJECTIVE, steps: 1}
"""

TEXTS = "{name: text, options: {train: train.txt, dev: dev.txt}}"


def told(folder, *settings, corpus="reverse", architecture="encoder_decoder", objective="translation", plugins=()):
    """What is said of an experiment; nothing if it fits."""
    for name in ("train", "dev"):
        (folder / f"{name}.txt").write_text("ba be bi\nbo bu ba\n")
    text = BASE.replace("CORPUS", corpus).replace("ARCHITECTURE", architecture).replace("OBJECTIVE", objective)
    (folder / "x.yaml").write_text(text)
    try:
        fw.load(folder / "x.yaml", settings=settings, home=folder / "home", plugins=plugins).survey()
    except SpecError as error:
        return "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
    return ""


@pytest.mark.parametrize(
    ("architecture", "objective", "corpus"),
    [
        ("encoder_decoder", "translation", "reverse"),
        ("decoder_only", "next_token", "recall"),
        ("decoder_only", "next_token", TEXTS),
        ("encoder_only", "masked_token", "copy"),
        ("encoder_only", "masked_token", TEXTS),
    ],
)
def test_what_fits_is_not_complained_of(tmp_path, architecture, objective, corpus):
    assert told(tmp_path, corpus=corpus, architecture=architecture, objective=objective) == ""


def test_an_objective_trains_certain_architectures(tmp_path):
    assert told(tmp_path, architecture="decoder_only") == (
        "train.objective: 'translation' trains encoder_decoder; model.architecture is decoder_only, which next_token "
        "trains"
    )


def test_a_translation_needs_sources(tmp_path):
    assert told(tmp_path, "evaluate.metrics=[perplexity]", corpus=TEXTS) == (
        "train.objective: 'translation' needs pairs of source and target, and the corpus 'text' has texts that stand "
        "by themselves: choose another objective, or a corpus of pairs"
    )


def test_nothing_is_generated_for_texts_by_themselves(tmp_path):
    settings = ["evaluate.metrics=[bleu]"]
    assert told(tmp_path, *settings, corpus=TEXTS, architecture="decoder_only", objective="next_token") == (
        "evaluate.metrics: the texts of the corpus 'text' have no sources, which bleu would generate from: "
        "set evaluate.metrics to others, such as [perplexity]"
    )


def test_what_is_generated_cannot_be_seen_ahead(tmp_path):
    prefix = "model.mask={name: prefix, options: {length: 4}}"
    fields = {"corpus": "recall", "architecture": "decoder_only", "objective": "next_token"}
    assert told(tmp_path, prefix, **fields) == ""
    expected = (
        "exact_match and bleu is measured on text that is generated piece by piece, and the mask 'prefix' lets a "
        "position see pieces that are not there yet: set evaluate.metrics to others, such as [perplexity], or "
        "choose another mask"
    )
    metrics = "evaluate.metrics=[exact_match, perplexity, bleu]"
    assert told(tmp_path, prefix, metrics, **fields) == f"model.mask: {expected}"
    at_its_site = prefix.replace("model.mask", "model.sites.decoder.self.mask")
    assert told(tmp_path, at_its_site, metrics, **fields) == f"model.sites.decoder.self.mask: {expected}"


def test_an_encoder_alone_generates_nothing(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import framework as fw\nfrom plugins.objectives.masked_token import MaskedToken\n\n\n"
        "class Mine(MaskedToken):\n    'Made for a test.'\n\n    name = 'mine'\n    metrics = ('bleu',)\n\n\n"
        "@fw.hookimpl\ndef objective():\n    return Mine\n"
    )
    assert told(tmp_path, architecture="encoder_only", objective="mine", plugins=[tmp_path / "mine.py"]) == (
        "evaluate.metrics: an encoder alone generates nothing to measure bleu by: "
        "set evaluate.metrics to others, such as [perplexity]"
    )


@pytest.mark.parametrize(
    ("architecture", "objective", "corpus", "needed"),
    [
        ("encoder_decoder", "translation", "reverse", 31),
        ("decoder_only", "next_token", "recall", 62),  # both sides in one sequence, each with its end or beginning
        ("decoder_only", "next_token", TEXTS, 31),
    ],
)
def test_positions_must_reach_as_far_as_the_data(tmp_path, architecture, objective, corpus, needed):
    fields = {"corpus": corpus, "architecture": architecture, "objective": objective}
    scheme = "model.positional_scheme={name: learned, options: {max_positions: %d}}"
    assert told(tmp_path, scheme % needed, **fields) == ""
    assert told(tmp_path, scheme % (needed - 1), **fields) == (
        f"model.positional_scheme: 'learned' has {needed - 1} positions, and an example of data.max_pieces=30 takes "
        f"{needed} positions, special pieces included: give it more, or lower data.max_pieces"
    )


def test_the_longest_example_fits_a_batch(tmp_path):
    fields = {"corpus": "recall", "architecture": "decoder_only", "objective": "next_token"}
    assert told(tmp_path, "train.batch_tokens=62", **fields) == ""
    assert told(tmp_path, "train.batch_tokens=61", **fields) == (
        "train.batch_tokens: train.batch_tokens=61 is too small for a batch of one: an example of data.max_pieces=30 "
        "takes 62 positions, special pieces included; raise the one or lower the other"
    )
    assert told(tmp_path, "train.batch_tokens=31") == ""


def test_all_misfits_are_told_at_once(tmp_path):
    fields = {"corpus": TEXTS, "architecture": "encoder_decoder", "objective": "translation"}
    said = told(tmp_path, "train.batch_tokens=5", "model.sites.decoder.cross.mixer=convolution", **fields)
    assert [part.partition(":")[0] for part in said.split("; ")][:1] == ["train.objective"]
    assert "evaluate.metrics: the texts of the corpus" in said
    assert "model.sites.decoder.cross.mixer: the mixer 'convolution' cannot stand" in said


def test_what_a_part_finds_wrong_is_told_where_its_options_are_written(tmp_path):
    odd = "{name: attention, options: {num_key_value_heads: 3}}"
    assert told(tmp_path, f"model.mixer={odd}").startswith("model.mixer.options.num_key_value_heads: ")
    assert told(tmp_path, f"model.sites.decoder.self.mixer={odd}").startswith(
        "model.sites.decoder.self.mixer.options.num_key_value_heads: "
    )


def test_what_a_corpus_finds_wrong_is_told_where_its_options_are_written(tmp_path):
    few = "{name: copy, options: {symbols: 1, min_length: 1, max_length: 2, train_pairs: 50}}"
    assert told(tmp_path, corpus=few).startswith("data.corpus.options.dev_pairs: 200 different pairs were asked for")
    with pytest.raises(SpecError, match=r"x\.yaml:3:\d+: data.corpus.options.dev_pairs: 200 different pairs"):
        fw.load(tmp_path / "x.yaml", home=tmp_path).plan()
