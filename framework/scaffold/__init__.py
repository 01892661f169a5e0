"""A working plugin of one's own to start from, and its test.

`templates/` holds one plugin of each kind, named my_plugin, as a file that the gate checks like any other; what is
written is a copy under another name.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from framework.errors import SpecError
from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.spec.plugin_paths import is_no_plugin
from framework.spec.suggest import choices

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_TEST: Final = "test_my_plugin"
_KIND_OF_TEST: Final = "attention_score"

_CHANGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attention_score": "model.attention_score: {}",
        "positional_scheme": "model.positional_scheme: {}",
        "mask": "model.mask: {}",
        "mixer": "model.sites.encoder.self.mixer: {}",
        "feed_forward": "model.feed_forward: {}",
        "objective": "model.architecture: decoder_only, train.objective: {}",
        "corpus": "data.corpus: {}",
    }
)
"""Kind → what a row of an experiment changes to use the plugin that was written."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The files that were written, and how to go on."""

    kind: str
    name: str
    plugin: Path
    test: Path

    @property
    def experiment(self) -> str:
        """What an experiment beside the plugin adds to use it, as YAML."""
        change = _CHANGES[self.kind].format(self.name)
        return f"plugins: [{self.plugin.name}]\nrows:\n  {self.name}: {{change: {{{change}}}}}\n"

    def __str__(self) -> str:
        added = "".join(f"  {line}\n" for line in self.experiment.splitlines())
        return (
            f"Wrote {self.plugin} and {self.test}. To try it, now and after each change:\n\n"
            f"  ablate plugins check {self.plugin}\n"
            f"  pytest {self.test}\n\n"
            f"To use it in an experiment beside it, which may have rows already:\n\n{added}"
        )


def scaffold(kind: str, name: str, folder: Path, registry: Registry) -> Scaffold:
    """Write `NAME.py`, a small plugin that works, and `test_NAME.py` into a folder, which is made if need be.

    Raises `SpecError` for a kind that there is not, for a name that cannot be one or is taken, for a folder that
    cannot be one, and where one of the files is there already: nothing is ever overwritten.
    """
    if kind not in CONTRACTS:
        raise SpecError(f"no kind of plugin is called {kind!r}{choices(kind, CONTRACTS)}")
    written = Scaffold(kind, name, folder / f"{name}.py", folder / f"test_{name}.py")
    _require_name(written, registry)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):  # it, or one above it
        raise SpecError(f"{folder} cannot be made: a file is in its place: choose another --folder") from None
    for path, text in ((written.plugin, _template(kind)), (written.test, _template(_TEST))):
        text = text.replace(_KIND_OF_TEST, kind) if path == written.test else text
        path.write_text(_renamed(text, kind, name), encoding="utf-8")
    return written


def _require_name(written: Scaffold, registry: Registry) -> None:
    kind, name = written.kind, written.name
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise SpecError(
            f"{name!r} cannot be the name of a plugin and its file: write a word of small letters, digits and _ that "
            f"begins with a letter and means nothing in Python, such as my_{kind}"
        )
    if is_no_plugin(written.plugin.name):
        raise SpecError(
            f"{written.plugin.name} would be passed over in a folder of plugins, as tests are: choose a name that is "
            "not conftest and does not begin with test_"
        )
    if name in registry.names(kind):
        origins = " and ".join(entry.origin for entry in registry.entries() if (entry.kind, entry.name) == (kind, name))
        raise SpecError(f"the {kind.replace('_', ' ')} {name!r} is there already, from {origins}: choose another name")
    for path in (written.plugin, written.test):
        if path.exists():
            raise SpecError(f"{path} is there already, and stays as it is: choose another name or --folder")
    if not (written.plugin.parent / "__init__.py").exists() and find_spec(name) is not None:
        raise SpecError(f"{written.plugin} would hide the module {name!r} from Python: choose another name")


def _template(name: str) -> str:
    return files("framework.scaffold").joinpath("templates", f"{name}.py").read_text(encoding="utf-8")


def _renamed(text: str, kind: str, name: str) -> str:
    class_name = "".join(word.capitalize() for word in name.split("_"))
    if re.search(rf"\b{class_name}\b", text):  # Tensor, Path, Options, …
        class_name += CONTRACTS[kind].__name__
    return text.replace("MyPlugin", class_name).replace("my_plugin", name)
