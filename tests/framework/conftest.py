"""What the tests of running trials share."""

from __future__ import annotations

import pytest

from tests.framework.trial_bench import Bench, benches


@pytest.fixture
def bench(tmp_path, registry):
    return benches(tmp_path, registry)


@pytest.fixture(scope="session")
def straight(tmp_path_factory, registry):
    """The base row, run in one go."""
    bench = Bench(tmp_path_factory.mktemp("straight"), registry)
    bench.run()
    return bench
