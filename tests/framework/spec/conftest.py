"""Experiments written by a test, loaded from its own folder so that places read `x.yaml:3:1`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.errors import SpecError
from framework.registry import Registry
from framework.spec.load import Loaded, read, validate


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry) -> Callable[..., Loaded]:
    """Load `x.yaml` with this text, and with these `--set` settings."""
    monkeypatch.chdir(tmp_path)

    def load(text: str, *settings: str) -> Loaded:
        Path("x.yaml").write_text(text, encoding="utf-8")
        return validate(read(Path("x.yaml"), settings), registry)

    return load


@pytest.fixture
def faults(load: Callable[..., Any]) -> Callable[..., list[str]]:
    """Every line of the error that loading this text gives."""

    def faults(text: str, *settings: str) -> list[str]:
        with pytest.raises(SpecError) as caught:
            load(text, *settings)
        return str(caught.value).splitlines()

    return faults
