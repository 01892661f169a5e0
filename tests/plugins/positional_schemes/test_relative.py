from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError

import framework as fw
from plugins.positional_schemes.relative import Relative
from tests.plugins.sizes import DIMS


def relative(site: fw.Site = fw.Site.ENCODER_SELF, num_heads: int = 2, **options: int) -> Relative:
    torch.manual_seed(0)
    return Relative(Relative.Options(**options), replace(DIMS, site=site, num_heads=num_heads))


def bucket_of(distance: int, buckets: int, max_distance: int) -> int:
    """Count up from the first bucket that is wider than one distance, in whole numbers: d^n ≥ e^(n-t)·m^t."""
    exact = buckets // 2
    if distance < exact:
        return distance
    n, t = buckets - exact, 0
    while t + 1 < n and distance**n >= exact ** (n - t - 1) * max_distance ** (t + 1):
        t += 1
    return exact + t


SIZES = [(32, 128), (16, 20), (8, 1000), (4, 3), (64, 33)]


@pytest.mark.parametrize(("num_buckets", "max_distance"), SIZES)
def test_an_encoder_gives_half_the_buckets_to_each_side(num_buckets, max_distance):
    scheme = relative(num_buckets=num_buckets, max_distance=max_distance)
    keys = range(2 * max_distance + 20)
    query = max_distance + 10
    found = scheme.buckets(torch.tensor([[query]]), torch.tensor([keys]))[0, 0].tolist()
    half = num_buckets // 2
    assert found == [bucket_of(abs(key - query), half, max_distance) + half * (key > query) for key in keys]


@pytest.mark.parametrize(("num_buckets", "max_distance"), SIZES)
def test_a_decoder_gives_all_buckets_to_the_past(num_buckets, max_distance):
    scheme = relative(fw.Site.DECODER_SELF, num_buckets=num_buckets, max_distance=max_distance)
    keys = range(2 * max_distance + 20)
    query = 2 * max_distance + 10
    found = scheme.buckets(torch.tensor([[query]]), torch.tensor([keys]))[0, 0].tolist()
    assert found == [bucket_of(max(query - key, 0), num_buckets, max_distance) for key in keys]


def test_the_buckets_of_t5_begin_where_its_logarithm_puts_them():
    first = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]  # from 8 on, 8·16^(t/8) rounded up
    assert relative().first_distances.tolist() == first
    decoder = relative(fw.Site.DECODER_SELF).first_distances.tolist()
    assert decoder == [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]  # 16·8^(t/16)


def test_near_positions_by_hand():
    positions = torch.arange(4)[None]
    encoder = [[0, 17, 18, 19], [1, 0, 17, 18], [2, 1, 0, 17], [3, 2, 1, 0]]
    assert relative().buckets(positions, positions)[0].tolist() == encoder
    decoder = [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]
    assert relative(fw.Site.DECODER_SELF).buckets(positions, positions)[0].tolist() == decoder


@pytest.mark.parametrize("site", [fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF])
def test_each_head_and_bucket_has_its_number(site):
    scheme = relative(site, num_heads=3)
    query, key = torch.tensor([[9, 0], [2, 200]]), torch.arange(12)[None]
    bias, buckets = scheme.bias(query, key), scheme.buckets(query, key)
    assert bias.shape == (2, 3, 2, 12)
    for row, head, i, j in [(0, 0, 0, 0), (0, 2, 1, 11), (1, 1, 0, 5), (1, 2, 1, 3)]:
        assert bias[row, head, i, j] == scheme.table[buckets[row, i, j], head]


def test_the_bias_depends_on_the_offset_only():
    scheme, positions = relative(), torch.arange(40)[None]
    bias = scheme.bias(positions, positions)
    assert torch.equal(bias, scheme.bias(positions + 1000, positions + 1000))
    assert torch.equal(bias[:, :, 7:8], scheme.bias(positions[:, 7:8], positions))


def test_numbers_learn_from_the_pairs_in_their_buckets():
    scheme, positions = relative(fw.Site.DECODER_SELF, num_buckets=4, max_distance=3), torch.arange(4)[None]
    scheme.bias(positions, positions).sum().backward()
    assert scheme.table.grad is not None
    assert scheme.table.grad.tolist() == [[10, 10], [3, 3], [2, 2], [1, 1]]


def test_the_start_is_small_and_not_zero():
    assert abs(relative(num_buckets=4000, max_distance=4000).table.std().item() * 8**0.5 - 1) < 0.05


def test_the_numbers_are_stored_and_the_distances_are_not():
    assert list(relative().state_dict()) == ["table"]
    assert relative().table.shape == (32, 2)
    assert relative().max_positions is None


def test_a_start_without_storage_ends_as_any_other():
    with torch.device("meta"):
        scheme = relative()
    scheme = scheme.to_empty(device="cpu")
    torch.manual_seed(0)
    scheme.reset_parameters()
    assert torch.equal(scheme.table, relative().table)
    assert torch.equal(scheme.first_distances, relative().first_distances)


@pytest.mark.parametrize("num_buckets", [2, 5, 0])
def test_buckets_that_two_sides_cannot_share_are_refused_by_name(num_buckets):
    with pytest.raises(ValidationError, match="num_buckets"):
        relative(num_buckets=num_buckets)


# An encoder's buckets are shared by two sides, and so are fewer on each.
@pytest.mark.parametrize(("site", "exact"), [(fw.Site.ENCODER_SELF, 8), (fw.Site.DECODER_SELF, 16)])
def test_a_longest_distance_among_the_exact_ones_is_refused_with_the_way_out(site, exact):
    expected = (
        f"num_buckets=32 tells distances below {exact} apart one by one in {site}, and max_distance={exact} leaves "
        f"none for the other buckets: raise max_distance above {exact}, or lower num_buckets"
    )
    with pytest.raises(fw.SpecError, match=expected) as refused:
        relative(site, max_distance=exact)
    assert refused.value.problems[0].path == "model.positional_scheme.options.max_distance"
    assert relative(site, max_distance=exact + 1).first_distances[exact] == exact
