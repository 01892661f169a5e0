"""Progress bars on standard error: one for the run, one per running trial. Quiet where no one looks."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from framework.journal import TrialFolder
from framework.spec import TrialSpec
from framework.study import Progress as RunProgress


class ProgressBars:
    """Shows how far a run is; give `watch` to the run."""

    def __init__(self, name: str, home: Path) -> None:
        console = Console(stderr=True)
        self._home = home
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._whole = self._bars.add_task(f"{name}: trials", total=None, note="")
        self._trials: dict[tuple[str, int], TaskID] = {}

    def __enter__(self) -> ProgressBars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def watch(self, progress: RunProgress) -> None:
        """Bring the bars up to date."""
        if self._bars.disable:
            return
        note = f"{progress.failed} failed" if progress.failed else ""
        self._bars.update(self._whole, total=progress.planned, completed=progress.finished, note=note)
        running = {(trial.row, trial.seed): trial for trial in progress.running}
        for gone in self._trials.keys() - running.keys():
            self._bars.remove_task(self._trials.pop(gone))
        for key, trial in running.items():
            if key not in self._trials:
                description = f"  {trial.row}, seed {trial.seed}"
                self._trials[key] = self._bars.add_task(description, total=trial.train.steps, note="")
            step, note = self._how_far(trial)
            self._bars.update(self._trials[key], completed=step, note=note)

    def _how_far(self, trial: TrialSpec) -> tuple[int, str]:
        last = TrialFolder(self._home, str(trial.train_key)).curves.last()
        if last is None:
            return 0, "starting"
        if last.step >= trial.train.steps:
            return last.step, "evaluating"
        return last.step, f"loss {last.values['train/loss']:.3f}" if "train/loss" in last.values else ""
