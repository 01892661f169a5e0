"""What every test may ask for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: two busy threads on two cores are far slower

import pytest

from framework.registry import Registry
from framework.spec import Spec

S = TypeVar("S", bound=Spec)


def pytest_configure(config: pytest.Config) -> None:
    """Before a test imports the hub's library: no network, and no cache but the tests' own."""
    cache = TemporaryDirectory(prefix="hub-")
    config.add_cleanup(cache.cleanup)
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": cache.name}


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture(scope="session")
def make(registry: Registry) -> Callable[..., Any]:
    """Validate a mapping as a spec, plugins and all: `make(ModelSpec, d_model=64)`."""

    def validate(kind: type[S], **fields: Any) -> S:
        return kind.model_validate_json(json.dumps(fields), context={"catalog": registry})

    return validate
