"""The rules of the house that a listing of the files can check."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "framework").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")])
PLUGINS = sorted(file for file in (ROOT / "plugins").glob("*/*.py") if file.stem != "__init__")


def name(file):
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", SOURCES, ids=name)
def test_a_file_is_short_and_says_what_it_holds(file):
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    assert file.stem not in {"utils", "util", "helpers", "common", "misc", "base_utils"}
    if text:
        assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("file", PLUGINS, ids=name)
def test_a_plugin_file_begins_with_what_it_is_and_where_it_comes_from(file):
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert docstring is not None
    first = docstring.partition("\n")[0]
    assert len(first.split()) >= 4
    assert first[0].isupper()


EXTRAS = {"hub": {"datasets"}}
"""What an optional dependency brings, imported where it is used."""


@pytest.mark.parametrize("file", PLUGINS, ids=name)
def test_a_plugin_needs_the_framework_s_public_names_and_no_more_of_it(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in imported if module.partition(".")[0] in {"framework", "plugins", "tests"}}
    assert ours == {"framework"}
    outside = {module.partition(".")[0] for module in imported - ours}
    assert outside - sys.stdlib_module_names <= {"torch", "pydantic"} | EXTRAS.get(file.stem, set())


def test_the_core_never_names_the_plugins_folder():
    for file in (ROOT / "framework").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        imported += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [module for module in imported if module.partition(".")[0] == "plugins"], file
