import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.evaluate.largest import BLOCK, largest


@given(
    rows=st.integers(1, 5),
    size=st.sampled_from([4, BLOCK, 4 * BLOCK, 5 * BLOCK, 5 * BLOCK + 1, 9 * BLOCK - 1, 20 * BLOCK + 30]),
    count=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
@settings(deadline=None, max_examples=80)
def test_it_finds_what_sorting_all_would(rows, size, count, seed):
    scores = torch.randn(rows, size, generator=torch.Generator().manual_seed(seed))
    values, places = largest(scores, count)
    expected, expected_places = scores.topk(count)
    assert torch.equal(values, expected)
    assert torch.equal(places, expected_places)


def test_the_largest_may_all_stand_in_one_block_or_behind_the_last():
    scores = torch.zeros(2, 6 * BLOCK + 3)
    scores[0, 70:74] = torch.tensor([4.0, 3.0, 2.0, 1.0])
    scores[1, -3:] = torch.tensor([3.0, 4.0, 2.0])
    values, places = largest(scores, 3)
    assert values.tolist() == [[4, 3, 2], [4, 3, 2]]
    end = 6 * BLOCK
    assert places.tolist() == [[70, 71, 72], [end + 1, end, end + 2]]


@pytest.mark.parametrize("place", [3, 5 * BLOCK, 6 * BLOCK])
def test_a_number_that_is_none_is_not_overlooked(place):
    scores = torch.zeros(1, 6 * BLOCK + 1)
    scores[0, place] = math.nan
    values, places = largest(scores, 2)
    assert math.isnan(values[0, 0])
    assert places[0, 0] == place
