import pytest

from tests.framework.train.tiny import Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory, make, registry):
    return Workshop(tmp_path_factory.mktemp("tiny"), make, registry)


@pytest.fixture(scope="session")
def trained(workshop):
    """A model that has learned to copy the lines of the corpus."""
    training = workshop.training(workshop.model(dropout=0.0), steps=500, batch_tokens=256)
    while not training.finished:
        training.update()
    return training.model
