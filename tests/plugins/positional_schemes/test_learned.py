from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

import framework as fw
from plugins.positional_schemes.learned import Learned
from tests.plugins.sizes import DIMS


def learned(rows: int) -> Learned:
    torch.manual_seed(0)
    return Learned(Learned.Options(max_positions=rows), DIMS)


def test_each_position_adds_its_own_row():
    scheme, x = learned(6), torch.randn(2, 3, 8)
    positions = torch.tensor([[0, 1, 2], [3, 5, 3]])
    torch.testing.assert_close(scheme.embed(x, positions), x + scheme.table[positions])
    torch.testing.assert_close(scheme.embed(x, positions[1:]), x + scheme.table[positions[1:]])


@pytest.mark.parametrize("rows", [1, 3])
def test_a_position_beyond_the_table_is_refused_and_never_broadcast(rows):
    scheme = learned(rows)
    scheme.embed(torch.zeros(2, rows, 8), torch.arange(rows)[None])
    expected = (
        r"^model.positional_scheme.options.max_positions: a sequence reaches 4 positions and the learned table has "
        rf"{rows}: raise its option max_positions, or ask for shorter sequences$"
    )
    with pytest.raises(fw.SpecError, match=expected):
        scheme.embed(torch.zeros(2, 4, 8), torch.arange(4)[None])


def test_the_table_is_the_limit():
    assert learned(5).max_positions == 5


def test_rows_start_as_token_embeddings_do():
    assert abs(learned(5000).table.std().item() * 8**0.5 - 1) < 0.02


def test_a_model_without_storage_can_be_walked_through():
    with torch.device("meta"):
        scheme = learned(5)
        assert scheme.embed(torch.zeros(2, 5, 8), torch.arange(5)[None]).shape == (2, 5, 8)


def test_a_table_without_rows_is_refused_by_name():
    with pytest.raises(ValidationError, match="max_positions"):
        Learned.Options(max_positions=0)
