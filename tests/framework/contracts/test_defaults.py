"""What a plugin gets without writing it."""

from __future__ import annotations

import pytest
import torch

from framework.contracts import DotProductForm, FeedForward, Mask, Mixer, PositionalScheme, Site
from framework.contracts.dims import Dims
from framework.hookspecs import CONTRACTS
from framework.spec import Options

DIMS = Dims(8, 16, 4, 4, 2, 1, 0.0, 0.0, 0.0, True, Site.DECODER_SELF)
POSITIONS = torch.arange(5)[None]  # (1, L)


class Nowhere(PositionalScheme):
    """Overrides nothing."""


class Open(Mask):
    """Allows all."""

    def allowed(self, query_positions, key_positions):
        return None


class Halves(DotProductForm):
    """Half of the dot product."""

    def features(self, query, key):
        return query / 2, key


def test_a_positional_scheme_acts_only_where_it_says_so():
    scheme = Nowhere(Options(), DIMS)
    x = torch.randn(2, 5, 8)
    assert scheme.embed(x, POSITIONS) is x
    assert scheme.rotate(x, POSITIONS) is x
    assert scheme.bias(POSITIONS, POSITIONS) is None
    assert scheme.max_positions is None


def test_a_mask_scores_every_position_and_leaves_causality_to_the_framework():
    scored = Open(Options(), DIMS).scored(POSITIONS)
    assert scored.dtype == torch.bool
    assert scored.shape == POSITIONS.shape
    assert scored.all()
    assert not Mask.handles_causality


def test_a_dot_product_form_scores_as_its_features_multiply():
    query, key = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6)
    scores = Halves(Options(), DIMS)(query, key)
    torch.testing.assert_close(scores, torch.einsum("bhqd,bhkd->bhqk", query, key) / 2)


def test_nothing_is_removed_or_taken_unless_a_plugin_says_so():
    assert not FeedForward.removes_sublayer
    assert not Mixer.removes_sublayer
    assert Mixer.takes == frozenset()


@pytest.mark.parametrize("contract", CONTRACTS.values())
def test_a_plugin_without_options_of_its_own_has_none(contract):
    assert contract.Options is Options


@pytest.mark.parametrize("contract", [contract for contract in CONTRACTS.values() if contract is not PositionalScheme])
def test_a_contract_alone_cannot_be_built(contract):
    with pytest.raises(TypeError, match="abstract"):
        contract(Options(), DIMS)
