import pytest

from tests.framework.study.in_process import Bench


@pytest.fixture
def bench(tmp_path, registry):
    return Bench(tmp_path, registry)
