from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from plugins.attention_scores.additive import LIMIT, Additive
from tests.plugins.sizes import DIMS


def additive(d_k: int = 4) -> Additive:
    torch.manual_seed(0)
    return Additive(Additive.Options(), replace(DIMS, d_k=d_k))


def draw(queries: int = 3, keys: int = 5, *, batch: int = 2, d_k: int = 4, dtype=torch.float32) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(batch, length, 2, d_k, generator=generator, dtype=dtype).transpose(1, 2).requires_grad_()
        for length in (queries, keys)
    ]


def broadcast(score: Additive, query: Tensor, key: Tensor) -> Tensor:
    """The formula as it is written, in double precision."""
    pairs = torch.tanh(query.double()[:, :, :, None] + key.double()[:, :, None])  # (B, H, Q, K, d_k)
    return torch.einsum("bhqkd,hd->bhqk", pairs, score.v.double())


def gradients(scores: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(2)
    upstream = torch.randn(scores.shape, generator=generator, dtype=torch.float64).to(scores.dtype)
    return torch.autograd.grad(scores, inputs, upstream)


def test_every_pair_is_scored_by_bahdanau_s_formula():
    score = additive()
    query, key = draw()
    scores = score(query, key)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        expected = torch.dot(score.v[h], torch.tanh(query[b, h, i] + key[b, h, j]))
        torch.testing.assert_close(scores[b, h, i, j], expected)


@pytest.mark.parametrize(
    ("batch", "queries", "keys", "d_k"),
    [(1, 1, 1, 1), (2, 3, 5, 4), (3, 40, 7, 8), (1, 1, 300, 64), (1, 70, 600, 16), (70, 32, 33, 3), (1, 2, 5000, 3)],
    ids=str,
)
def test_however_the_pairs_are_cut_into_blocks_scores_and_gradients_are_the_formula_s(batch, queries, keys, d_k):
    score = additive(d_k)
    query, key = draw(queries, keys, batch=batch, d_k=d_k)
    scores, expected = score(query, key), broadcast(score, query, key)
    torch.testing.assert_close(scores, expected.float(), atol=2e-6 * d_k, rtol=1e-5)
    inputs = (query, key, score.v)
    for gradient, right in zip(gradients(scores, *inputs), gradients(expected, *inputs), strict=True):
        torch.testing.assert_close(gradient, right, atol=1e-6 * right.abs().max().item() + 1e-5, rtol=1e-4)


FAR = [
    (100.0, -99.0),  # tanh(1): not what clamped values would give
    (-1e4, 1e4 + 0.5),
    (LIMIT, -LIMIT),
    (LIMIT + 0.1, -LIMIT),
    (1e30, 1.0),
    (-50.0, 0.25),
]


@pytest.mark.parametrize(("a", "b"), FAR)
def test_channels_far_from_zero_are_exact(a, b):
    score = additive()
    query, key = draw()
    with torch.no_grad():
        query[:, :, 1, 2], key[:, :, 3, 2] = a, b
    scores, expected = score(query, key), broadcast(score, query, key)
    torch.testing.assert_close(scores, expected.float(), atol=1e-5, rtol=1e-5)
    inputs = (query, key, score.v)
    for gradient, right in zip(gradients(scores, *inputs), gradients(expected, *inputs), strict=True):
        torch.testing.assert_close(gradient, right, atol=1e-5, rtol=1e-4)


def test_a_far_key_changes_not_a_bit_of_what_others_score():
    score = additive()
    query, key = draw()
    before = score(query, key)
    with torch.no_grad():
        query[:, :, 1], key[:, :, 2] = 2 * LIMIT, -3 * LIMIT
    after = score(query, key)
    others = torch.tensor([0, 2])[:, None], torch.tensor([0, 1, 3, 4])
    assert torch.equal(after[:, :, *others], before[:, :, *others])
    assert not torch.equal(after, before)


@pytest.mark.parametrize("far", [False, True])
def test_gradients_are_those_of_the_scores(far):
    score = additive().double()
    query, key = draw(dtype=torch.float64)
    if far:
        with torch.no_grad():
            query[:, :, 1] += 40.0
            key[:, :, 2] -= 40.5
    assert torch.autograd.gradcheck(lambda q, k, _: score(q, k), (query, key, score.v))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_rounded_once_at_the_end(dtype):
    score = additive(d_k=64).to(dtype)
    query, key = (x.detach().to(dtype) for x in draw(d_k=64))
    scores = score(query, key)
    assert scores.dtype == dtype
    torch.testing.assert_close(scores, broadcast(score, query, key).to(dtype), atol=1e-6, rtol=torch.finfo(dtype).eps)


def test_autocast_leaves_the_arithmetic_in_single_precision():
    score = additive()
    query, key = draw()
    with torch.autocast("cpu", torch.bfloat16):
        scores = score(query, key)
        learnt = gradients(scores, query, key, score.v)
    assert torch.equal(scores, score(query, key))
    for gradient, right in zip(learnt, gradients(score(query, key), query, key, score.v), strict=True):
        assert torch.equal(gradient, right)


def test_shapes_are_known_without_numbers():
    score = additive().to("meta")
    query, key = (x.detach().to("meta").requires_grad_() for x in draw())
    scores = score(query, key)
    assert scores.shape == (2, 2, 3, 5)
    assert [x.shape for x in torch.autograd.grad(scores.sum(), (query, key))] == [query.shape, key.shape]


class LargestTensor(TorchDispatchMode):
    """Remembers how many numbers the largest tensor held that any operation gave."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.numbers = max([self.numbers, *(x.numel() for x in tree_leaves(result) if isinstance(x, Tensor))])
        return result


@pytest.mark.parametrize("far", [False, True])
def test_no_tensor_holds_every_channel_of_every_pair(far):
    score = additive(d_k=64)
    query, key = draw(300, 300, d_k=64)
    if far:
        with torch.no_grad():
            query[:, :, 1] += 2 * LIMIT
    with LargestTensor() as largest:
        torch.autograd.backward(score(query, key).square().sum())
    pairs = 2 * 2 * 300 * 300
    assert pairs <= largest.numbers < 2 * pairs


def test_each_head_has_a_vector_that_starts_xavier_uniform():
    assert additive().v.shape == (2, 4)
    v, bound = additive(d_k=20_000).v.detach(), (6 / 20_001) ** 0.5
    assert v.mean().item() == pytest.approx(0.0, abs=0.02 * bound)
    assert v.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)
    assert v.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert v.abs().max() <= bound
