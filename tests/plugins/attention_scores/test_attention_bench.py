"""The measurement of what scores cost measures, and finds what is promised of the scores."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from tests.plugins.attention_scores import attention_bench
from tests.plugins.attention_scores.attention_bench import BROADCAST, FUSED, Ratios, compare, own_peak_megabytes, table

ROOT = Path(__file__).parents[3]
NOISE = 1.1
"""How far two runs of the same comparison lie apart on a machine with other work."""


def test_every_score_is_compared_with_the_fused_dot_product(registry):
    ratios = compare(8, 0.0)
    for found in ratios:
        assert list(found) == [FUSED, *registry.names("attention_score"), BROADCAST]
        assert all(ratio > 0 for ratio in found.values())


def test_a_ratio_says_how_often_longer_than_the_fused_dot_product_a_score_takes(monkeypatch):
    now = 0.0

    def taking(forward: float, forward_and_backward: float) -> attention_bench.Attend:
        def attend(query, key, value):
            nonlocal now
            now += forward_and_backward if torch.is_grad_enabled() else forward
            return query + key + value

        return attend

    monkeypatch.setattr(time, "process_time", lambda: now)
    monkeypatch.setattr(attention_bench, "ways", lambda: {FUSED: taking(2.0, 4.0), "slow": taking(3.0, 20.0)})
    assert compare(8, 0.0) == Ratios({FUSED: 1.0, "slow": 1.5}, {FUSED: 1.0, "slow": 5.0})


def test_memory_is_that_of_the_pairs_and_not_of_their_channels():
    assert own_peak_megabytes(BROADCAST, 256) > 10 * own_peak_megabytes("additive", 256)


def test_tables_are_markdown():
    assert table(["a", "b"], [["c", "1"]]) == "| a | b |\n| :--- | ---: |\n| c | 1 |"


@pytest.mark.slow
def test_the_additive_score_is_five_times_faster_than_broadcast_tanh():
    for found in compare(256, 0.0):
        assert found[BROADCAST] > 5 * found["additive"]


@pytest.mark.slow
@pytest.mark.parametrize("length", [64, 1024])
def test_where_memory_is_reused_dot_product_and_kernel_cost_little_more_than_the_fused_dot_product(length):
    attention_bench.reuse_memory()
    found = compare(length, 6.0).forward_and_backward
    assert found["dot_product"] <= 1.05 * NOISE
    assert found["kernel"] <= 1.3 * NOISE


@pytest.mark.slow
def test_the_page_names_its_command_and_holds_every_table(tmp_path):
    page = tmp_path / "attention-bench.md"
    module = "tests.plugins.attention_scores.attention_bench"
    command = [sys.executable, "-m", module, "--lengths", "8", "16", "--seconds", "0", "--output", str(page)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    text = page.read_text(encoding="utf-8")
    assert "make bench-attention" in text
    assert text.count("| 8 | 16 |\n") == 2 * len(Ratios._fields) + 2
