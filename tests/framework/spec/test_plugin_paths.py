from __future__ import annotations

from framework.spec.plugin_paths import python_files, why_no_plugins


def test_a_folder_gives_its_files_in_order_at_any_depth(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("b.py", "a.py", "sub/c.py", "sub/__init__.py", "notes.txt"):
        (tmp_path / name).touch()
    assert [file.name for file in python_files(tmp_path)] == ["a.py", "b.py", "c.py"]
    assert python_files(tmp_path / "a.py") == [tmp_path / "a.py"]
    assert why_no_plugins(tmp_path) is why_no_plugins(tmp_path / "a.py") is None


def test_a_path_without_plugins_says_why(tmp_path):
    notes, empty = tmp_path / "notes.txt", tmp_path / "empty"
    notes.touch()
    empty.mkdir()
    assert why_no_plugins(tmp_path / "none.py") == f"the plugin {tmp_path / 'none.py'} does not exist"
    assert why_no_plugins(notes) == f"the plugin {notes} is no Python file or folder"
    assert why_no_plugins(empty) == f"the folder {empty} holds no Python file"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").touch()
    assert why_no_plugins(tmp_path / "tests") == (
        f"the folder {tmp_path / 'tests'} holds no Python file but test_*.py, conftest.py or __init__.py, which are no "
        "plugins there: rename one, or name the file itself"
    )
    assert [python_files(path) for path in (tmp_path / "none.py", notes, empty)] == [[], [], []]


def test_tests_beside_plugins_are_no_plugins(tmp_path):
    for name in ("mine.py", "test_mine.py", "conftest.py", "testing.py"):
        (tmp_path / name).touch()
    assert [path.name for path in python_files(tmp_path)] == ["mine.py", "testing.py"]
    assert python_files(tmp_path / "test_mine.py") == [tmp_path / "test_mine.py"]  # named on purpose
