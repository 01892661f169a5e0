"""The essay's pages, computed once."""

from __future__ import annotations

import pytest

from docs.essay import essay
from docs.essay.page import Page
from framework.registry import Registry


@pytest.fixture(scope="session")
def pages(registry: Registry) -> tuple[Page, ...]:
    return essay.pages(registry)
