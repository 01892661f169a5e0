"""Where plugins come from: the modules of entry points, and single files and folders that a person names."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from framework.errors import SpecError
from framework.hookspecs import PROJECT
from framework.spec.plugin_paths import python_files, why_no_plugins


@dataclass(frozen=True, slots=True)
class Source:
    """One module that may offer plugins, not imported yet."""

    module: str
    origin: str
    """The distribution and its version, or the file's path."""
    load: Callable[[], ModuleType]
    must_offer: bool = False
    """Whether it was named on purpose, as a file, so that it is a mistake if nothing is in it."""


def installed() -> Iterator[Source]:
    """Every module behind the entry-point group, built-ins by the same road, in an order of their names."""
    seen: set[str] = set()
    for point in sorted(entry_points(group=PROJECT), key=lambda point: (point.name != "builtin", point.name)):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        for source in _modules(point.module, origin):
            if source.module not in seen:  # a package's module may have an entry point of its own
                seen.add(source.module)
                yield source


def _modules(name: str, origin: str) -> Iterator[Source]:
    """A module and, if it is a package, those inside. A package that fails to import is all that is named of it."""
    yield Source(name, origin, partial(importlib.import_module, name))
    try:
        path = getattr(importlib.import_module(name), "__path__", ())
    except (Exception, SystemExit):
        return  # whoever loads the source meets the same error, and reports it
    for found in pkgutil.iter_modules(path, f"{name}."):
        if found.ispkg:
            yield from _modules(found.name, origin)
        elif not found.name.endswith(".__main__"):
            yield Source(found.name, origin, partial(importlib.import_module, found.name))


def named(paths: Iterable[Path]) -> Iterator[Source]:
    """The modules of files and folders. Raises `SpecError` for a path that does not exist or is no Python file."""
    seen: set[Path] = set()
    for path in paths:
        if reason := why_no_plugins(path):
            raise SpecError(reason, "plugins")
        for file in python_files(path):
            if file.resolve() not in seen:  # an experiment and the command line may name the same one
                seen.add(file.resolve())
                yield Source(file.stem, str(file), partial(_load_file, file), must_offer=path.is_file())


def _load_file(path: Path) -> ModuleType:
    # The name is unlike any installed module's and the same in every process.
    name = f"{PROJECT}_file_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: Pydantic looks annotations up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
