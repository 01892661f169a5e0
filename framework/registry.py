"""Kind and name → plugin class → object. The only plugin manager; made, passed and thrown away."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pluggy
from pydantic import ValidationError

from framework import hookspecs
from framework.contracts import Plugin
from framework.errors import PluginError, SpecError
from framework.hookspecs import CONTRACTS, PROJECT
from framework.sources import Source, installed, named
from framework.spec import Options
from framework.spec.suggest import choices, did_you_mean

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""What can be a plugin's name: what reads as one word in an experiment and on the command line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A plugin and where it came from."""

    kind: str
    name: str
    plugin: type[Plugin]
    module: ModuleType
    origin: str

    @property
    def summary(self) -> str:
        """The first line of the class's docstring, or of the module's."""
        text = self.plugin.__dict__.get("__doc__") or self.module.__doc__ or ""
        return text.strip().partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Broken:
    """A module that offers nothing, because it failed."""

    module: str
    origin: str
    error: str

    def __str__(self) -> str:
        return f"{self.module} ({self.origin}) failed to load: {self.error}"


class Registry:
    """All plugins of one run of the program.

    A module that fails is remembered in `broken` and costs nothing unless an experiment uses it. A name
    offered twice is unusable, whichever came first: asking for it names both modules.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._offers: dict[tuple[str, str], list[Entry]] = {}
        self.broken: list[Broken] = []
        for source in sources:
            try:
                entries = self._collect(source)
            except (Exception, SystemExit) as error:
                self.broken.append(Broken(source.module, source.origin, f"{type(error).__name__}: {error}"))
                continue
            for entry in entries:
                self._offers.setdefault((entry.kind, entry.name), []).append(entry)

    @classmethod
    def load(cls, paths: Iterable[Path] = ()) -> Registry:
        """Collect the built-ins, every installed plugin, and the files and folders in `paths`."""
        return cls(chain(installed(), named(paths)))

    def entries(self) -> list[Entry]:
        """Every plugin on offer, by kind and name; a name offered twice stands twice."""
        order = list(CONTRACTS)
        keys = sorted(self._offers, key=lambda key: (order.index(key[0]), key[1]))
        return [entry for key in keys for entry in self._offers[key]]

    def names(self, kind: str) -> list[str]:
        return sorted(name for offered, name in self._offers if offered == kind)

    def entry(self, kind: str, name: str) -> Entry:
        """Look a plugin up. Raises `LookupError` with a sentence for the person who wrote the name."""
        offers = self._offers.get((kind, name), [])
        if len(offers) == 1:
            return offers[0]
        what = kind.replace("_", " ")
        if offers:
            both = " and ".join(sorted(f"{entry.module.__name__} ({entry.origin})" for entry in offers))
            raise LookupError(f"the {what} {name!r} is offered twice, by {both}: remove or rename one")
        for broken in self.broken:
            if broken.module.rpartition(".")[2] == name:
                raise LookupError(f"the plugin {broken}")
        known = self.names(kind)
        reason = f"no {what} is named {name!r}{choices(name, known)}"
        if self.broken:
            reason += "; not loaded: " + "; ".join(map(str, self.broken))
        raise LookupError(reason)

    def asked(self, kind: str, name: str) -> Entry:
        """Look up a plugin that the command line or a test names. Raises `SpecError` if there is none."""
        if kind not in CONTRACTS:
            raise SpecError(f"no kind of plugin is called {kind!r}{choices(kind, CONTRACTS)}")
        try:
            return self.entry(kind, name)
        except LookupError as error:
            raise SpecError(str(error.args[0])) from None

    def options(self, kind: str, name: str) -> type[Options]:
        """The options class of a plugin, for validation (`framework.spec.Catalog`)."""
        return self.entry(kind, name).plugin.Options

    def plugin(self, kind: str, name: str) -> Any:
        """The class of a plugin."""
        return self.entry(kind, name).plugin

    def _collect(self, source: Source) -> list[Entry]:
        module = source.load()
        name = f"{source.module} ({source.origin})"
        try:
            self._manager.register(module, name=name)
            self._manager.check_pending()
            callers = self._manager.get_hookcallers(module) or []
            entries = [
                self._checked(caller.name, plugin, module, source.origin)
                for caller in callers
                for implementation in caller.get_hookimpls()
                for plugin in _as_tuple(implementation.function())
            ]
            if source.must_offer and not entries:
                raise PluginError("it offers no plugin: a hook, marked @fw.hookimpl, returns the plugin's class")
            return entries
        except pluggy.PluginValidationError as error:
            raise PluginError(_wrong_hook(module) or str(error)) from error
        finally:
            # Hooks only collect; unregistering keeps a bad module from failing the ones after it.
            self._manager.unregister(name=name)

    @staticmethod
    def _checked(kind: str, plugin: Any, module: ModuleType, origin: str) -> Entry:
        contract = CONTRACTS[kind]
        if not (isinstance(plugin, type) and issubclass(plugin, contract)):
            raise PluginError(f"hook {kind} must return a subclass of {contract.__name__}, not {plugin!r}")
        if not isinstance(getattr(plugin, "name", None), str):
            raise PluginError(f'{plugin.__name__} has no name: give it `name = "…"`')
        if not _NAME.fullmatch(plugin.name):
            raise PluginError(
                f"{plugin.__name__}.name is {plugin.name!r}: a name is a word of letters, digits, _ and -"
            )
        if not (isinstance(plugin.Options, type) and issubclass(plugin.Options, Options)):
            raise PluginError(f"{plugin.__name__}.Options must be a subclass of framework.Options")
        if reason := _wrong_options(plugin.Options):
            raise PluginError(f"{plugin.__name__}.Options cannot be read from JSON and written to it: {reason}")
        stated = [name for name in inspect.get_annotations(contract) if not hasattr(plugin, name)]
        if missing := [*sorted(plugin.__abstractmethods__), *stated]:
            raise PluginError(f"{plugin.__name__} lacks {', '.join(missing)}, which every {contract.__name__} has")
        entry = Entry(kind, plugin.name, plugin, module, origin)
        if not entry.summary:
            raise PluginError(f"{plugin.__name__} has no docstring: its first line says what it is and from where")
        return entry


def _as_tuple(offered: Any) -> tuple[Any, ...]:
    return offered if isinstance(offered, tuple) else (offered,)


def _wrong_options(options: type[Options]) -> str | None:
    """What keeps options from being written into a trial's folder and read by the process that runs it, if anything.

    Options may well need more than their defaults, in a field or together; whether they do is no mistake.
    """
    try:
        options.model_validate_json(options.model_validate_json("{}").model_dump_json())
    except ValidationError as error:
        wrong = [found for found in error.errors() if found["loc"] and found["type"] != "missing"]
        return "; ".join(f"the default of {found['loc'][0]}: {found['msg']}" for found in wrong) or None
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return None


def _wrong_hook(module: ModuleType) -> str | None:
    """A sentence about a hook that no kind of plugin has, or that asks for an argument, if that is what is wrong."""
    for name, member in vars(module).items():
        if not hasattr(member, f"{PROJECT}_impl"):
            continue
        if name not in CONTRACTS:
            return f"no kind of plugin is called {name!r}{did_you_mean(name, CONTRACTS)}"
        if inspect.signature(member).parameters:
            return f"the hook {name} takes no arguments: it returns a class"
    return None
