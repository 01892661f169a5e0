from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError

import framework as fw
from plugins.masks.sliding_window import SlidingWindow
from tests.plugins.sizes import DIMS


def sliding_window(window: int) -> SlidingWindow:
    return SlidingWindow(SlidingWindow.Options(window=window), DIMS)


@pytest.mark.parametrize("window", [0, 1, 3, 9])
def test_positions_up_to_the_window_are_seen_on_both_sides(window):
    positions = torch.arange(6)[None]
    allowed = sliding_window(window).allowed(positions, positions)
    assert allowed.shape == (1, 1, 6, 6)
    assert allowed[0, 0].tolist() == [[abs(i - j) <= window for j in range(6)] for i in range(6)]


def test_positions_count_and_not_places():
    allowed = sliding_window(1).allowed(torch.tensor([[3], [0]]), torch.arange(5)[None])
    assert allowed.shape == (2, 1, 1, 5)
    assert allowed.flatten(1).tolist() == [[False, False, True, True, True], [True, True, False, False, False]]


def test_in_a_decoder_the_window_reaches_back_only_with_a_cache_too():
    mask, dims, positions = sliding_window(2), replace(DIMS, site=fw.Site.DECODER_SELF), torch.arange(6)[None]
    whole = fw.visible(mask, dims, positions, positions, None)
    assert whole is not None
    assert whole[0, 0].tolist() == [[i - 2 <= j <= i for j in range(6)] for i in range(6)]
    for p in range(6):
        new = fw.visible(mask, dims, positions[:, p : p + 1], positions[:, : p + 1], None)
        assert new is not None
        assert torch.equal(new, whole[:, :, p : p + 1, : p + 1])


def test_a_position_always_sees_itself_and_all_are_scored():
    mask, positions = sliding_window(0), torch.arange(4)[None]
    assert torch.equal(mask.allowed(positions, positions)[0, 0], torch.eye(4, dtype=torch.bool))
    assert mask.scored(positions).all()


@pytest.mark.parametrize("options", [{}, {"window": -1}, {"window": 1.5}])
def test_a_window_is_asked_for_and_is_a_count(options):
    with pytest.raises(ValidationError, match="window"):
        SlidingWindow.Options(**options)


def test_its_samples_are_options(tmp_path):
    assert [SlidingWindow.Options(**sample).window for sample in SlidingWindow.samples(tmp_path)] == [2, 0]
