"""The record that is committed: of every finished trial what it was asked and what came out.

It is laid out as a home is (framework/journal.py), without weights, which are large, and without what was generated
and its references, because the text of corpora is not part of this repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from framework.errors import SpecError
from framework.files import write_whole
from framework.identity import evaluate_key, key_of, weights_identity
from framework.journal import TrialFolder
from framework.plan import Plan
from framework.registry import Registry
from framework.spec import ResolvedSpec, TrialSpec, identity

RECORD: Final = Path(__file__).parents[1] / "table3-small"


def question(spec: ResolvedSpec, seed: int, registry: Registry) -> str:
    """What a trial is asked, however its row is written, and whatever the code is that answers.

    A recorded trial stands for the planned one that asks the same, so that neither needs the corpus.
    """
    weights = weights_identity(spec, "", registry)
    del weights["plugins"], weights["numerics"]
    return key_of([weights, identity(spec.data), evaluate_key("", spec, registry), seed])


def finished(home: Path, plan: Plan, registry: Registry) -> dict[str, TrialSpec]:
    """Find the finished trials of a plan among all that lie under a home, each by its `question`.

    Raises `SpecError` where there is no such home, and where two trials answer the same question, as those by two
    versions of the program do.
    """
    if not (home / "trials").is_dir():
        raise SpecError(
            f"{home} has no folder `trials`: name the home that `ablate run` wrote to, such as runs", "--from"
        )
    asked = {question(trial, trial.seed, registry) for trial in plan}
    found: dict[str, TrialSpec] = {}
    for path in sorted(home.glob("trials/*/spec.json")):
        trial = _read(path, registry)
        if trial is None or not TrialFolder(home, str(trial.train_key)).finished(str(trial.evaluate_key)):
            continue
        its = question(trial, trial.seed, registry)
        if its not in asked:
            continue
        if its in found:
            raise SpecError(
                f"{found[its].train_key} and {trial.train_key} in {home / 'trials'} are both row {trial.row!r} with "
                f"seed {trial.seed}, and the table has room for one: move one of the folders away",
                "--from",
            )
        found[its] = trial
    return found


def keep(trial: TrialSpec, home: Path, record: Path = RECORD) -> None:
    """Copy what the record holds of a finished trial, its scores last, as they are written by a run."""
    source, target = (TrialFolder(place, str(trial.train_key)).path for place in (home, record))
    scores = f"evaluations/{trial.evaluate_key}.json"  # a diverged trial has none
    for name in ("spec.json", "plugins.json", "metrics.jsonl", "training.json", scores):
        if (source / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(target / name, (source / name).read_bytes())


def _read(path: Path, registry: Registry) -> TrialSpec | None:
    """What a folder's trial was asked; None where today's specs cannot ask it, as it is then none of today's plan."""
    try:
        return TrialSpec.model_validate_json(path.read_bytes(), context={"catalog": registry})
    except ValidationError:
        return None
