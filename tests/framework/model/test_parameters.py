"""Every row of the paper's table 3 has the number of parameters that the paper's equations give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from framework.model import assemble, num_parameters
from framework.spec import DataSpec, ModelSpec

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/table3_parameters.json").read_text())
ROWS = GOLDEN["rows"]
TARGET_SPACE_ROWS = 32  # an embedding that the authors' first code had, and the printed counts include


@pytest.fixture
def count(make, registry):
    data = make(DataSpec, corpus="toy_translation", tokenizer={"vocabulary_size": GOLDEN["vocabulary_size"]})

    def count(**change) -> int:
        with torch.device("meta"):
            return num_parameters(assemble(make(ModelSpec, **change), data, registry))

    return count


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_the_parameters_of_its_equations(count, row):
    assert count(**ROWS[row]["change"]) == ROWS[row]["num_parameters"]


@pytest.mark.parametrize("row", [row for row in ROWS if ROWS[row]["printed_millions"]])
def test_a_row_rounds_to_the_printed_millions(row):
    d_model = ROWS[row]["change"].get("d_model", 512)
    millions = (ROWS[row]["num_parameters"] + TARGET_SPACE_ROWS * d_model) / 1e6
    agrees = round(millions) == ROWS[row]["printed_millions"]
    assert agrees == (row not in GOLDEN["printed_and_unexplained"])


def test_all_twenty_rows_are_there():
    assert len(ROWS) == 20


def test_the_number_of_heads_costs_nothing(count):
    assert len({count(num_heads=heads) for heads in (1, 4, 8, 16, 32)}) == 1


@pytest.mark.parametrize(("d_k", "difference"), [(16, -7_077_888), (32, -4_718_592)])
def test_narrower_keys_cost_what_two_projections_lose(count, d_k, difference):
    assert count(d_k=d_k, projection_bias=False) - count(projection_bias=False) == difference
