from __future__ import annotations

import itertools

import pytest
import torch

from docs.essay.dog_bites_man import CASES, IDS, encoded, numbers


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_without_positions_outputs_change_places_with_the_words(registry, order):
    case = CASES["no positions"]
    torch.testing.assert_close(encoded(registry, case, IDS[:, order]), encoded(registry, case, IDS)[:, order])


def test_without_positions_the_means_are_one(example):
    assert example.means["no positions"] < 1e-12
    assert max(example.words["no positions"]) < 1e-12


@pytest.mark.parametrize("case", ["sinusoids", "no positions, causal mask"])
def test_sinusoids_and_a_causal_mask_tell_the_sentences_apart(example, case):
    assert min(example.words[case]) > 0.5
    assert example.means[case] > 0.5


def test_distances_are_as_the_page_has_them(example):
    assert example.words["sinusoids"] == pytest.approx([1.98, 0.88, 1.66], abs=0.005)
    assert example.means["sinusoids"] == pytest.approx(0.70, abs=0.005)
