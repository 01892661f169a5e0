from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import framework as fw

ROOT = Path(__file__).parents[2]


def imports_for_type_checkers():
    """Name → home, as type checkers see them."""
    tree = ast.parse(Path(str(fw.__file__)).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def test_public_names_are_sorted_and_are_those_that_type_checkers_see():
    assert fw.__all__ == sorted(fw.__all__) == sorted(imports_for_type_checkers())
    assert dir(fw) == fw.__all__


@pytest.mark.parametrize(("name", "home"), imports_for_type_checkers().items())
def test_a_public_name_is_what_its_home_calls_so(name, home):
    assert getattr(fw, name) is getattr(import_module(home), name)


def test_a_name_that_is_not_public_is_no_attribute():
    with pytest.raises(AttributeError, match=r"^module 'framework' has no attribute 'Registri'$"):
        _ = fw.Registri


def loaded(*program):
    """Which of the heavy libraries a fresh process holds at its end."""
    code = f"import sys\n{'; '.join(program)}\nprint(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stderr.splitlines()[-1])


HEAVY = {"torch", "optuna", "mlflow", "polars", "pydantic", "pluggy", "tokenizers", "sacrebleu", "scipy", "numpy"}


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import framework") == []


def test_help_loads_nothing_heavy():
    assert loaded(
        "sys.argv = ['ablate', '--help']", "from contextlib import suppress", "from framework.cli import main",
        "exec('with suppress(SystemExit): main()')",
    ) == []  # fmt: skip


@pytest.mark.parametrize("module", ["framework.spec", "framework.spec.load", "framework.errors", "framework.journal"])
def test_what_is_asked_and_what_was_journalled_need_nothing_but_pydantic(module):
    assert loaded(f"import {module}") in ([], ["pydantic"])
