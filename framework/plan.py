"""An experiment → its trials: every row with every seed, in the file's order, each with its keys. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.contracts import Corpus
from framework.errors import MissingCorpus, SpecError
from framework.identity import data_key, evaluate_key, train_key, weights_identity
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.spec.load import Loaded, ResolvedRow
from framework.spec.suggest import choices

Plan = tuple[TrialSpec, ...]


def plan(loaded: Loaded, registry: Registry, rows: Sequence[str] = (), seeds: Sequence[int] = ()) -> Plan:
    """Plan an experiment, or only some of its rows and seeds.

    Without its corpus an experiment still plans, with null keys. Raises `SpecError` for a row that does
    not exist or a seed that no chosen row has.
    """
    experiment = loaded.experiment
    _known("--row", rows, list(experiment.rows))
    chosen = {name: row for name, row in experiment.rows.items() if not rows or name in rows}
    offered = sorted({seed for row in chosen.values() for seed in row.seeds or experiment.seeds})
    _known("--seed", seeds, offered)
    data_keys = _DataKeys(registry)
    trials = []
    for name, row in chosen.items():
        resolved = loaded.rows[name]
        data = data_keys.of(resolved)
        weights = weights_identity(resolved.spec, data, registry) if data else None
        for seed in dict.fromkeys(row.seeds or experiment.seeds):
            if seeds and seed not in seeds:
                continue
            train = train_key(weights, seed) if weights else None
            trials.append(
                TrialSpec.model_construct(
                    **{**dict(resolved.spec), "model": resolved.spec.model.resolved()},
                    experiment=experiment.name,
                    row=name,
                    group=row.group,
                    seed=seed,
                    changes=resolved.changes,
                    data_key=data,
                    train_key=train,
                    evaluate_key=evaluate_key(train, resolved.spec, registry) if train else None,
                )
            )
    return tuple(trials)


def corpus_of(row: ResolvedRow, registry: Registry) -> Corpus:
    """The corpus of a row, built."""
    component = row.spec.data.corpus
    corpus: Corpus = registry.plugin("corpus", component.name)(component.options, row.base_dir)
    return corpus


class _DataKeys:
    """The data key of each row; a corpus that many rows share is read once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._fingerprints: dict[Any, str | None] = {}

    def of(self, row: ResolvedRow) -> str | None:
        corpus = (row.base_dir, row.spec.data.corpus.model_dump_json())
        if corpus not in self._fingerprints:
            try:
                self._fingerprints[corpus] = corpus_of(row, self._registry).fingerprint()
            except MissingCorpus:
                self._fingerprints[corpus] = None
            except SpecError as error:
                raise SpecError(
                    row.placed(problem) if problem.path and not problem.place else problem for problem in error.problems
                ) from error
        fingerprint = self._fingerprints[corpus]
        return fingerprint and data_key(row.spec.data, fingerprint)


def _known(option: str, asked: Sequence[Any], known: Sequence[Any]) -> None:
    for value in asked:
        if value not in known:
            offered = choices(str(value), map(str, known))
            raise SpecError(f"the experiment has no {option.lstrip('-')} {value!r}{offered}", option)
