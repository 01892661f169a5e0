"""An experiment so small that a test can run it: a trial takes a tenth of a second."""

from __future__ import annotations

import contextlib
import io
import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework import cli
from framework.data.prepare import prepare
from framework.experiment import Experiment, load
from framework.journal import TrialFolder
from framework.plan import corpus_of
from framework.spec import TrialSpec
from framework.trial import data_folder

TINY: Mapping[str, Any] = {
    "name": "tiny",
    "model": {"d_model": 16, "d_ff": 16, "num_layers": 1, "num_heads": 2},
    "data": {
        "corpus": {"name": "toy_translation", "options": {"train_pairs": 60, "dev_pairs": 4, "test_pairs": 4}},
        "tokenizer": {"vocabulary_size": 270},
        "max_pieces": 100,
    },
    "train": {
        "steps": 12,
        "batch_tokens": 400,
        "warmup_steps": 4,
        "log_every": 3,
        "evaluate_every": 6,
        "checkpoint_every": 4,
        "keep": "checkpoint",
    },
    "evaluate": {"beam_size": 1, "max_extra_tokens": 2},
}
TWO_ROWS: Mapping[str, Any] = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}}


def write(folder: Path, rows: Mapping[str, Any] = TWO_ROWS, **sections: Any) -> Path:
    """Write the tiny experiment as a file; `sections` are laid over its own, one level deep."""
    content: dict[str, Any] = {**TINY, "rows": dict(rows)}
    for name, section in sections.items():
        below = content.get(name)
        content[name] = {**below, **section} if isinstance(below, dict) and isinstance(section, dict) else section
    path = folder / f"{content['name']}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def load_prepared(path: Path, home: Path, **options: Any) -> Experiment:
    """Load an experiment and prepare its data, so that its trials can be run one by one."""
    experiment = load(path, home=home, **options)
    keys = {trial.row: trial.data_key for trial in experiment.plan()}
    for name, key in keys.items():
        row = experiment.loaded.rows[name]
        prepare(row.spec.data, corpus_of(row, experiment.registry), data_folder(home, str(key)))
    return experiment


def folder_of(trial: TrialSpec, home: Path) -> TrialFolder:
    return TrialFolder(home, str(trial.train_key))


def findings(trial: TrialSpec, home: Path) -> dict[str, Any]:
    """All that a trial found out, bit for bit, without what differs from machine to machine and hour to hour."""
    from safetensors import safe_open

    folder = folder_of(trial, home)
    with safe_open(folder.checkpoint_path, framework="pt") as file:
        progress = json.loads(file.metadata()["training"])
        weights = {key: file.get_tensor(key).numpy().tobytes() for key in file.keys()}  # noqa: SIM118
    del progress["extra"]["seconds"]
    training, evaluation = folder.training(), folder.evaluation(str(trial.evaluate_key))
    assert training is not None
    assert evaluation is not None
    return {
        "weights": weights,
        "progress": progress,
        "training": training.model_dump(exclude={"seconds", "peak_memory_bytes"}),
        "evaluation": evaluation.model_dump(exclude={"seconds"}),
        "curves": [(point.step, dict(point.values)) for point in folder.curves.points()],
    }


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str


def ablate(*arguments: object) -> Said:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as exit,
        ):
            cli.main(list(map(str, arguments)))
    finally:
        signal.signal(signal.SIGTERM, on_sigterm)
    code = exit.value.code
    assert isinstance(code, int)
    return Said(code, out.getvalue(), err.getvalue())
