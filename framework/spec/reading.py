"""YAML text → located values, by the YAML 1.2 core schema.

`1e-4` is a number and `no` is text. Duplicate keys, tags, non-finite numbers and tabs in the indentation
are problems; after a duplicate key the first value stays and reading goes on, so that all is said at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import yaml

from framework.errors import Place, Problem, SpecError
from framework.spec.located import Located, Scalar, joined

_INT: Final = re.compile(r"[-+]?[0-9]{1,300}|0o[0-7]{1,300}|0x[0-9a-fA-F]{1,200}")  # no longer than a float's range
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NON_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_MOST_VALUES: Final = 100_000
"""Aliases inside aliases can make a small file enormous."""
_MOST_LEVELS: Final = 100

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]  # a base that is chosen at run time
    """Leaves values without a tag untagged, so that a tag is always one that somebody wrote."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        return ""


def read_file(path: Path) -> Located:
    """Read an experiment file. Raises `SpecError` with every problem found."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SpecError(Problem(f"cannot be read: {error.strerror}", place=Place(str(path)))) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SpecError(Problem("is not UTF-8 text", place=Place(str(path), line))) from error
    root = read_text(text, str(path))
    if root.value is None:
        return Located({}, root.place, "")
    if not isinstance(root.value, dict):
        raise SpecError(Problem("an experiment is a mapping of keys to values", place=root.place))
    return root


def read_text(text: str, file: str, path: str = "") -> Located:
    """Read one YAML document; `file` names it in problems, `path` is where its value will stand."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise SpecError(Problem(_words(error, text), place=_place(file, error.problem_mark))) from error
    except yaml.YAMLError as error:
        raise SpecError(Problem(f"is no YAML: {error}".splitlines()[0], place=Place(file))) from error
    if node is None:
        return Located(None, Place(file, 1, 1), path)
    conversion = _Conversion(file)
    root = conversion.located(node, path, _place(file, node.start_mark))
    if conversion.problems:
        raise UnreadableParts(conversion.problems, root)
    return root


class UnreadableParts(SpecError):
    """Some values of a document are wrong in themselves; the rest of it can still be validated."""

    def __init__(self, problems: list[Problem], root: Located) -> None:
        super().__init__(problems)
        self.root = root


class _Conversion:
    """Turns PyYAML's nodes into located values, collecting problems."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: set[int] = set()
        self._count = 0
        self.problems: list[Problem] = []

    def located(self, node: yaml.Node, path: str, place: Place) -> Located:
        self._count += 1
        if self._count > _MOST_VALUES or id(node) in self._open:
            raise SpecError(Problem("aliases make this document endless, or nearly so", path, place))
        if len(self._open) == _MOST_LEVELS:
            raise SpecError(Problem(f"is nested more than {_MOST_LEVELS} levels deep", "", place))
        self._open.add(id(node))
        convert: dict[type, Callable[[Any, str, Place], Any]] = {
            yaml.MappingNode: self._mapping,
            yaml.SequenceNode: self._sequence,
            yaml.ScalarNode: self._scalar,
        }
        if node.tag:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            self.problems.append(Problem(f"the tag {tag} is not allowed: write a plain value", path, place))
        located = Located(convert[type(node)](node, path, place), place, path)
        self._open.remove(id(node))
        return located

    def _mapping(self, node: yaml.MappingNode, path: str, at: Place) -> dict[str, Located]:
        entries: dict[str, Located] = {}
        for key_node, value_node in node.value:
            place = _place(self._file, key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append(Problem("a key is text, not a list or a mapping", path, place))
                continue
            key = key_node.value
            where = joined(path, key)
            if key in entries:
                first = entries[key].place
                self.problems.append(Problem(f"duplicate key; it stands first in line {first.line}", where, place))
                continue
            entries[key] = self.located(value_node, where, place)
        return entries

    def _sequence(self, node: yaml.SequenceNode, path: str, at: Place) -> list[Located]:
        return [
            self.located(entry, joined(path, index), _place(self._file, entry.start_mark))
            for index, entry in enumerate(node.value)
        ]

    def _scalar(self, node: yaml.ScalarNode, path: str, at: Place) -> Scalar:
        text: str = node.value
        if node.style in ("'", '"', "|", ">"):
            return text
        value = plain_scalar(text)
        if isinstance(value, float) and not math.isfinite(value):
            self.problems.append(Problem("a number must be finite", path, at))
            return 0.0
        return value


def plain_scalar(text: str) -> Scalar:
    """What unquoted text stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NON_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def _place(file: str, mark: Any) -> Place:
    return Place(file) if mark is None else Place(file, mark.line + 1, mark.column + 1)


def _words(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark
    if mark is not None and text[mark.index : mark.index + 1] == "\t":
        return "a tab; YAML is indented with spaces"
    return f"is no YAML: {error.problem}"
