"""The command line: verbs that parse, call and print. Heavy imports stand inside the verbs."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn, TextIO

from cyclopts import App, Parameter

from framework.cli_plugins import PluginPaths, plugins_app
from framework.errors import FrameworkError, SpecError

if TYPE_CHECKING:
    from framework.experiment import Experiment

BAD_INPUT, TRIAL_FAILED, INTERRUPTED = 2, 1, 130

app = App(
    name="ablate",
    help="Ablations of the Transformer: an experiment file in, a trustworthy table out.",
    version=lambda: version("transformer-ablations"),
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # `main` has words for it
)
app.command(plugins_app)

File = Annotated[Path, Parameter(help="Experiment file (YAML).")]
Workers = Annotated[
    int | None, Parameter(help="Worker processes; by default one per core, or per device that --devices names.")
]
Devices = Annotated[
    str, Parameter(show_default=False, help="Where workers compute, in turn: cpu, or such as cuda:0,cuda:1.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class Selection:
    """What every verb that takes FILE takes."""

    set: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="KEY=VALUE: change one dotted key of the experiment; may be repeated."
        ),
    ] = ()
    row: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Only this row; may be repeated.")
    ] = ()
    seed: Annotated[
        tuple[int, ...], Parameter(negative="", show_default=False, help="Only this seed; may be repeated.")
    ] = ()
    home: Annotated[Path, Parameter(help="Folder that everything is kept in.")] = Path("runs")
    storage: Annotated[str | None, Parameter(help="URL of the Optuna study, instead of a file in the home.")] = None
    tracking: Annotated[str | None, Parameter(help="URI of the MLflow store, instead of a file in the home.")] = None
    plugin: PluginPaths = ()

    def load(self, file: Path) -> Experiment:
        """Load an experiment file under this selection."""
        from framework.experiment import load

        return load(
            file,
            settings=self.set,
            rows=self.row,
            seeds=self.seed,
            home=self.home,
            storage=self.storage,
            tracking=self.tracking,
            plugins=self.plugin,
        )


DEFAULTS = Selection()


@app.command
def check(*files: File, selection: Selection = DEFAULTS) -> int:
    """Validate experiment files; print every error at once."""
    if not files:
        raise SpecError("name at least one experiment file", "check")
    code = 0
    for file in files:
        try:
            experiment = selection.load(file)
            lines = experiment.survey()
        except FrameworkError as error:
            print(error, file=sys.stderr)
            code = BAD_INPUT
            continue
        rows = len({line.trial.row for line in lines})
        print(f"{file}: fine ({_count(rows, 'row')}, {_count(len(lines), 'trial')})")
        _warn(experiment)
    return code


@app.command
def plan(
    file: File,
    /,
    *,
    selection: Selection = DEFAULTS,
    probe: Annotated[
        bool,
        Parameter(negative="", help="Time some updates of every row on this machine, and remember it in the home."),
    ] = False,
    budget: Annotated[
        str | None,
        Parameter(show_default=False, help="Say what fits into a time such as 90m, 2h, 1h30m or 1d; implies --probe."),
    ] = None,
    workers: Workers = None,
    devices: Devices = "",
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """Show the trials: what each row changes, what it costs, keys, and what is done or to do."""
    from rich.console import Console

    from framework.budget import budget_text
    from framework.cost import seconds_of
    from framework.experiment import places
    from framework.report.plan_table import render_plan

    seconds = None if budget is None else seconds_of(budget, "--budget")
    processes, (device, *_) = places(workers, _named(devices))
    experiment = selection.load(file)
    lines = experiment.survey()
    if probe or seconds is not None:
        experiment.probe(device, lambda row: print(f"timing row {row}", file=sys.stderr))
    costs = experiment.costs(device)
    print(render_plan(experiment.spec, lines, costs, format, Console()), end="")
    if seconds is not None:
        found = experiment.budget(seconds, costs, processes)
        # A table may be followed by text; csv and json are read by programs.
        print("\n" + budget_text(found, experiment.spec, costs, file.name), end="", file=_text_beside(format))
    print(f"home: {experiment.home.absolute()}", file=sys.stderr)
    _warn(experiment)


@app.command
def run(
    file: File,
    /,
    *,
    selection: Selection = DEFAULTS,
    workers: Workers = None,
    devices: Devices = "",
) -> int:
    """Run what is missing, then print the table. The same command starts, resumes and extends."""
    from framework.progress import ProgressBars
    from framework.report.render import render

    experiment = selection.load(file)
    with ProgressBars(experiment.spec.name, experiment.home) as bars:
        summary = experiment.run(workers, bars.watch, _named(devices))
    print(render(experiment.report(), "table"), end="")
    # The table alone goes to standard output.
    print(f"\n{_count(summary.ran, 'trial')} run, {summary.already_done} done before.", file=sys.stderr)
    for (row, seed), reason in summary.diverged.items():
        print(f"diverged: row {row}, seed {seed}: {reason}", file=sys.stderr)
    for (row, seed), error in summary.failures.items():
        print(f"failed: row {row}, seed {seed}: {error}", file=sys.stderr)
    if summary.failures:
        print(
            f"The same command tries failed trials again; traces: {experiment.home}/trials/*/failure.json",
            file=sys.stderr,
        )
    for line in experiment.where_to_look():
        print(line, file=sys.stderr)
    return TRIAL_FAILED if experiment.lacks_scores() else 0


@app.command
def report(
    file: File,
    /,
    *,
    selection: Selection = DEFAULTS,
    format: Literal["table", "markdown", "csv", "json"] = "table",
    per: Annotated[
        Literal["trial", "row"], Parameter(help="What a line of csv or an object of json stands for.")
    ] = "trial",
    output: Annotated[Path | None, Parameter(help="Write to this file instead of the screen.")] = None,
) -> None:
    """Print the table, of an unfinished run too."""
    from rich.console import Console

    from framework.report.render import render

    experiment = selection.load(file)
    if output is None:
        print(render(experiment.report(), format, per=per), end="")
    else:  # a file is no terminal: it gets every column
        text = render(experiment.report(), format, Console(file=StringIO(), force_terminal=False), per)
        output.write_text(text, encoding="utf-8")
    _warn(experiment)


@app.command
def compare(
    file: File,
    row: Annotated[str, Parameter(help="A row of the table.")],
    other: Annotated[str, Parameter(help="The row that it is compared with.")],
    /,
    *,
    selection: Selection = DEFAULTS,
    metric: Annotated[
        Literal["bleu", "bleu_compound_split", "chrf"], Parameter(help="What the outputs are scored by.")
    ] = "bleu",
) -> None:
    """Test whether what two rows generated differs by more than chance, at each seed that both have."""
    from framework.report.compare import comparison_lines

    comparisons = selection.load(file).compare(row, other, metric)
    print("\n".join(comparison_lines(row, other, comparisons)))
    print("Each p is of two trained models; how much seeds differ, the table says.", file=sys.stderr)


@app.command
def show(file: File, /, *, selection: Selection = DEFAULTS) -> None:
    """Print the experiment as resolved: extended files merged, defaults filled in."""
    print(selection.load(file).yaml, end="")


@app.command
def sync(file: File, /, *, selection: Selection = DEFAULTS) -> int:
    """Bring MLflow and the Optuna study up to date with the folders."""
    experiment = selection.load(file)
    return 0 if experiment.sync() else TRIAL_FAILED


def _text_beside(format: str) -> TextIO:
    return sys.stdout if format == "table" else sys.stderr


def _named(devices: str) -> tuple[str, ...]:
    return tuple(filter(None, devices.split(",")))


def _warn(experiment: Experiment) -> None:
    for warning in experiment.warnings():
        print(f"{experiment.loaded.path}: warning: {warning}", file=sys.stderr)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


class _ToStandardError(logging.Handler):
    """Looks standard error up for every line: progress bars stand in for it while they are shown."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def _speak_any_locale() -> None:
    """Let a terminal whose encoding lacks a character show `?` for it, one for one, so that tables stay tables.

    Its encoding stays as it is: UTF-8 would be noise to it. `--output` writes UTF-8 always.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one verb. Exit codes: 0 fine, 1 a trial failed, 2 bad input, 130 interrupted."""
    _speak_any_locale()
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING, handlers=[_ToStandardError()])
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = app(arguments, result_action="return_value")
    except FrameworkError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a home, an output or a corpus that cannot be read or written
        if error.filename is None:
            raise
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    sys.exit(code if isinstance(code, int) else 0)
