"""The corpora of a plan's rows: which are missing, and cutting them into pieces before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from framework.data.prepare import prepare
from framework.errors import MissingCorpus, Problem, SpecError
from framework.plan import Plan, corpus_of
from framework.registry import Registry
from framework.spec.load import Loaded, ResolvedRow
from framework.spec.suggest import choices
from framework.trial import data_folder


def missing_corpora(plan: Plan, loaded: Loaded, registry: Registry) -> list[Problem]:
    """Find the corpora that are not there, each at the place that names it."""
    problems: list[Problem] = []
    for name in dict.fromkeys(trial.row for trial in plan if trial.data_key is None):
        try:
            corpus_of(loaded.rows[name], registry).fingerprint()
        except MissingCorpus as error:
            said = "; ".join(map(str, error.problems))
            problem = Problem(f"the corpus is not there: {said}; it can be planned, not run", "data.corpus")
            problems.append(loaded.rows[name].placed(problem))
    return list(dict.fromkeys(problems))


def prepare_corpora(plan: Plan, loaded: Loaded, registry: Registry, home: Path, rows: Collection[str]) -> None:
    """Cut the corpora of some rows into pieces, once for all rows that share them.

    Raises `SpecError`, placed in the file, for what only shows with the data at hand, `MissingCorpus` among it.
    """
    keys = {trial.row: trial.data_key for trial in plan}
    chosen = {name: row for name, row in loaded.rows.items() if name in rows}
    corpora = {name: corpus_of(row, registry) for name, row in chosen.items()}
    problems: list[Problem] = []
    for name, row in chosen.items():
        with _placed(row):
            if keys[name] is None:
                corpora[name].fingerprint()  # raises `MissingCorpus`, as it did for the plan
            names, split = corpora[name].splits(), row.spec.evaluate.split
        if split not in names:
            problem = Problem(f"the corpus has no split {split!r}{choices(split, names)}", "evaluate.split")
            problems.append(row.placed(problem))
    if problems:
        raise SpecError(dict.fromkeys(problems))
    prepared: set[str] = set()
    for name, row in chosen.items():
        key = keys[name]
        assert key is not None, "the corpus came after the plan was made"
        if key not in prepared:
            prepared.add(key)
            with _placed(row):
                prepare(row.spec.data, corpora[name], data_folder(home, key))


@contextmanager
def _placed(row: ResolvedRow) -> Iterator[None]:
    """Place what is raised of a row's data where the file says it."""
    try:
        yield
    except SpecError as error:
        problems = [replace(problem, path=problem.path or "data.corpus") for problem in error.problems]
        raise type(error)(map(row.placed, problems)) from None
