"""The Python face: load an experiment, plan it, run it, read its table. The verbs of the command line call it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import torch

from framework.corpora import missing_corpora, prepare_corpora
from framework.cost import RowCost, probe_rows, row_costs
from framework.errors import SpecError
from framework.identity import provenance
from framework.journal import Status, TrialFolder, status
from framework.launchers import LocalWorkers, available_cores, require_devices
from framework.plan import Plan, plan
from framework.registry import Registry
from framework.spec import ExperimentSpec, TrialSpec
from framework.spec.load import Loaded, read, validate
from framework.spec.writing import to_yaml
from framework.study import Progress, Summary, coordinate, owned, tell_what_is_done
from framework.survey import Surveyed, parameters_by_row, survey

if TYPE_CHECKING:
    from framework.budget import Budget
    from framework.record import Recorder
    from framework.report.compare import Comparison
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
    if storage is not None:
        _refuse_to_share(storage, tracking, Path(home))
    source = read(Path(path), settings)
    # By their real places, so that one named in the file and on the command line is loaded once.
    paths = tuple(dict.fromkeys(path.resolve() for path in (*source.plugin_paths(), *map(Path, plugins))))
    registry = Registry.load(paths)
    loaded = validate(source, registry)
    return Experiment(loaded, registry, paths, Path(home), storage, tracking, tuple(rows), tuple(seeds))


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        rows, trials = len(self.loaded.rows), len(self._plan)
        return f"<Experiment {self.spec.name}: {rows} rows, {trials} trials, home {self.home}>"

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

    @cached_property
    def _whole_plan(self) -> Plan:
        """Of every row and seed, chosen or not: what the record and its table show."""
        return plan(self.loaded, self.registry) if self.rows or self.seeds else self._plan

    def plan(self) -> Plan:
        """The trials, in the file's order."""
        return self._plan

    @cached_property
    def _parameters(self) -> dict[str, int]:
        return parameters_by_row(self._plan, self.loaded, self.registry)

    def warnings(self) -> list[str]:
        """What is allowed and probably not meant, and corpora that are not there."""
        first: dict[str | None, str] = {}
        twins = []
        for trial in self._plan:
            other = first.setdefault(trial.evaluate_key, trial.row)
            if trial.evaluate_key is not None and other != trial.row:
                twins.append(f"rows {other!r} and {trial.row!r} ask for the same trials, which run once")
        return [*map(str, missing_corpora(self._plan, self.loaded, self.registry)), *dict.fromkeys(twins)]

    def survey(self) -> list[Surveyed]:
        """The trials with their parameters and where they stand. Raises `SpecError` for parts that do not fit."""
        return survey(self._plan, self.loaded, self.registry, self.home)

    def costs(self, device: str = "cpu") -> dict[str, RowCost]:
        """Each row's arithmetic and memory by counting, and seconds as far as trials or probes on the device tell."""
        return row_costs(self._plan, self.registry, self.home, torch.device(*require_devices([device])))

    def probe(self, device: str = "cpu", watch: Callable[[str], None] = lambda _: None) -> None:
        """Time every row of which nothing is known, so that `costs` tells; `watch` is told which row.

        Prepares the data. Raises `SpecError` as `run` does where it is not there.
        """
        (device,) = require_devices([device])
        self._prepare({trial.row for trial in self._plan})
        probe_rows(self._plan, self.registry, self.home, torch.device(device), watch)

    def budget(self, seconds: int, costs: Mapping[str, RowCost], workers: int) -> Budget:
        """What fits into some time: seeds, steps, and what they could detect.

        `costs` are those of `costs`, of probed rows. Raises `SpecError` where nothing fits.
        """
        from framework.budget import budget_of

        return budget_of(self.spec, self._plan, self.home, costs, seconds, workers)

    def run(
        self,
        workers: int | None = None,
        watch: Callable[[Progress], None] = lambda _: None,
        devices: Sequence[str] = (),
    ) -> Summary:
        """Run what is missing; the same call starts, resumes and extends.

        `workers` is the number of processes, by default one per core, or per device where `devices` names some, such
        as `cuda:0`; they take turns on these. `watch` is called twice a second.
        Raises `SpecError`, `MissingCorpus` among them, before anything is trained, and `FrameworkError` while
        another process runs the experiment.
        """
        processes, devices = places(workers, devices)
        _ = self._parameters  # raises for parts that do not fit each other
        with owned(self.spec.name, self.home, self.loaded.path):
            missing = [trial for trial in self._plan if not self._is_finished(trial)]
            self._prepare({trial.row for trial in missing})
            processes = min(processes, max(1, len(missing)))
            logs = self.home / "logs" / self.spec.name
            recorder = self._recorder()
            ending: Ending = "KILLED"
            try:
                with LocalWorkers(processes, self.home, self.plugin_paths, logs, devices) as launcher:
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

    def compare(self, row: str, other: str, metric: str = "bleu") -> tuple[Comparison, ...]:
        """Whether what two rows generated differs by more than chance, at each seed that both have.

        `metric` is `bleu`, `bleu_compound_split` or `chrf`. Raises `SpecError` where there is nothing to compare.
        """
        from framework.report.compare import compare

        trials = plan(self.loaded, self.registry, seeds=self.seeds)
        return compare(trials, self.home, row, other, metric)

    def sync(self) -> bool:
        """Bring the Optuna study and MLflow up to date with the folders; say whether all of it arrived.

        All of the experiment, whichever rows are chosen. Raises `FrameworkError` while another process runs the
        experiment, which keeps both up to date itself.
        """
        with owned(self.spec.name, self.home, self.loaded.path):
            recorder = self._recorder()
            self._record_table(recorder)
            recorder.close(self._ending())
            told = tell_what_is_done(self.spec, self._whole_plan, self.home, self.storage)
            return told and not recorder.behind

    def lacks_scores(self) -> bool:
        """Whether a planned trial failed, diverged, or was not run."""
        return any(standing != "done" for standing in self._standings(self._plan))

    def where_to_look(self) -> list[str]:
        """The lines that open what was recorded."""
        from framework.record.store import Store

        study = self.storage or str(self.home.absolute() / "studies" / f"{self.spec.name}.journal")
        store = Store.at(self.tracking, self.home)
        address = "" if store.is_server else "  # http://127.0.0.1:5000"
        return [
            f"MLflow:  {store.ui_line()}{address}",
            f"Optuna:  optuna-dashboard {shlex.quote(study)}  # http://127.0.0.1:8080",
        ]

    def _standings(self, trials: Plan) -> list[Status]:
        return [status(self.home, trial.train_key, trial.evaluate_key) for trial in trials]

    def _ending(self) -> Ending:
        """How MLflow is to show the experiment; a trial that diverged has come to its end."""
        standings = self._standings(self._whole_plan)
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
        return Recorder(self.home, self.tracking, self.spec, self._whole_plan, self.yaml, list(plugins.values()))

    def _record_table(self, recorder: Recorder) -> None:
        from framework.report.render import render
        from framework.report.table import Report

        report = Report.build(self.spec, self._whole_plan, self.home, self._whole_parameters())
        recorder.table(render(report, "markdown"), render(report, "csv"))

    def _whole_parameters(self) -> dict[str, int]:
        """Of every row; a row that was not chosen may not fit together, which only a run of its own need tell."""
        try:
            return parameters_by_row(self._whole_plan, self.loaded, self.registry)
        except SpecError:
            return self._parameters

    def _prepare(self, rows: set[str]) -> None:
        prepare_corpora(self._plan, self.loaded, self.registry, self.home, rows)

    def _is_finished(self, trial: TrialSpec) -> bool:
        return trial.train_key is not None and TrialFolder(self.home, trial.train_key).finished(str(trial.evaluate_key))


def places(workers: int | None, devices: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """How many processes run trials, and on which devices: by default one per device that is named, or per core.

    Raises `SpecError` for fewer than one process, and for a device that this machine does not have.
    """
    if workers is not None and workers < 1:
        raise SpecError(f"trials need at least 1 process; this is {workers}", "--workers")
    return workers or len(devices) or available_cores(), require_devices(devices) or ("cpu",)


def _refuse_to_share(storage: str, tracking: str | None, home: Path) -> None:
    """Raise `SpecError` where Optuna is given MLflow's database, however either of them is written."""
    from framework.record.address import database_of
    from framework.record.store import Store

    ours = database_of(storage)
    if ours is not None and ours == database_of(Store.at(tracking, home).uri):
        raise SpecError(f"{storage} is MLflow's as well, and both keep a schema there: use two databases", "--storage")
