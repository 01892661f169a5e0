"""The Laplace score keeps the contract of an attention score, and is the number that its formula says."""

from __future__ import annotations

import pytest
import torch
from ablations_laplace.laplace import Laplace

import framework as fw
from framework import testing


@pytest.mark.parametrize("case", testing.cases("attention_score", "laplace"), ids=str)
def test_it_keeps_its_contract(case: testing.Case) -> None:
    case.run()


DIMS = fw.Dims(
    d_model=4,
    d_ff=4,
    d_k=4,
    d_v=4,
    num_heads=1,
    num_layers=1,
    dropout=0.0,
    attention_dropout=0.0,
    feed_forward_dropout=0.0,
    projection_bias=False,
    site=fw.Site.DECODER_CROSS,
)


@pytest.mark.parametrize(("bandwidth", "expected"), [(2.0, -3.0), (None, -3.0), (0.5, -12.0)])
def test_a_score_is_the_distance_along_the_axes_over_the_bandwidth(bandwidth: float | None, expected: float) -> None:
    score = Laplace(Laplace.Options(bandwidth=bandwidth), DIMS)
    query, key = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, 0.0, 4.0, 1.0])  # 0 + 2 + 1 + 3 = 6
    assert score(query.view(1, 1, 1, 4), key.view(1, 1, 1, 4)).item() == expected


@pytest.mark.parametrize(("dtype", "expected"), [(torch.float64, -1 - 2.0**-40), (torch.bfloat16, -1.0)])
def test_a_score_has_the_digits_of_its_input(dtype: torch.dtype, expected: float) -> None:
    query = torch.tensor([1 + 2.0**-40, 0.0, 0.0, 0.0], dtype=dtype).view(1, 1, 1, 4)
    found = Laplace(Laplace.Options(bandwidth=1.0), DIMS)(query, torch.zeros_like(query))
    assert (found.dtype, found.item()) == (dtype, expected)
