"""What makes two trials the same: keys made of all that determines weights and scores.

Inside are the resolved sections, the seed, the corpus's fingerprint and a digest of each plugin's code.
Outside are names, labels, references, intervals of logging, workers, home, device and library versions.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from framework.contracts import ADDRESSES, SITES
from framework.registry import Entry, Registry
from framework.spec import Component, DataSpec, ResolvedSpec, identity

NUMERICS_VERSION: Final = 2
"""Raised when a change to the framework changes a golden number, so that old trials are not mistaken for new."""


def key_of(content: Any) -> str:
    """A short hash of JSON values, the same in every process and on every machine."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def data_key(data: DataSpec, fingerprint: str) -> str:
    """Identify prepared data: the text itself, how it is cut into pieces, and how much of it is kept.

    Where the corpus lies does not matter, and neither does the plugin that reads it.
    """
    kept = identity(data)
    del kept["corpus"]
    return key_of({"numerics": NUMERICS_VERSION, "corpus": fingerprint, "data": kept})


def weights_identity(spec: ResolvedSpec, data: str, registry: Registry) -> dict[str, Any]:
    """All that determines weights but the seed, as JSON values; equal models are equal however they are written."""
    model = identity(spec.model.resolved())
    for kind in (*SITE_KINDS, "sites"):
        del model[kind]  # told site by site, whichever way the experiment wrote it
    sites = site_components(spec, registry)
    model["sites"] = {
        site: {kind: identity(component) for kind, component in kinds.items()} for site, kinds in sites.items()
    }
    used = components_used(spec, registry)
    return {
        "numerics": NUMERICS_VERSION,
        "model": model,
        "train": identity(spec.train),
        "data": data,
        "plugins": {f"{kind}/{name}": digest(registry.entry(kind, name)) for kind, name in used},
    }


def train_key(weights: dict[str, Any], seed: int) -> str:
    """Identify weights."""
    return key_of({**weights, "seed": seed})


def evaluate_key(train: str, spec: ResolvedSpec, registry: Registry) -> str:
    """Identify scores. Which metrics are measured counts, the order in which they are written does not."""
    metrics = spec.evaluate.metrics or registry.plugin("objective", spec.train.objective.name).metrics
    return key_of({"train": train, "evaluate": {**identity(spec.evaluate), "metrics": sorted(metrics)}})


SITE_KINDS: Final = ("mixer", "attention_score", "mask")
"""What each site holds of its own."""


def site_components(spec: ResolvedSpec, registry: Registry) -> dict[str, dict[str, Component]]:
    """What stands at each site: its mixer, and the score and mask if that mixer takes them."""
    found: dict[str, dict[str, Component]] = {}
    for place in SITES[spec.model.architecture]:
        site = spec.model.site(*ADDRESSES[place])
        assert site.mixer is not None, "a site's choices are filled in"
        takes = registry.plugin("mixer", site.mixer.name).takes
        found[place.value] = {kind: getattr(site, kind) for kind in SITE_KINDS if kind in ("mixer", *takes)}
    return found


def components_used(spec: ResolvedSpec, registry: Registry) -> list[tuple[str, str]]:
    """Kind and name of every plugin whose code determines a trial's weights, sorted, each once."""
    named = {("objective", spec.train.objective.name)}
    for kind in ("positional_scheme", "feed_forward"):
        named.add((kind, getattr(spec.model, kind).name))
    for kinds in site_components(spec, registry).values():
        named |= {(kind, component.name) for kind, component in kinds.items()}
    return sorted(named)


def digest(entry: Entry) -> str:
    """A hash of a plugin's code: of its file, or of all files of the outside package that it belongs to.

    Comments, docstrings, formatting, file times and `samples` do not count.
    """
    path = Path(str(entry.module.__file__))
    package = entry.module.__name__.partition(".")[0]
    alone = package == "plugins" or "." not in entry.module.__name__
    files = [path] if alone and path.name != "__init__.py" else sorted(_package_root(path).rglob("*.py"))
    return key_of([_code_of(file.read_text(encoding="utf-8")) for file in files])


def _package_root(path: Path) -> Path:
    root = path.parent
    while (root.parent / "__init__.py").exists():
        root = root.parent
    return root


@cache
def _code_of(source: str) -> str:
    return key_of(list(_nodes(ast.parse(source))))


def _nodes(node: ast.AST) -> Iterator[Any]:
    """A syntax tree as nested lists, without text that stands alone, as docstrings do, and without empty fields.

    Python versions add empty fields to a node; leaving them out keeps a digest the same across versions.
    """
    yield type(node).__name__
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            code = [item for item in value if not (_is_text(item) or _is_samples(item))]
            value = [list(_nodes(item)) if isinstance(item, ast.AST) else repr(item) for item in code]
        elif isinstance(value, ast.AST):
            value = list(_nodes(value))
        elif value is not None:
            value = repr(value)
        if value:
            yield [name, value]


def _is_text(node: Any) -> bool:
    """Whether a statement is a string and nothing else: documentation of what stands above or below it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_samples(node: Any) -> bool:
    """Whether a function gives what the test kit tries a plugin with, which no trial runs."""
    return isinstance(node, ast.FunctionDef) and node.name == "samples"


def provenance(spec: ResolvedSpec, registry: Registry) -> list[dict[str, str]]:
    """Where each plugin of a trial came from, for the record."""
    used = [*components_used(spec, registry), ("corpus", spec.data.corpus.name)]
    return [
        {
            "kind": kind,
            "name": name,
            "module": entry.module.__name__,
            "origin": entry.origin,
            "digest": digest(entry),
        }
        for kind, name in used
        for entry in (registry.entry(kind, name),)
    ]
