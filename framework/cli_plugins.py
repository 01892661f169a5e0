"""The verbs of `ablate plugins`. Heavy imports stand inside the verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from framework.errors import SpecError

if TYPE_CHECKING:
    from framework.registry import Entry, Registry

plugins_app = App(name="plugins", help="What can be named in an experiment.")

PluginPaths = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--plugin", negative="", show_default=False, help="A plugin file or folder to load; may be repeated."
    ),
]

BROKEN = 1
"""Exit code where a plugin breaks its contract."""


@plugins_app.command(name="list")
def list_plugins(*, plugin: PluginPaths = ()) -> None:
    """List every plugin by kind, and those that failed to load."""
    from collections import Counter

    from framework.registry import Registry

    registry = Registry.load(plugin)
    entries = registry.entries()
    width = max(len(entry.name) for entry in entries)
    offers = Counter((entry.kind, entry.name) for entry in entries)
    kind = ""
    for entry in entries:
        if entry.kind != kind:
            kind = entry.kind
            print(kind)
        twice = offers[entry.kind, entry.name] > 1
        said = f"OFFERED TWICE, unusable: {entry.module.__name__} ({entry.origin})" if twice else entry.summary
        print(f"  {entry.name:<{width}}  {said}")
    for broken in registry.broken:
        print(f"FAILED {broken}")


@plugins_app.command(name="show")
def show_plugin(kind: str, name: str, /, *, plugin: PluginPaths = ()) -> None:
    """Show one plugin: where it comes from, what it says of itself, its options."""
    import inspect

    from framework.registry import Registry
    from framework.spec.describe import default, takes

    entry = Registry.load(plugin).asked(kind, name)
    print(f"{kind} {name}, from {entry.origin}: {entry.module.__name__}\n")
    print(inspect.cleandoc(entry.plugin.__dict__.get("__doc__") or entry.summary))
    fields = entry.plugin.Options.model_fields
    print("\nOptions:" if fields else "\nNo options.")
    for option, field in fields.items():
        print(f"  {option}: {takes(field)}; {default(field)}. {' '.join((field.description or '').split())}".rstrip())


@plugins_app.command(name="check")
def check_plugins(
    *what: Annotated[str, Parameter(help="KIND NAME, or the PATH of a plugin file or folder.")],
    every: Annotated[bool, Parameter(name="--all", negative="", help="Check every plugin there is.")] = False,
    plugin: PluginPaths = (),
) -> int:
    """Try whether plugins keep their contract: KIND NAME, PATH or --all."""
    from framework.registry import Registry
    from framework.testing.verdict import offered_at

    match what, every:
        case (), True:
            registry = Registry.load(plugin)
            return _check(registry.entries(), registry)
        case (kind, name), False:
            registry = Registry.load(plugin)
            return _check([registry.asked(kind, name)], registry, complete=False)
        case (path,), False:
            return _check(*offered_at(Path(path), plugin), complete=False)
    raise SpecError("name a KIND and a NAME, or the PATH of a plugin file or folder, or --all", "plugins check")


@plugins_app.command(name="new")
def new_plugin(
    kind: str,
    name: str,
    /,
    *,
    folder: Annotated[Path, Parameter(help="Where to write it, instead of the folder you are in.")] = Path(),
    plugin: PluginPaths = (),
) -> None:
    """Write a plugin of your own to start from, which works, and its test."""
    from framework.registry import Registry
    from framework.scaffold import scaffold

    print(scaffold(kind, name, folder, Registry.load(plugin)), end="")


def _check(entries: list[Entry], registry: Registry, complete: bool = True) -> int:
    """Print a line per plugin and property. Where all there is is checked, what failed to load is broken as well."""
    from framework.testing.verdict import cost_of, verdicts

    broken = 0
    for entry in entries:
        print(f"{entry.kind} {entry.name}")
        found = verdicts(entry, registry)
        if not any(verdict.broken for verdict in found) and (cost := cost_of(entry, registry)):
            found.append(cost)
        for verdict in found:
            mark = "FAIL" if verdict.broken else "pass" if verdict.tried else "    "
            untried = [] if verdict.tried else ["not tried: what it rests on is broken"]
            first, *rest = verdict.broken or verdict.notes or untried or [""]
            print(f"  {mark}  {verdict.property:<18}  {first}".rstrip(), flush=True)
            for line in rest:
                print(f"{'':28}{line}")
        broken += any(verdict.broken for verdict in found)
    failed = registry.broken if complete else []
    for module in failed:
        print(f"FAILED {module}")
    print(f"{len(entries)} checked, {broken} broken{f', {len(failed)} not loaded' if failed else ''}")
    return BROKEN if broken or failed else 0
