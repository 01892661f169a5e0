"""Changes of dotted keys in a tree of located values, and the merging of files that extend one another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from framework.errors import SpecError
from framework.spec.component import KINDS, OfKind
from framework.spec.experiment import RESOLVED, ExperimentSpec
from framework.spec.fields import field_of
from framework.spec.located import Located
from framework.spec.suggest import did_you_mean


def merge(base: Located, over: Located) -> Located:
    """Lay one document over another: mappings merge, lists, scalars and components are replaced whole."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    # Only the keys of a row's changes have dots that mean anything; a row's own name may hold some.
    undone = over.value if over.path.startswith("rows.") and over.path.endswith(".change") else {}
    merged = {key: entry for key, entry in base.value.items() if not any(is_inside(key, whole) for whole in undone)}
    for key, entry in over.value.items():
        holds_component = key.rpartition(".")[2] in KINDS
        merged[key] = merge(merged[key], entry) if key in merged and not holds_component else entry
    return replace(over, value=merged)


def is_inside(dotted: str, whole: str) -> bool:
    """Whether a dotted key lies below another."""
    return dotted.startswith(f"{whole}.")


def require_kept(key: Located, dotted: str, earlier: Iterable[str]) -> None:
    """Raise `SpecError` where assigning to `dotted` would silently undo an earlier assignment inside it."""
    for inner in earlier:
        if is_inside(inner, dotted):
            raise SpecError(key.problem(f"replaces all of {dotted}, and so undoes {inner} before it: put this first"))


def assign(root: Located, dotted: str, value: Located) -> Located:
    """Give `root` with one dotted key set to `value`, which keeps its own place and path.

    Assigning a component replaces it whole; `….options.x` changes one option and keeps the rest. Raises
    `SpecError` for `….name` alone, which would leave one plugin with the options of another.
    """
    keys = tuple(dotted.split("."))
    if not all(keys):
        raise SpecError(value.problem(f"{dotted!r} is no dotted key"))
    if keys[-1] == "name" and len(keys) > 1 and keys[-2] in KINDS:
        whole = ".".join(keys[:-1])
        raise SpecError(value.problem(f"a component is replaced whole: assign to {whole} instead of its name"))
    return _assign(root, keys, (), value)


def assign_in_row(sections: Located, dotted: str, value: Located) -> Located:
    """`assign` for a row, which may change the four sections of a trial only."""
    section = dotted.partition(".")[0]
    if section == dotted and section in RESOLVED:
        raise SpecError(value.problem(f"a row changes keys inside a section, not the whole of it: write {section}.KEY"))
    if section not in RESOLVED:
        hint = did_you_mean(section, RESOLVED)
        raise SpecError(value.problem(f"a row changes keys inside {', '.join(RESOLVED)}; not {dotted!r}{hint}"))
    return assign(sections, dotted, value)


def _assign(node: Located, keys: tuple[str, ...], above: tuple[str, ...], value: Located) -> Located:
    key, *rest = keys
    if not rest:
        return node.with_entry(key, value)
    here = (*above, key)
    child = node.child(key)
    if key in KINDS and rest[0] == "options":
        child = _spelled_out(child, here, value)
    if child is None or not isinstance(child.value, dict):
        child = Located({}, value.place, value.path.removesuffix(".".join(("", *rest))))
    return node.with_entry(key, _assign(child, tuple(rest), here, value))


def _spelled_out(component: Located | None, keys: tuple[str, ...], value: Located) -> Located:
    """A component as a mapping with a name, so that one option can be set in it."""
    if component is not None and isinstance(component.value, dict):
        return component
    if component is None:
        field = field_of(ExperimentSpec, keys)
        name = field.default if field and any(isinstance(mark, OfKind) for mark in field.metadata) else None
        component = Located(name, value.place, ".".join(keys))
    if not isinstance(component.value, str):
        raise SpecError(value.problem(f"{'.'.join(keys)} names no component whose option could be changed"))
    return replace(component, value={"name": component})
