"""What becomes of a plugin, property by property, over all its options and sites."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from framework.errors import SpecError
from framework.registry import Entry, Registry
from framework.spec.plugin_paths import python_files, why_no_plugins
from framework.testing.cases import Case, cases_of, costs_of


@dataclass(slots=True)
class Verdict:
    """What became of one property of a plugin."""

    property: str
    tried: int = 0
    """With how many options and at how many sites; 0 where something that it rests on is broken."""
    broken: list[str] = field(default_factory=list)
    """What was seen and how to mend it, and with which options and at which site."""
    notes: list[str] = field(default_factory=list)

    def add(self, case: Case) -> bool:
        """Try once more, and say whether it is broken there."""
        outcome = case.outcome()
        self.tried += 1
        if outcome.broken is not None:
            self.broken.append(_told(case, outcome.broken))
        if outcome.note is not None:
            self.notes.append(_told(case, outcome.note))
        return outcome.broken is not None


def verdicts(entry: Entry, registry: Registry) -> list[Verdict]:
    """Try all that is true of a right plugin of this kind."""
    found: dict[str, Verdict] = {}
    shaken: set[tuple[object, ...]] = set()
    for case in cases_of(entry, registry):
        verdict = found.setdefault(case.property.name, Verdict(case.property.name))
        subject = case.sample, case.site
        if subject in shaken:
            continue
        if verdict.add(case) and case.property.founding:
            shaken.add(subject)
    return list(found.values())


def cost_of(entry: Entry, registry: Registry) -> Verdict | None:
    """Time a plugin that keeps its contract; None where there is nothing to time."""
    verdict = Verdict("cost")
    for case in costs_of(entry, registry):
        verdict.add(case)
    return verdict if verdict.notes or verdict.broken else None


def offered_at(path: Path, plugins: Iterable[Path]) -> tuple[list[Entry], Registry]:
    """Load what a file or folder offers; one that is installed already is not loaded again.

    Raises `SpecError` if nothing can be loaded from it.
    """
    if reason := why_no_plugins(path):
        raise SpecError(reason)
    files = {file.resolve() for file in python_files(path)}
    registry = Registry.load(plugins)
    if not (own := _from(files, registry)):
        registry = Registry.load((path, *plugins))
        own = _from(files, registry)
    if failed := [broken for broken in registry.broken if Path(broken.origin).resolve() in files]:
        raise SpecError("\n".join(f"the plugin {broken}" for broken in failed))
    if not own:
        raise SpecError(f"{path} offers no plugin: a hook, marked @fw.hookimpl, returns the plugin's class")
    return own, registry


def _from(files: set[Path], registry: Registry) -> list[Entry]:
    return [entry for entry in registry.entries() if Path(entry.module.__file__ or "").resolve() in files]


def _told(case: Case, words: str) -> str:
    return f"{case.circumstances}: {words}" if case.circumstances else words
