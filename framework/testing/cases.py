"""Every property of every plugin, with each of its options and at each site, as one case to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from framework.contracts import Site
from framework.errors import PluginError
from framework.registry import Entry, Registry
from framework.spec import Options
from framework.testing import settings
from framework.testing.corpora import CorpusSubject
from framework.testing.cost import cost
from framework.testing.examples import ObjectiveSubject
from framework.testing.kinds import HAVE_COSTS, MODULE_SUBJECTS, PROPERTIES, fitting
from framework.testing.property import Outcome, Property
from framework.testing.settings import PluginSubject, in_words, validated
from framework.testing.subject import SIZES, Subject


@dataclass(frozen=True, slots=True)
class Case:
    """One property of one plugin, with one of its `samples` of options, at one site."""

    entry: Entry
    property: Property
    registry: Registry
    sample: int | None = None
    """Which of the plugin's samples; None for what is true of it whatever its options."""
    site: Site | None = None
    circumstances: str = ""
    """Options and site, in words."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.property.name, self.circumstances)))

    def run(self) -> str | None:
        """Try it, and give a note if there is one. Raises `PluginError` with the property's name where it is broken."""
        outcome = self.outcome()
        if outcome.broken is not None:
            where = f" ({self.circumstances})" if self.circumstances else ""
            raise PluginError(f"{self.property.name}: plugin {self.entry.name!r}{where}: {outcome.broken}")
        return outcome.note

    def outcome(self) -> Outcome:
        """Try it, whatever comes of it. Files that the plugin writes for its samples are gone afterwards."""
        with TemporaryDirectory() as folder:
            return self.property.of(self._subject(Path(folder)))

    def _subject(self, folder: Path) -> Subject:
        plugin = self.entry.plugin
        if self.sample is None:
            return PluginSubject(plugin, self.entry.summary, self.registry, folder)
        options = validated(plugin, list(plugin.samples(folder))[self.sample], self.registry)
        return _subject(self.entry.kind, plugin, options, self.site, folder)


def cases(kind: str, name: str, plugins: Iterable[str | Path] = ()) -> list[Case]:
    """Give all that is tried of a plugin, which may come from the files and folders in `plugins`.

    For an author's own tests:

        @pytest.mark.parametrize("case", testing.cases("attention_score", "my_score", ["my_score.py"]), ids=str)
        def test_my_score(case):
            case.run()

    Raises `SpecError` if there is no such plugin.
    """
    registry = Registry.load(map(Path, plugins))
    return list(cases_of(registry.asked(kind, name), registry))


def cases_of(entry: Entry, registry: Registry) -> Iterator[Case]:
    """Give all that is tried of a plugin. Without fitting samples of options, that is what needs none."""
    of_plugin = [Case(entry, tried, registry) for tried in settings.PROPERTIES]
    yield from of_plugin
    if any(case.outcome().broken for case in of_plugin if case.property.founding):
        return
    for sample, options in enumerate(_samples(entry)):
        for site in _sites(entry):
            for tried in PROPERTIES[entry.kind]:
                yield Case(entry, tried, registry, sample, site, _circumstances(options, site))


def costs_of(entry: Entry, registry: Registry) -> Iterator[Case]:
    """Give what times a plugin with each of its options, at the first site that it can stand at."""
    if entry.kind in HAVE_COSTS:
        for sample, options in enumerate(_samples(entry)):
            for site in _sites(entry)[:1]:
                yield Case(entry, Property(cost), registry, sample, site, _circumstances(options, site))


def _samples(entry: Entry) -> list[Mapping[str, Any]]:
    with TemporaryDirectory() as folder:
        return list(entry.plugin.samples(Path(folder)))


def _sites(entry: Entry) -> list[Site | None]:
    if entry.kind not in MODULE_SUBJECTS:
        return [None]
    if getattr(entry.plugin, "removes_sublayer", False):  # it is never called
        return []
    own: Any = getattr(entry.plugin, "sites", None)
    return [site for site in Site if site in (own or MODULE_SUBJECTS[entry.kind].sites)]


def _subject(kind: str, plugin: type[Any], options: Options, site: Site | None, folder: Path) -> Subject:
    if kind == "corpus":
        return CorpusSubject(plugin, options, folder)
    if kind == "objective":
        return ObjectiveSubject(plugin, options)
    assert site is not None, "a part of a model stands somewhere"
    return fitting(kind, plugin, options, [replace(sizes, site=site) for sizes in SIZES])


def _circumstances(options: Mapping[str, Any], site: Site | None) -> str:
    at = f"at {site}" if site is not None else ""
    return " ".join(filter(None, (in_words(options), at)))
