"""How far scores scatter, of the trials that are done."""

from __future__ import annotations

import math

import pytest

from framework.budget import scatter_so_far


def test_scatter_is_the_residual_of_rows_and_seeds(plan, finish, tmp_path):
    """Two rows whose logarithms differ by 0.1 on average, and by ±0.02 about that: residuals of ±0.01, one freedom."""
    for trial in plan:
        if trial.row != "N8" and trial.seed < 3:
            odd = 0.01 if (trial.row == "h1") == (trial.seed == 1) else -0.01
            finish(trial, math.exp(1.0 + 0.1 * (trial.row == "h1") + 0.3 * trial.seed + odd))
    found = scatter_so_far(plan, tmp_path)
    assert found is not None
    assert found.deviation == pytest.approx(0.02)
    assert (found.freedom, found.trials) == (1, 4)


def test_too_few_trials_tell_nothing(plan, finish, diverge, tmp_path):
    assert scatter_so_far(plan, tmp_path) is None
    finish(plan[0], 4.9)
    diverge(plan[1])
    assert scatter_so_far(plan, tmp_path) is None
