"""What the tests of running trials share."""

from __future__ import annotations

import sys

import pytest

from tests.framework.plugin_files import install, score
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


@pytest.fixture
def install_bad_and_good(tmp_path, monkeypatch):
    """Install `bad-dist 1.0`, whose module fails in the way that is asked for, and `good-dist 2.0` with a score."""

    def installed(failure):
        install(tmp_path / "a", "bad-dist", "1.0", "bad = bad_plug", bad_plug=f"{failure}\n")
        install(tmp_path / "b", "good-dist", "2.0", "good = good_plug", good_plug=score("good"))
        for folder in "ab":
            monkeypatch.syspath_prepend(tmp_path / folder)

    yield installed
    for module in ("bad_plug", "good_plug"):
        sys.modules.pop(module, None)
