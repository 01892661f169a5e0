from __future__ import annotations

from pathlib import Path

import pytest

import plugins
from framework.registry import Registry

FILES = sorted(file for file in Path(plugins.__path__[0]).glob("*/*.py") if file.stem != "__init__")
ENTRIES = {entry.module.__name__: entry for entry in Registry.load().entries()}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_plugin_is_named_as_its_file_and_its_kind_as_its_folder(file):
    entry = ENTRIES[f"plugins.{file.parent.name}.{file.stem}"]
    assert entry.name == file.stem
    assert file.parent.name == ("corpora" if entry.kind == "corpus" else f"{entry.kind}s")
