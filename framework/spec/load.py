"""An experiment file → a validated experiment and its resolved rows, or every problem at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from framework.errors import Place, Problem, SpecError
from framework.spec.base import Spec
from framework.spec.change import assign, assign_in_row, merge, require_kept
from framework.spec.component import Catalog
from framework.spec.experiment import RESOLVED, ExperimentSpec, ResolvedSpec
from framework.spec.explain import REQUIRED, explain
from framework.spec.located import Located, joined
from framework.spec.plugin_paths import why_no_plugins
from framework.spec.reading import UnreadableParts, read_file, read_text

S = TypeVar("S", bound=Spec)


@dataclass(frozen=True, slots=True)
class Source:
    """An experiment file as read: `extends` followed, `--set` applied, nothing validated yet."""

    path: Path
    root: Located
    problems: tuple[Problem, ...] = ()
    """What is wrong in the text itself; validation adds what is wrong in its meaning."""

    def plugin_paths(self) -> list[Path]:
        """The plugins that the experiment names, relative to the file that names each; those that can be loaded."""
        return [path for _, path in _plugins(self.root) if not why_no_plugins(path)]


@dataclass(frozen=True, slots=True)
class ResolvedRow:
    """A row's four sections with its changes applied."""

    spec: ResolvedSpec
    changes: dict[str, Any]
    tree: Located
    """What it was validated from, for problems that show later."""
    base_dir: Path
    """Where the corpus's relative paths start: the folder of the file that names the corpus."""
    change: Located
    """The row's changes as they were written."""

    def placed(self, problem: Problem) -> Problem:
        """A problem at a dotted path of the spec, at the place where that part of it was written."""
        node, beyond = self.tree.follow(tuple(problem.path.split(".")))
        return Problem(problem.message, joined(node.path, *beyond), node.place)

    def caused(self, problem: Problem) -> Problem:
        """A placed problem that the sections have only with this row's change, shown at the change."""
        return _caused_by(self.change, problem)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A validated experiment."""

    path: Path
    experiment: ExperimentSpec
    rows: dict[str, ResolvedRow]
    unchanged: ResolvedRow | None
    """The experiment's own sections as a row; None where they only fit each other once a row has changed them."""


def read(path: Path, settings: Sequence[str] = ()) -> Source:
    """Read an experiment file and what it extends, then apply `--set key=value` settings in order."""
    root, problems = _read_extending(path, ())
    done: list[str] = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        place = Place(f"--set {setting}")
        if not equals:
            problems.append(Problem("a setting is written key=value", place=place))
            continue
        if key.partition(".")[0] == "extends":
            problems.append(Problem("is followed before anything is set: write it in a file", key, place))
            continue
        try:
            value = read_text(text, place.file, key).moved(place)
            require_kept(value, key, done)
            root = assign(root, key, value)
            done.append(key)
        except SpecError as error:
            problems.extend(replace(problem, place=place) for problem in error.problems)
    return Source(path, root, (*problems, *_plugins_that_are_none(root)))


def validate(source: Source, catalog: Catalog) -> Loaded:
    """Validate everything. Raises `SpecError` with every problem, in order of the file."""
    problems: list[Problem] = []
    experiment = _validated(ExperimentSpec, source.root, catalog, problems)
    sections, nothing = _sections(source.root), Located({}, source.root.place, "")
    unchanged, without_change = _resolved(sections, nothing, catalog)
    written = source.root.child("rows")
    rows: dict[str, ResolvedRow] = {}
    for name in written.mapping if written else experiment.rows if experiment else ():
        change = ((written and written.child(name)) or nothing).child("change") or nothing
        row, found = _resolved(sections, change, catalog)
        problems.extend(problem if problem in without_change else _caused_by(change, problem) for problem in found)
        if row is not None:
            rows[name] = row
    problems = [*source.problems, *_beyond_the_text(problems, source)]
    if problems or experiment is None:
        raise SpecError(sorted(dict.fromkeys(problems), key=_order))
    return Loaded(source.path, experiment, rows, unchanged)


