"""Rows with their cost: what is counted, and seconds from trials that are done or from probes."""

from __future__ import annotations

import logging
from statistics import median

import pytest
import torch

from framework.cost import Pace, pace, probe, probe_rows, workload
from framework.data.prepared import PreparedData
from framework.journal import TrialFolder
from framework.trial import data_folder, run_trial
from tests.framework.tiny_experiment import load_prepared, write

CPU = torch.device("cpu")
ROWS = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}}


@pytest.fixture
def prepared(tmp_path):
    def build(rows=None, **sections):
        return load_prepared(write(tmp_path, rows or {"base": {}}, **sections), tmp_path / "home")

    return build


def probed(experiment):
    """Probe an experiment's rows; give those that were timed now."""
    rows: list[str] = []
    probe_rows(experiment.plan(), experiment.registry, experiment.home, CPU, rows.append)
    return rows


def test_a_plan_without_data_is_counted_and_not_timed(tiny, costs):
    experiment = tiny({"base": {}, "longer": {"change": {"train.steps": 24}}})
    found = costs(experiment)
    assert list(found) == ["base", "longer"]
    base, longer = found.values()
    assert base.count == longer.count
    assert base.training_flops == 12 * base.count.flops
    assert longer.training_flops == 2 * base.training_flops
    assert base.memory_bytes == base.count.state_bytes + base.count.activation_bytes
    assert (base.pace, base.seconds) == (None, None)
    assert not experiment.home.exists()


def test_a_plugin_that_looks_at_numbers_is_not_counted_and_says_why(tmp_path, tiny, costs):
    mine = tmp_path / "mine.py"
    mine.write_text(
        '''"""A score that asks for a number."""

import framework as fw


class Mine(fw.AttentionScore):
    name = "mine"

    def forward(self, query, key):
        scores = query @ key.mT
        return scores / max(1.0, scores.abs().max().item())


@fw.hookimpl
def attention_score():
    return Mine
'''
    )
    (cost,) = costs(tiny(plugins=[mine], model={"attention_score": "mine"})).values()
    assert (cost.count, cost.training_flops, cost.memory_bytes) == (None, None, None)
    assert "item()" in cost.uncounted


def test_a_probe_is_remembered_for_equal_work_and_made_once(prepared, costs):
    rows = {**ROWS, "other-rate": {"change": {"train.warmup_steps": 9, "train.steps": 36, "model.dropout": 0.3}}}
    experiment = prepared(rows)
    assert probed(experiment) == ["base", "one-head"]
    assert probed(experiment) == []
    found = costs(experiment)
    assert found["base"].pace == found["other-rate"].pace
    base = found["base"].pace
    assert base.source == "probe"
    assert min(base.update, base.point, base.evaluation) > 0
    assert found["base"].seconds == pytest.approx(12 * base.update + 2 * base.point + base.evaluation)
    assert found["other-rate"].seconds == pytest.approx(36 * base.update + 6 * base.point + base.evaluation)


@pytest.mark.parametrize(
    "sections",
    [
        {"model": {"d_ff": 24}}, {"model": {"dropout": 0.0}}, {"train": {"batch_tokens": 300}},
        {"train": {"precision": "bfloat16"}}, {"evaluate": {"beam_size": 2}}, {"data": {"max_pieces": 90}},
    ],
    ids=str,
)  # fmt: skip
def test_other_work_has_a_probe_of_its_own(tiny, sections):
    keys = {
        workload.probe_key(experiment.plan()[0], experiment.registry, CPU) for experiment in (tiny(), tiny(**sections))
    }
    assert len(keys) == 2


def test_a_large_batch_is_not_timed_where_a_smaller_one_takes_long(prepared, monkeypatch):
    experiment = prepared(train={"batch_tokens": 4000})
    sizes = []
    measured = probe._median_seconds

    def noted(training):
        sizes.append(training._spec.batch_tokens)
        return 0.5 * len(sizes) if measured(training) else 0.0

    monkeypatch.setattr(probe, "FIRST_TOKENS", 100)
    monkeypatch.setattr(probe, "_median_seconds", noted)
    found = probe.probe(experiment.plan()[0], experiment.registry, experiment.home, CPU)
    assert sizes == [100, 500]  # 0.5 s, then 1 s, and five times as much is too long
    assert found.update == 1.0 * 4000 / 500


def test_what_diverges_is_not_timed_and_told(prepared, costs, caplog):
    experiment = prepared(train={"learning_rate_factor": 1e38})
    with caplog.at_level(logging.WARNING):
        assert probed(experiment) == ["base"]
    assert "row base cannot be timed: Diverged: " in caplog.text
    assert costs(experiment)["base"].pace is None


def test_trials_that_are_done_on_such_a_device_tell_their_own_time(prepared, costs):
    experiment = prepared(seeds=[1, 2, 3])
    probed(experiment)
    for trial in experiment.plan()[:2]:
        run_trial(trial, experiment.registry, experiment.home)
    folders = [TrialFolder(experiment.home, str(trial.train_key)) for trial in experiment.plan()[:2]]
    trainings = [training for folder in folders if (training := folder.training())]
    found = costs(experiment)["base"].pace
    assert found.source == "trials"
    assert found.update == pytest.approx(median(training.seconds / 12 for training in trainings))
    for folder, training in zip(folders, trainings, strict=True):
        elsewhere = {**training.environment, "device": "NVIDIA H200"}
        folder.write_training(training.model_copy(update={"environment": elsewhere}))
    assert costs(experiment)["base"].pace.source == "probe"


def test_a_split_is_read_in_a_third_of_what_learning_from_it_takes(prepared):
    experiment = prepared()
    trial = experiment.plan()[0]
    objective = experiment.registry.plugin("objective", "translation")(trial.train.objective.options)
    dev = PreparedData.open(data_folder(experiment.home, str(trial.data_key))).split("dev")
    longer = torch.maximum(dev.source_lengths, dev.target_lengths) + 1
    seconds = pace.forward_seconds(6.0, trial, objective, experiment.home, "dev")
    assert seconds == pytest.approx(2.0 * int(longer.sum()) / 400)


def test_a_damaged_probe_counts_as_none(tmp_path):
    path = pace.pace_path(tmp_path, "key")
    found = Pace(update=1.0, point=2.0, evaluation=3.0, source="probe")
    pace.write_pace(path, found)
    assert pace.read_pace(path) == found
    path.write_text('{"update": 1.0')
    assert pace.read_pace(path) is None
    assert pace.read_pace(tmp_path / "none.json") is None
