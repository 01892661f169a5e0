"""What a path must be for plugins to be loaded from it: a Python file, or a folder of them."""

from __future__ import annotations

from pathlib import Path


def python_files(path: Path) -> list[Path]:
    """The plugin files at a path, in order; a folder's at any depth, without its tests."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*.py") if not is_no_plugin(file.name))
    return [path] if path.suffix == ".py" and path.is_file() else []


def is_no_plugin(name: str) -> bool:
    """Whether a file in a folder is passed over for its name: a package's own, and what pytest takes for tests."""
    return name in ("__init__.py", "conftest.py") or name.startswith("test_")


def why_no_plugins(path: Path) -> str | None:
    """A sentence about a path that no plugin can be loaded from, or None."""
    if path.is_dir():
        if python_files(path):
            return None
        if any(path.rglob("*.py")):
            return (
                f"the folder {path} holds no Python file but test_*.py, conftest.py or __init__.py, which are no "
                "plugins there: rename one, or name the file itself"
            )
        return f"the folder {path} holds no Python file"
    if not path.exists():
        return f"the plugin {path} does not exist"
    return None if python_files(path) else f"the plugin {path} is no Python file or folder"
