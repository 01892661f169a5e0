"""The Python face: load an experiment, plan it, run it, read its table. The verbs of the command line call it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from framework.data.prepare import prepare
from framework.errors import SpecError
from framework.identity import provenance
from framework.journal import Status, TrialFolder, status
from framework.launchers import LocalWorkers, available_cores
from framework.plan import Plan, corpus_of, plan
from framework.registry import Registry
from framework.spec import ExperimentSpec, TrialSpec
from framework.spec.load import Loaded, read, validate
from framework.spec.writing import to_yaml
from framework.study import Progress, Summary, coordinate, owned
from framework.survey import Surveyed, parameters_by_row, survey
from framework.trial import data_folder

if TYPE_CHECKING:
    from framework.record import Recorder
    from framework.report.table import Report

PathLike: TypeAlias = str | os.PathLike[str]
Ending: TypeAlias = Literal["FINISHED", "FAILED", "KILLED"]


def load(
    path: PathLike,
    *,
    settings: Sequence[str] = (),
    rows: Sequence[str] = (),
    seeds: Sequence[int] = (),
    home: PathLike = "runs",
    storage: str | None = None,
    tracking: str | None = None,
    plugins: Sequence[PathLike] = (),
) -> Experiment:
    """Load and validate an experiment file.

    `settings` are `key=value` texts as `--set` takes them; `rows` and `seeds` choose some of the trials.
    Everything that is made lies under `home`; `storage` and `tracking` name other places for the Optuna
    study and the MLflow store. Raises `SpecError` with every problem of the file.
    """
    if storage is not None and storage == tracking:
        raise SpecError(f"{storage} is MLflow's as well, and both keep a schema there: use two databases", "--storage")
    source = read(Path(path), settings)
    # By their real places, so that one named in the file and on the command line is loaded once.
    paths = tuple(dict.fromkeys(path.resolve() for path in (*source.plugin_paths(), *map(Path, plugins))))
    registry = Registry.load(paths)
    loaded = validate(source, registry)
    return Experiment(loaded, registry, paths, Path(home), storage, tracking, tuple(rows), tuple(seeds))


@dataclass(frozen=True)
class Experiment:
    """A validated experiment and where it lives."""

    loaded: Loaded
    registry: Registry
    plugin_paths: tuple[Path, ...]
    home: Path
    storage: str | None
    tracking: str | None
    rows: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def spec(self) -> ExperimentSpec:
        return self.loaded.experiment

    @property
    def yaml(self) -> str:
        """The experiment as resolved: `extends` followed, defaults filled in."""
        return to_yaml(self.spec)

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.loaded, self.registry, self.rows, self.seeds)

    def plan(self) -> Plan:
        """The trials, in the file's order."""
        return self._plan

    @cached_property
    def _parameters(self) -> dict[str, int]:
        return parameters_by_row(self._plan, self.loaded, self.registry)

    def warnings(self) -> list[str]:
        """What is allowed and probably not meant."""
        first: dict[str | None, str] = {}
        twins = []
        for trial in self._plan:
            other = first.setdefault(trial.evaluate_key, trial.row)
            if trial.evaluate_key is not None and other != trial.row:
                twins.append(f"rows {other!r} and {trial.row!r} ask for the same trials, which run once")
        return list(dict.fromkeys(twins))

    def survey(self) -> list[Surveyed]:
        """The trials with their parameters and where they stand. Raises `SpecError` for parts that do not fit."""
        return survey(self._plan, self.loaded, self.registry, self.home)

    def run(self, workers: int | None = None, watch: Callable[[Progress], None] = lambda _: None) -> Summary:
        """Run what is missing; the same call starts, resumes and extends.

        `workers` is the number of processes, by default one per core. `watch` is called twice a second.
        Raises `SpecError`, `MissingCorpus` among them, before anything is trained, and `FrameworkError` while
        another process runs the experiment.
        """
        if workers is not None and workers < 1:
            raise SpecError(f"trials need at least 1 process; this is {workers}", "--workers")
        _ = self._parameters  # raises for parts that do not fit each other
        with owned(self.spec.name, self.home):
            missing = [trial for trial in self._plan if not self._is_finished(trial)]
            self._prepare({trial.row for trial in missing})
            places = min(workers or available_cores(), max(1, len(missing)))
            logs = self.home / "logs" / self.spec.name
            recorder = self._recorder()
            ending: Ending = "KILLED"
            try:
                with LocalWorkers(places, self.home, self.plugin_paths, logs) as launcher:
                    summary = coordinate(self.spec, self._plan, self.home, launcher, recorder, self.storage, watch)
                self._record_table(recorder)
                ending = self._ending()
            finally:
                recorder.close(ending)
            return summary

    def report(self) -> Report:
        """The table, of an unfinished run too."""
        from framework.report.table import Report

        return Report.build(self.spec, self._plan, self.home, self._parameters)

    def sync(self) -> bool:
        """Bring MLflow up to date with the folders; say whether all of it arrived.

        Raises `FrameworkError` while another process runs the experiment, which keeps MLflow up to date itself.
        """
        with owned(self.spec.name, self.home):
            recorder = self._recorder()
            self._record_table(recorder)
            recorder.close(self._ending())
            return not recorder.behind

    def lacks_scores(self) -> bool:
        """Whether a planned trial failed, diverged, or was not run."""
        return any(standing != "done" for standing in self._standings())

    def where_to_look(self) -> list[str]:
        """The lines that open what was recorded."""
        from framework.record.store import Store

        study = self.storage or str(self.home / "studies" / f"{self.spec.name}.journal")
        store = Store.at(self.tracking, self.home)
        return [f"MLflow:  {store.ui_line()}", f"Optuna:  optuna-dashboard {shlex.quote(study)}"]

    def _standings(self) -> list[Status]:
        return [status(self.home, trial.train_key, trial.evaluate_key) for trial in self._plan]

    def _ending(self) -> Ending:
        """How MLflow is to show the experiment; a trial that diverged has come to its end."""
        standings = self._standings()
        if "failed" in standings:
            return "FAILED"
        return "FINISHED" if all(standing in ("done", "diverged") for standing in standings) else "KILLED"

    def _recorder(self) -> Recorder:
        from framework.record import Recorder

        plugins = {
            (entry["kind"], entry["name"]): entry
            for row in self.loaded.rows.values()
            for entry in provenance(row.spec, self.registry)
        }
        return Recorder(self.home, self.tracking, self.spec, self._plan, self.yaml, list(plugins.values()))

    def _record_table(self, recorder: Recorder) -> None:
        from framework.report.render import render

        report = self.report()
        recorder.table(render(report, "markdown"), render(report, "csv"))

    def _is_finished(self, trial: TrialSpec) -> bool:
        return trial.train_key is not None and TrialFolder(self.home, trial.train_key).finished(str(trial.evaluate_key))

    def _prepare(self, rows: set[str]) -> None:
        """Cut the corpora of these rows into pieces, once for all rows that share them."""
        keys = {trial.row: trial.data_key for trial in self._plan}
        prepared: set[str] = set()
        for name, row in self.loaded.rows.items():
            if name not in rows:
                continue
            corpus = corpus_of(row, self.registry)
            key = keys[name]
            if key is None:
                corpus.fingerprint()  # raises `MissingCorpus`, as it did for the plan
            assert key is not None, "the corpus came after the plan was made"
            if key not in prepared:
                prepared.add(key)
                prepare(row.spec.data, corpus, data_folder(self.home, key))
