import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.train.schedule import learning_rate

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/training.json").read_text())["learning_rate"]
STEPS = st.integers(1, 10**6)
WARMUPS = st.integers(1, 10**4)


@pytest.mark.parametrize(("step", "rate"), GOLDEN["rates"].items())
def test_rates_of_the_paper(step, rate):
    assert learning_rate(int(step), GOLDEN["d_model"], GOLDEN["warmup_steps"]) == pytest.approx(rate, rel=1e-9)


@given(warmup=WARMUPS)
def test_no_two_updates_of_the_warmup_share_a_rate(warmup):
    rates = [learning_rate(step, 64, warmup) for step in range(1, min(warmup, 50) + 1)]
    assert all(earlier < later for earlier, later in pairwise(rates))
    assert rates[0] > 0


@given(step=STEPS, warmup=WARMUPS)
def test_the_rate_peaks_at_the_end_of_the_warmup(step, warmup):
    assert learning_rate(step, 512, warmup) <= learning_rate(warmup, 512, warmup) * (1 + 1e-12)


def test_a_warmup_of_one_step_is_pure_decay():
    assert learning_rate(1, 16, 1) == 0.25
    assert learning_rate(4, 16, 1) == 0.125


@given(step=STEPS, warmup=WARMUPS, factor=st.floats(0.01, 100))
def test_the_factor_multiplies(step, warmup, factor):
    plain = learning_rate(step, 512, warmup)
    assert learning_rate(step, 512, warmup, factor) == pytest.approx(factor * plain)
