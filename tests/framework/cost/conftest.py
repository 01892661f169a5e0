"""What the tests of cost share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from framework.cost import RowCost, row_costs
from framework.experiment import Experiment, load
from tests.framework.tiny_experiment import write


@pytest.fixture
def costs():
    """`costs(experiment)`: of its rows, on this machine's processor."""

    def of(experiment: Experiment) -> dict[str, RowCost]:
        return row_costs(experiment.plan(), experiment.registry, experiment.home, torch.device("cpu"))

    return of


@pytest.fixture
def tiny(tmp_path):
    """`tiny(rows, train={"steps": 3})`: the tiny experiment, its data not prepared."""

    def build(rows=None, plugins=(), **sections):
        path = write(tmp_path, rows or {"base": {}}, **sections)
        return load(path, home=Path(tmp_path / "home"), plugins=plugins)

    return build
