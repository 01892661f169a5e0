"""A store made once and copied, an experiment of two rows, and folders as trials leave them."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from framework.journal import Evaluation, TrainingResult, TrialFolder
from framework.spec import ExperimentSpec, TrialSpec

SECTIONS: dict[str, Any] = {
    "model": {"d_model": 64, "num_layers": 2, "d_ff": 128, "num_heads": 4},
    "data": {"corpus": {"name": "text_pairs", "options": {"path": "pairs.tsv"}}},
    "train": {"steps": 400, "batch_tokens": 1000},
    "evaluate": {},
}


@pytest.fixture(scope="session")
def experiment(make):
    return make(ExperimentSpec, name="table3", **SECTIONS, seeds=[1, 2], rows={"base": {}, "h1": {"group": "A"}})


@pytest.fixture(scope="session")
def trial(make):
    def build(row, seed, **fields):
        keys = {"data_key": "data", "train_key": f"{row}-{seed}", "evaluate_key": f"{row}-{seed}-scores"}
        rest = {"experiment": "table3", "group": "A", "changes": {}, **keys, **SECTIONS}
        return make(TrialSpec, row=row, seed=seed, **{**rest, **fields})

    return build


@pytest.fixture(scope="session")
def plan(trial):
    return tuple(trial(row, seed) for row in ("base", "h1") for seed in (1, 2))


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """An MLflow database without records; making one takes seconds."""
    from framework.record.store import Store

    home = tmp_path_factory.mktemp("store")
    Store.at(None, home).open()
    return home / "mlflow.db"


@pytest.fixture
def home(tmp_path, empty_store):
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return tmp_path


@pytest.fixture
def clock():
    return Clock()


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def recorder(home, experiment, plan, clock):
    """`recorder()`: a new one on the same home, as a restarted process would have."""

    def build(tracking=None, plan=plan, experiment=experiment):
        from framework.record import Recorder

        plugins = [{"kind": "mask", "name": "full", "module": "plugins.masks.full", "distribution": "builtin"}]
        return Recorder(home, tracking, experiment, plan, "name: table3\n", plugins, clock)

    return build


@pytest.fixture
def train(home):
    """`train(trial, upto=20)`: append points of a curve, ten steps apart, from the first one missing."""

    def write(trial, upto):
        folder = TrialFolder(home, trial.train_key)
        points = folder.curves.points()
        with folder.curves.open() as curves:
            for step in range(points[-1].step + 10 if points else 10, upto + 1, 10):
                curves.append(step, {"train/loss": 100 / step, "train/learning_rate": step / 1000})
        return folder

    return write


@pytest.fixture
def finish(train):
    def write(trial, perplexity=4.9):
        folder = train(trial, 400)
        result: dict[str, Any] = {
            "steps": 400,
            "parameters": 285_000,
            "seconds": 90.0,
            "peak_memory_bytes": 500_000_000,
        }
        folder.write_training(TrainingResult(status="trained", environment={"torch": "2.13.0"}, **result))
        scores = Evaluation(metrics={"dev/perplexity": perplexity}, details={"dev/bleu": "tok:13a"})
        folder.write_evaluation(trial.evaluate_key, scores)

    return write


@pytest.fixture
def diverge(train):
    def write(trial):
        result: dict[str, Any] = {"steps": 17, "parameters": 285_000, "seconds": 1.0, "peak_memory_bytes": 1}
        result |= {"reason": "diverged at step 17: loss is inf", "diverged_at_step": 17, "last_finite_loss": 9.5}
        train(trial, 10).write_training(TrainingResult(status="diverged", **result))

    return write


@pytest.fixture
def stored(home):
    """`stored()`: what MLflow itself has, as {(row, seed): run}, the parent run at ("", 0)."""

    def read(uri=None, name="table3"):
        from mlflow import MlflowClient

        client = MlflowClient(uri or f"sqlite:///{home / 'mlflow.db'}")
        experiment = client.get_experiment_by_name(name)
        assert experiment is not None
        runs = client.search_runs([experiment.experiment_id])
        return {
            (run.data.tags.get("ablation.row", ""), int(run.data.tags.get("ablation.seed", 0))): Stored(client, run)
            for run in runs
        }

    return read


class Stored:
    """A run as MLflow tells it."""

    def __init__(self, client, run):
        self.client = client
        self.id = run.info.run_id
        self.name = run.info.run_name
        self.status = run.info.status
        self.tags = run.data.tags
        self.params = run.data.params
        self.latest = run.data.metrics

    def steps(self, metric):
        return [point.step for point in self.client.get_metric_history(self.id, metric)]

    def file(self, name):
        import mlflow.artifacts

        uri = self.client.get_run(self.id).info.artifact_uri
        return mlflow.artifacts.load_text(f"{uri}/{name}")

    def files(self):
        return sorted(file.path for file in self.client.list_artifacts(self.id))
