"""How attention's projections start: each by itself, or as parts of one matrix, as in the authors' code."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import framework as fw
from plugins.attention_scores.dot_product import DotProduct
from plugins.masks.full import Full
from plugins.mixers.attention import Attention
from plugins.positional_schemes.none import NoPositions
from tests.plugins.sizes import DIMS

D_MODEL, QUERIES, KEYS, VALUES = 64, 96, 96, 32


def attention(site: fw.Site, **options) -> Attention:
    torch.manual_seed(0)
    dims = replace(DIMS, d_model=D_MODEL, num_heads=4, d_k=24, d_v=8, site=site)
    parts = fw.Parts(
        DotProduct(DotProduct.Options(), dims), Full(Full.Options(), dims), NoPositions(NoPositions.Options(), dims)
    )
    return Attention(Attention.Options(**options), dims, parts)


def widths(site: fw.Site, **options) -> dict[str, float]:
    """Outputs of the matrix that each projection starts as a part of: Xavier's bound is √(6 / (inputs + outputs))."""
    mixer = attention(site, **options)
    projections = {"query": mixer.query, "key": mixer.key, "value": mixer.value, "output": mixer.output}
    assert not any(projection.bias.any() for projection in projections.values())
    largest = {name: projection.weight.abs().max().item() for name, projection in projections.items()}
    return {name: 6 / bound**2 - projections[name].in_features for name, bound in largest.items()}


@pytest.mark.parametrize("site", fw.Site)
def test_each_projection_starts_by_itself(site):
    expected = {"query": QUERIES, "key": KEYS, "value": VALUES, "output": D_MODEL}
    assert widths(site) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("site", [fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF])
def test_in_self_attention_all_three_may_start_as_one_matrix(site):
    whole = QUERIES + KEYS + VALUES
    expected = {"query": whole, "key": whole, "value": whole, "output": D_MODEL}
    assert widths(site, initialization="joint") == pytest.approx(expected, rel=0.03)


def test_in_cross_attention_keys_and_values_may():
    whole = KEYS + VALUES
    expected = {"query": QUERIES, "key": whole, "value": whole, "output": D_MODEL}
    assert widths(fw.Site.DECODER_CROSS, initialization="joint") == pytest.approx(expected, rel=0.03)
