"""The measurement of what scores cost measures, and finds what is promised of the additive score."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.attention_scores.attention_bench import BROADCAST, FUSED, Ratios, compare, own_peak_megabytes, table

ROOT = Path(__file__).parents[3]


def test_every_score_is_compared_with_the_fused_dot_product(registry):
    ratios = compare(8, 0.0)
    for found in ratios:
        assert list(found) == [FUSED, *registry.names("attention_score"), BROADCAST]
        assert all(ratio > 0 for ratio in found.values())


def test_memory_is_that_of_the_pairs_and_not_of_their_channels():
    assert own_peak_megabytes(BROADCAST, 256) > 10 * own_peak_megabytes("additive", 256)


def test_tables_are_markdown():
    assert table(["a", "b"], [["c", "1"]]) == "| a | b |\n| :--- | ---: |\n| c | 1 |"


@pytest.mark.slow
def test_the_additive_score_is_five_times_faster_than_broadcast_tanh():
    for found in compare(256, 0.0):
        assert found[BROADCAST] > 5 * found["additive"]


@pytest.mark.slow
def test_the_page_names_its_command_and_holds_every_table(tmp_path):
    page = tmp_path / "attention-bench.md"
    module = "tests.plugins.attention_scores.attention_bench"
    command = [sys.executable, "-m", module, "--lengths", "8", "16", "--seconds", "0", "--output", str(page)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    text = page.read_text(encoding="utf-8")
    assert "make bench-attention" in text
    assert text.count("| 8 | 16 |\n") == len(Ratios._fields) + 2
