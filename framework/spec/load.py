"""An experiment file → a validated experiment and its resolved rows, or every problem at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from framework.errors import Place, Problem, SpecError
from framework.spec.base import Spec
from framework.spec.change import assign, assign_in_row, merge
from framework.spec.component import Catalog
from framework.spec.experiment import RESOLVED, ExperimentSpec, ResolvedSpec
from framework.spec.explain import explain
from framework.spec.located import Located, joined
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
        """The plugins that the experiment names, relative to the file that names each."""
        listed = self.root.child("plugins")
        entries = listed.value if listed and isinstance(listed.value, list) else []
        return [_base_dir(entry) / entry.value for entry in entries if isinstance(entry.value, str)]


@dataclass(frozen=True, slots=True)
class ResolvedRow:
    """A row's four sections with its changes applied."""

    spec: ResolvedSpec
    changes: dict[str, Any]
    tree: Located
    """What it was validated from, for problems that show later."""
    base_dir: Path
    """Where the corpus's relative paths start: the folder of the file that names the corpus."""

    def placed(self, problem: Problem) -> Problem:
        """A problem at a dotted path of the spec, at the place where that part of it was written."""
        node, beyond = self.tree.follow(tuple(problem.path.split(".")))
        return Problem(problem.message, joined(node.path, *beyond), node.place)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A validated experiment."""

    path: Path
    experiment: ExperimentSpec
    rows: dict[str, ResolvedRow]


def read(path: Path, settings: Sequence[str] = ()) -> Source:
    """Read an experiment file and what it extends, then apply `--set key=value` settings in order."""
    root, problems = _read_extending(path, ())
    for setting in settings:
        key, equals, text = setting.partition("=")
        place = Place(f"--set {setting}")
        if not equals:
            problems.append(Problem("a setting is written key=value", place=place))
            continue
        try:
            root = assign(root, key, read_text(text, place.file, key).moved(place))
        except SpecError as error:
            problems.extend(replace(problem, place=place) for problem in error.problems)
    return Source(path, root, tuple(problems))


def validate(source: Source, catalog: Catalog) -> Loaded:
    """Validate everything. Raises `SpecError` with every problem, in order of the file."""
    problems = list(source.problems)
    experiment = _validated(ExperimentSpec, source.root, catalog, problems)
    sections = _sections(source.root)
    without_change: list[Problem] = []
    _validated(ResolvedSpec, sections, catalog, without_change)
    nothing = Located({}, source.root.place, "")
    written = source.root.child("rows")
    rows: dict[str, ResolvedRow] = {}
    for name in written.mapping if written else experiment.rows if experiment else ():
        row = (written and written.child(name)) or nothing
        change = row.child("change") or nothing
        tree, found = _changed(sections, change)
        spec = _validated(ResolvedSpec, tree, catalog, found)
        problems.extend(problem if problem in without_change else _caused_by(change, problem) for problem in found)
        if spec is not None:
            corpus, _ = tree.follow(("data", "corpus"))
            plain: Any = change.plain()
            rows[name] = ResolvedRow(spec, plain, tree, _base_dir(corpus))
    if problems or experiment is None:
        raise SpecError(sorted(dict.fromkeys(problems), key=_order))
    return Loaded(source.path, experiment, rows)


def _sections(root: Located) -> Located:
    """The four sections that make up a trial, empty where the file has none."""
    return Located({key: root.child(key) or Located({}, root.place, key) for key in RESOLVED}, root.place, "")


def _changed(sections: Located, change: Located) -> tuple[Located, list[Problem]]:
    problems: list[Problem] = []
    for dotted, value in change.mapping.items():
        try:
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