def _resolved(sections: Located, change: Located, catalog: Catalog) -> tuple[ResolvedRow | None, list[Problem]]:
    tree, problems = _changed(sections, change)
    spec = _validated(ResolvedSpec, tree, catalog, problems)
    if spec is None:
        return None, problems
    corpus, _ = tree.follow(("data", "corpus"))
    plain: Any = change.plain()
    return ResolvedRow(spec, plain, tree, _base_dir(corpus), change), problems


def _beyond_the_text(problems: list[Problem], source: Source) -> Iterator[Problem]:
    """Leave out what only follows from a value or a file that could not be read."""
    unread = {(problem.path, problem.place) for problem in source.problems}
    base_is_missing = any(path == "extends" for path, _ in unread)
    for problem in problems:
        if (problem.path, problem.place) not in unread and not (base_is_missing and problem.message == REQUIRED):
            yield problem


def _plugins(root: Located) -> list[tuple[Located, Path]]:
    listed = root.child("plugins")
    entries = listed.value if listed and isinstance(listed.value, list) else []
    return [(entry, _base_dir(entry) / entry.value) for entry in entries if isinstance(entry.value, str)]


def _plugins_that_are_none(root: Located) -> Iterator[Problem]:
    for entry, path in _plugins(root):
        if reason := why_no_plugins(path):
            yield entry.problem(reason)


def _sections(root: Located) -> Located:
    """The four sections that make up a trial, empty where the file has none."""
    return Located({key: root.child(key) or Located({}, root.place, key) for key in RESOLVED}, root.place, "")


def _changed(sections: Located, change: Located) -> tuple[Located, list[Problem]]:
    problems: list[Problem] = []
    done: list[str] = []
    for dotted, value in change.mapping.items():
        try:
            require_kept(value, dotted, done)
            done.append(dotted)
            sections = assign_in_row(sections, dotted, value)
        except SpecError as error:
            problems.extend(error.problems)
    return sections, problems


def _caused_by(change: Located, problem: Problem) -> Problem:
    """A problem that the sections have only with this change, shown at the change wherever it came to light."""
    inside = problem.path.startswith(f"{change.path}.")
    return problem if inside else replace(problem, path=change.path, place=change.place)


def _read_extending(path: Path, above: tuple[Path, ...]) -> tuple[Located, list[Problem]]:
    problems: list[Problem] = []
    try:
        root = read_file(path)
    except UnreadableParts as error:
        root = error.root
        problems.extend(error.problems)
    extends = root.child("extends")
    if extends is None:
        return root, problems
    entries = {key: entry for key, entry in root.mapping.items() if key != "extends"}
    root = Located(entries, root.place, "")
    if not isinstance(extends.value, str):
        return root, [*problems, extends.problem("expected the path of another experiment file")]
    base_path = path.parent / extends.value
    chain = (*above, path.resolve())
    if base_path.resolve() in chain:
        return root, [*problems, extends.problem(f"{extends.value} extends this file, or itself, in a circle")]
    if not base_path.is_file():
        return root, [*problems, extends.problem(f"there is no file {base_path}")]
    base, base_problems = _read_extending(base_path, chain)
    return merge(base, root), [*base_problems, *problems]


def _validated(kind: type[S], tree: Located, catalog: Catalog, problems: list[Problem]) -> S | None:
    try:
        # Through JSON: strict, and yet a list may stand for a tuple.
        return kind.model_validate_json(json.dumps(tree.plain()), context={"catalog": catalog})
    except ValidationError as error:
        problems.extend(explain(error, kind, tree, catalog))
        return None


def _base_dir(node: Located) -> Path:
    """The folder of the file in which a value was written; the working folder for `--set`."""
    return Path() if node.place.line is None else Path(node.place.file).parent


def _order(problem: Problem) -> tuple[str, int, int]:
    place = problem.place or Place("")
    return place.file, place.line or 0, place.column or 0
