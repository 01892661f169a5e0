from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from plugins.attention_scores.cosine import SHORTEST, Cosine
from tests.plugins.sizes import DIMS


def cosine(**options) -> Cosine:
    return Cosine(Cosine.Options(**options), DIMS)


def draw() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 2, length, 4, generator=generator) for length in (3, 5)]


@pytest.mark.parametrize("temperature", [0.05, 1.0, 7.0])
def test_scores_are_cosines_over_the_temperature(temperature):
    query, key = draw()
    expected = torch.cosine_similarity(query[:, :, :, None], key[:, :, None], dim=-1) / temperature
    torch.testing.assert_close(cosine(temperature=temperature)(query, key), expected)


def test_vectors_that_agree_are_turned_at_right_angles_or_oppose_score_so():
    query = torch.tensor([3.0, 4.0, 0.0, 0.0]).expand(1, 2, 1, 4)
    key = torch.tensor([[6.0, 8.0, 0.0, 0.0], [-4.0, 3.0, 0.0, 0.0], [-3.0, -4.0, 0.0, 0.0]]).expand(1, 2, 3, 4)
    torch.testing.assert_close(cosine()(query, key), torch.tensor([10.0, 0.0, -10.0]).expand(1, 2, 1, 3))


@pytest.mark.parametrize("factor", [1e-2, 1e4, 1e15])
def test_lengths_do_not_matter(factor):
    query, key = draw()
    torch.testing.assert_close(cosine()(factor * query, factor * key), cosine()(query, key))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("learned", ["no", "shared", "per_head"])
def test_a_zero_vector_scores_zero_and_its_gradient_is_bounded(dtype, learned):
    score = cosine(learned=learned).to(dtype)
    query, key = (x.to(dtype) for x in draw())
    query[:, :, 1] = 0.0
    query.requires_grad_()
    scores = score(query, key)
    assert torch.equal(scores[:, :, 1], torch.zeros(2, 2, 5, dtype=dtype))
    scores.sum().backward()
    assert query.grad is not None
    assert 0 < query.grad[:, :, 1].abs().max() <= 5 / (SHORTEST * 0.1) * 1.01  # five keys, none longer than 1, over τ
    for parameter in score.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


def test_gradients_are_those_of_the_cosine():
    score = cosine(temperature=0.5, learned="per_head").double()
    inputs = [x.double().requires_grad_() for x in draw()]
    assert torch.autograd.gradcheck(score, inputs)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), True])
def test_a_temperature_that_is_not_positive_is_refused_by_name(temperature):
    with pytest.raises(ValidationError, match="temperature"):
        Cosine.Options(temperature=temperature)


@pytest.mark.parametrize(("learned", "count"), [("shared", 1), ("per_head", 2)])
def test_a_learned_temperature_starts_where_the_fixed_one_stands_and_moves(learned, count):
    query, key = draw()
    score = cosine(temperature=0.3, learned=learned)
    torch.testing.assert_close(score(query, key), cosine(temperature=0.3)(query, key))
    score(query, key).square().sum().backward()
    assert score.log_temperature.numel() == count
    assert score.log_temperature.grad is not None
    assert (score.log_temperature.grad != 0).all()


def test_a_fixed_temperature_is_no_parameter():
    assert not list(cosine().parameters())
