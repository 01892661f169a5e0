import pytest

from tests.framework.train.tiny import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory, make, registry):
    return Workshop(tmp_path_factory.mktemp("tiny"), make, registry)
