"""The growth of a cost is the slope of its logarithm, and it is measured at three lengths."""

from __future__ import annotations

import re

import pytest
import torch

from framework.registry import Registry
from framework.testing.cases import costs_of
from framework.testing.cost import growth, passes
from framework.testing.subject import SMALL, ScoreSubject


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0])
def test_growth_is_the_exponent_of_the_length(exponent):
    lengths = [256, 512, 1024]
    assert growth(lengths, [3e-6 * length**exponent for length in lengths]) == pytest.approx(exponent)


def test_growth_is_a_straight_line_of_least_squares():
    assert growth([1, 2, 4], [1.0, 8.0, 16.0]) == pytest.approx(2.0)  # logarithms 0, 3, 4 over 0, 1, 2


def told(registry: Registry, kind: str, name: str) -> list[str | None]:
    return [case.outcome().note for case in costs_of(registry.entry(kind, name), registry)]


def test_a_cost_is_told_at_three_lengths(registry):
    (note,) = told(registry, "feed_forward", "relu_mlp")
    assert re.fullmatch(
        r"[\d.e+-]+ ms at 256, [\d.e+-]+ ms at 512, [\d.e+-]+ ms at 1024: grows as length\^-?\d\.\d", str(note)
    )


def test_a_scheme_that_knows_fewer_positions_is_timed_up_to_its_last(registry):
    (note,) = told(registry, "positional_scheme", "learned")
    assert re.search(r" at 128, .* at 256, .* at 512: ", str(note))


def test_what_does_nothing_costs_nothing(registry):
    assert told(registry, "positional_scheme", "none") == [None]
    assert told(registry, "mask", "full") == []


def test_a_score_is_timed_inside_attention_which_gives_a_context(registry):
    kernel = registry.plugin("attention_score", "kernel")
    subject = ScoreSubject(kernel, kernel.Options())
    module = subject.build()
    module.forward = None  # the scores of a dot-product form are not what runs
    (timed,) = passes(subject, module, 32)
    assert timed().shape == torch.Size((1, SMALL.num_heads, 32, SMALL.d_v))
