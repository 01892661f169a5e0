"""The batch that costs are counted for."""

from __future__ import annotations

import pytest

from framework.cost import TypicalBatch, typical_batch
from framework.data.prepared import PreparedData
from framework.trial import data_folder
from tests.framework.tiny_experiment import load_prepared, write


def batch_of(experiment):
    trial = experiment.plan()[0]
    objective = experiment.registry.plugin("objective", trial.train.objective.name)(trial.train.objective.options)
    return typical_batch(trial, objective, experiment.registry, experiment.home), objective


def test_without_data_a_sentence_is_assumed(tiny):
    batch, _ = batch_of(tiny())
    assert batch == TypicalBatch(examples=12, source=30, target=30, assumed=True)  # 400 // (30 + EOS)
    assert str(batch) == "12 pairs of 30 and 30 pieces (assumed: the data is not prepared)"


def test_no_sentence_is_assumed_longer_than_the_data_may_hold(tiny):
    batch, _ = batch_of(tiny(data={"max_pieces": 9}))
    assert batch == TypicalBatch(examples=40, source=9, target=9, assumed=True)


def test_texts_have_no_source(tmp_path, tiny):
    (tmp_path / "a.txt").write_text("a\n")
    corpus = {"name": "text", "options": {"train": "a.txt", "dev": "a.txt"}}
    experiment = tiny(
        model={"architecture": "decoder_only"}, data={"corpus": corpus}, train={"objective": "next_token"}
    )
    batch, _ = batch_of(experiment)
    assert batch == TypicalBatch(examples=12, source=0, target=30, assumed=True)
    assert str(batch).startswith("12 texts of 30 pieces")


def test_prepared_data_tells_its_mean_lengths_and_how_many_examples_fit(tmp_path):
    experiment = load_prepared(write(tmp_path), tmp_path / "home")
    batch, objective = batch_of(experiment)
    split = PreparedData.open(data_folder(experiment.home, str(experiment.plan()[0].data_key))).split("train")
    sources, targets = split.source_lengths.tolist(), split.target_lengths.tolist()
    longer = [max(pair) + 1 for pair in zip(sources, targets, strict=True)]
    assert batch == TypicalBatch(
        examples=int(400 / (sum(longer) / len(longer))),
        source=round(sum(sources) / len(sources)),
        target=round(sum(targets) / len(targets)),
        assumed=False,
    )
    assert "assumed" not in str(batch)
    made = batch.made(objective)
    assert made.source is not None
    assert made.source.shape == (batch.examples, batch.source + 1)
    assert made.target_input.shape == (batch.examples, batch.target + 1)


@pytest.mark.parametrize(("tokens", "examples"), [(None, 12), (100, 3), (31, 1), (1, 1), (10_000, 12)])
def test_a_part_is_what_training_computes_at_once(tiny, tokens, examples):
    batch, objective = batch_of(tiny())
    assert batch.part(objective, tokens).examples == examples
