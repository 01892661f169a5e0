"""Every experiment that is shipped: it plans, its parts fit, and each of its rows trains and is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import framework as fw
from framework.data.prepare import prepare
from framework.experiment import Experiment
from framework.journal import TrialFolder
from framework.plan import corpus_of
from framework.spec import ModelSpec, TrialSpec
from framework.trial import data_folder, run_trial
from tests.experiments.shipped import EXPERIMENTS, FILES

QUICK: Final = ("train.batch_tokens=300", "evaluate.beam_size=1", "evaluate.max_extra_tokens=1")
FEW_PAIRS: Final = ("data.corpus.options.train_pairs=200", "data.corpus.options.dev_pairs=10")
TOY_CORPUS: Final = ("data.corpus=toy_translation", *FEW_PAIRS)

LARGEST: Final = {"d_model": 32, "d_ff": 32, "num_layers": 1}
LARGEST_VOCABULARY: Final = 450
"""Few pairs hold no more pieces."""
STEPS: Final = 2


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.mark.parametrize("name", FILES)
def test_an_experiment_plans_every_row_and_seed_and_its_parts_fit(name, tmp_path):
    experiment = fw.load(EXPERIMENTS / name, home=tmp_path)
    seeds, rows = experiment.spec.seeds, experiment.spec.rows
    surveyed = experiment.survey()  # raises where parts do not fit
    assert [(line.trial.row, line.trial.seed) for line in surveyed] == [
        (row, seed) for row in rows for seed in rows[row].seeds or seeds
    ]


@pytest.mark.parametrize("name", FILES)
def test_every_row_of_an_experiment_trains_two_steps_and_is_measured(name, home, subtests):
    experiment = on_few_pairs(name, home)
    trials = {trial.row: smoke_sized(trial) for trial in experiment.plan()}  # one seed of each
    prepare_data(experiment, trials, home)
    for row, trial in trials.items():
        with subtests.test(row=row):
            run_trial(trial, experiment.registry, home)
            folder = TrialFolder(home, str(trial.train_key))
            trained, measured = folder.training(), folder.evaluation(str(trial.evaluate_key))
            assert trained is not None
            assert (trained.status, trained.steps) == ("trained", STEPS)
            assert measured is not None
            assert measured.metrics.keys() >= {f"dev/{metric}" for metric in trial.evaluate.metrics or ()}


def on_few_pairs(name: str, home: Path) -> Experiment:
    """Load an experiment with little to read, made-up text where its own lies outside the repository."""
    corpus = fw.load(EXPERIMENTS / name, home=home).spec.data.corpus
    made_up = isinstance(corpus.options, fw.MadeUpCorpus.Options)
    return fw.load(EXPERIMENTS / name, settings=(*QUICK, *(FEW_PAIRS if made_up else TOY_CORPUS)), home=home)


def smoke_sized(trial: TrialSpec) -> TrialSpec:
    """Bound sizes and steps whatever the row says, where a setting would bound those of the base alone."""
    sizes = {name: min(getattr(trial.model, name), largest) for name, largest in LARGEST.items()}
    pieces = {"vocabulary_size": min(trial.data.tokenizer.vocabulary_size, LARGEST_VOCABULARY)}
    return trial.model_copy(
        update={
            "model": trial.model.model_copy(update=sizes),
            "data": trial.data.model_copy(update={"tokenizer": trial.data.tokenizer.model_copy(update=pieces)}),
            "train": trial.train.model_copy(update={"steps": STEPS}),
        }
    )


def prepare_data(experiment: Experiment, trials: dict[str, TrialSpec], home: Path) -> None:
    """Cut each corpus into pieces, once for the rows that share it."""
    for key, name in {trial.data_key: row for row, trial in trials.items()}.items():
        corpus = corpus_of(experiment.loaded.rows[name], experiment.registry)
        prepare(trials[name].data, corpus, data_folder(home, str(key)))


@pytest.mark.parametrize("kind", ["attention_score", "positional_scheme", "mixer", "feed_forward"])
def test_the_quickstart_of_scores_has_a_row_for_every_plugin(kind, tmp_path, registry):
    experiment = fw.load(EXPERIMENTS / "quickstart-scores.yaml", home=tmp_path)
    used = {name for row in experiment.loaded.rows.values() for name in named(row.spec.model, kind)}
    assert used == set(registry.names(kind))


def named(model: ModelSpec, kind: str) -> set[str]:
    """The plugins of a kind that a model holds at any site."""
    written = [getattr(site, kind, None) for _, stack in model.sites for _, site in stack]
    return {component.name for component in (getattr(model, kind), *written) if component is not None}
