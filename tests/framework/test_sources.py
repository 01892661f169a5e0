from __future__ import annotations

import sys

import pytest

from framework.errors import SpecError
from framework.sources import installed, named
from tests.framework.plugin_files import install, score


@pytest.fixture
def _imports(monkeypatch):
    """Modules that a test imports are gone after it."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def modules(origin):
    return [source.module for source in installed() if source.origin == origin]


@pytest.mark.usefixtures("_imports")
def test_a_package_s_modules_are_found_at_any_depth_and_nothing_is_run_that_is_a_program(tmp_path, monkeypatch):
    install(
        tmp_path, "deep", "1.0", "x = deep_pkg",
        deep_pkg____init__="", deep_pkg__a="", deep_pkg____main__="raise SystemExit(1)",
    )  # fmt: skip
    (tmp_path / "deep_pkg" / "inner").mkdir()
    (tmp_path / "deep_pkg" / "inner" / "__init__.py").write_text("")
    (tmp_path / "deep_pkg" / "inner" / "b.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert modules("deep 1.0") == ["deep_pkg", "deep_pkg.a", "deep_pkg.inner", "deep_pkg.inner.b"]


@pytest.mark.usefixtures("_imports")
@pytest.mark.parametrize("failure", ["raise SystemExit(1)", "import a_module_that_is_not_there", "1 / 0", "def (:"])
def test_a_package_inside_that_fails_hides_its_own_modules_only(tmp_path, monkeypatch, failure):
    install(tmp_path, "half", "1.0", "x = half_pkg", half_pkg____init__="", half_pkg__z="")
    (tmp_path / "half_pkg" / "bad").mkdir()
    (tmp_path / "half_pkg" / "bad" / "__init__.py").write_text(failure)
    (tmp_path / "half_pkg" / "bad" / "never.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert modules("half 1.0") == ["half_pkg", "half_pkg.bad", "half_pkg.z"]


@pytest.mark.usefixtures("_imports")
def test_a_module_behind_two_entry_points_is_found_once(tmp_path, monkeypatch):
    install(tmp_path, "twice", "1.0", "a = twice_pkg\nb = twice_pkg.x", twice_pkg____init__="", twice_pkg__x="")
    monkeypatch.syspath_prepend(tmp_path)
    assert modules("twice 1.0") == ["twice_pkg", "twice_pkg.x"]


@pytest.mark.usefixtures("_imports")
def test_an_entry_point_may_name_something_inside_a_module(tmp_path, monkeypatch):
    install(tmp_path, "inside", "1.0", "a = inside_mod:thing", inside_mod="thing = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert modules("inside 1.0") == ["inside_mod"]


def test_built_ins_come_first():
    assert next(iter(installed())).module == "plugins"


def test_a_folder_gives_its_files_in_order_at_any_depth(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("b.py", "a.py", "sub/c.py", "sub/__init__.py", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [source.module for source in named([tmp_path])] == ["a", "b", "c"]


def test_a_file_that_is_named_twice_is_loaded_once(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(score("a"))
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / "a.py", tmp_path, tmp_path / "sub" / ".." / "a.py"]
    (tmp_path / "sub").mkdir()
    assert [source.origin for source in named(paths)] == [str(tmp_path / "a.py")]


def test_two_files_of_one_name_are_two_modules(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(f"where = {folder!r}\n")
    loaded = [source.load() for source in named([tmp_path])]
    assert [module.where for module in loaded] == ["x", "y"]
    assert loaded[0].__name__ != loaded[1].__name__


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.py", r"^plugins: the plugin .*none\.py does not exist$"),
        ("notes.txt", r"^plugins: the plugin .*notes\.txt is no Python file or folder$"),
        ("empty", r"^plugins: the folder .*empty holds no Python file$"),
    ],
)
def test_a_path_without_plugins_is_refused(tmp_path, name, words):
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpecError, match=words):
        list(named([tmp_path / name]))
