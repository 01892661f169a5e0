"""What is true of every attention score.

Shapes: B batch, H heads, Q query length, K key length, d_k a head's width, F features; `B|1` is either.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import AttentionScore, DotProductForm
from framework.errors import PluginError
from framework.model.attention import attend, attention_weights
from framework.testing import modules
from framework.testing.modules import LARGE
from framework.testing.property import Property
from framework.testing.subject import FEW, Call, ScoreSubject, Sizes, called
from framework.testing.telling import first, kind, letters, same


def shape(subject: ScoreSubject) -> None:
    """`forward` gives a score for each pair of a query and a key, and `features` a vector for each of them."""
    _require_shapes(subject, FEW)


def length_one(subject: ScoreSubject) -> None:
    """One query and one key are scored as among others."""
    _require_shapes(subject, Sizes(queries=1, keys=1))


def pairwise(subject: ScoreSubject) -> None:
    """Entry (i, j) of a head depends on its query i and key j only, in training too."""
    score: AttentionScore = subject.build()
    query, key = _query_and_key(score, subject)
    for training in (True, False):
        score.train(training)
        before = _scores(score, query, key)
        for event, after in _afterwards(score, query, key, before):
            if not (equal := same(after, before)).all():
                i, j = first(~equal)[2:]
                raise PluginError(
                    f"a score sees one query and one key at a time: entry ({i}, {j}) changed when {event}; "
                    f"compute it from query {i} and key {j} alone"
                )


def fused_equals_plain(subject: ScoreSubject) -> None:
    """A dot-product form's features have the score as their product, up to a number of each query's own.

    So the fused path, and the plain one which runs where weights are asked for, give the same context, with
    masks and biases too.
    """
    score = subject.build()
    if not isinstance(score, DotProductForm):
        return
    query, key = _query_and_key(score, subject)
    with torch.no_grad():
        value = torch.randn(*key.shape[:3], subject.dims.d_v, generator=torch.Generator().manual_seed(3))
        allowed = torch.ones(query.size(2), key.size(2), dtype=torch.bool).tril(1)[None, None]  # (1, 1, Q, K)
        bias = torch.linspace(-1, 1, allowed.numel()).view(allowed.shape)
        for rule, added in product((None, allowed), (None, bias)):
            fused = attend(score, query, key, value, rule, added)  # (B, H, Q, d_v)
            plain = attention_weights(score, query, key, rule, added) @ value
            if not torch.allclose(fused, plain, rtol=1e-4, atol=1e-5, equal_nan=True):
                raise PluginError(
                    f"features and forward give contexts {(fused - plain).abs().max():.2g} apart: the dot product of "
                    "the features must be the score, up to a number of each query's own"
                )


def blind_row(subject: ScoreSubject) -> None:
    """A query that may see no key has a context of exactly zero, and all gradients are finite."""
    score: AttentionScore = subject.build().train()
    query, key = (vectors.requires_grad_() for vectors in _query_and_key(score, subject))
    value = torch.randn(*key.shape[:3], subject.dims.d_v, generator=torch.Generator().manual_seed(3))
    allowed = torch.ones(1, 1, query.size(2), key.size(2), dtype=torch.bool)
    allowed[:, :, 1] = False
    context = attend(score, query, key, value, allowed)  # (B, H, Q, d_v)
    context.sum().backward()
    learned = [parameter.grad for parameter in score.parameters() if parameter.grad is not None]
    gradients = [vectors.grad for vectors in (query, key) if vectors.grad is not None] + learned
    if context[:, :, 1].any() or not all(gradient.isfinite().all() for gradient in gradients):
        raise PluginError(
            "a query that may see nothing has a context or a gradient other than a finite one of zero: scores and "
            "their derivatives must be finite, as the mask comes after them"
        )


def _query_and_key(score: AttentionScore, subject: ScoreSubject, sizes: Sizes = FEW) -> tuple[Tensor, Tensor]:
    arguments = subject.calls(score, sizes)[0].floats
    return arguments["query"], arguments["key"]


def _require_shapes(subject: ScoreSubject, sizes: Sizes) -> None:
    score = subject.build()
    query, key = _query_and_key(score, subject, sizes)
    if isinstance(score, DotProductForm):
        _require_features(score, query, key)
    _scores(score, query, key)


def _require_features(score: DotProductForm, query: Tensor, key: Tensor) -> None:
    pair: Any = called(score, Call("features", {"query": query, "key": key}))
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, Tensor) for part in pair)):
        raise PluginError(f"features gives {kind(pair)}, and must give a pair of tensors")
    left, right = pair  # (B, H, Q, F), (B, H, K, F)
    if left.shape[:-1] != query.shape[:-1] or right.shape[:-1] != key.shape[:-1] or left.size(-1) != right.size(-1):
        shapes = f"{letters(left, query.shape)} and {letters(right, key.shape)}"
        raise PluginError(
            f"features gives shapes {shapes} for {_count(query.size(2), 'query')} and {_count(key.size(2), 'key')}, "
            "and must give (B, H, Q, F) and (B, H, K, F), with one F for both"
        )


def _scores(score: AttentionScore, query: Tensor, key: Tensor) -> Tensor:
    with torch.no_grad():
        scores: Any = called(score, Call("forward", {"query": query, "key": key}))
    whole = (*query.shape[:3], key.size(2))
    if not (isinstance(scores, Tensor) and scores.shape == whole):
        got = f"shape {letters(scores, whole)}" if isinstance(scores, Tensor) else kind(scores)
        raise PluginError(
            f"forward gives {got} for {_count(whole[2], 'query')} and {_count(whole[3], 'key')}, and must give "
            "a score for each pair, of shape (B, H, Q, K)"
        )
    return scores  # (B, H, Q, K)


def _afterwards(score: AttentionScore, query: Tensor, key: Tensor, before: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Change the input in many ways: for each, what changed, and all scores, with those that may change put back."""
    other_query, other_key = LARGE * query.roll(1, dims=0).flip(2), LARGE * key.roll(1, dims=0).flip(2)
    for j in range(key.size(2)):
        at_key = (torch.arange(key.size(2)) == j)[:, None]  # (K, 1)
        scores = _scores(score, query, other_key.where(at_key, key))
        yield f"key {j} did", before.where(at_key[:, 0], scores)
    for i in range(query.size(2)):
        at_query = (torch.arange(query.size(2)) == i)[:, None]  # (Q, 1)
        scores = _scores(score, other_query.where(at_query, query), key)
        yield f"query {i} did", before.where(at_query, scores)
    at_first = (torch.arange(query.size(1)) == 0)[:, None, None]  # (H, 1, 1)
    for kept in (at_first, ~at_first):
        scores = _scores(score, query.where(kept, other_query), key.where(kept, other_key))
        yield "other heads did", scores.where(kept, before)
    if not score.training:  # other shapes draw other numbers, of which there are none now
        first_column, earlier = before[..., :1], before[:, :, :-1]
        without_last = _scores(score, query, key[:, :, :-1])
        yield f"key {key.size(2) - 1} was left out", torch.cat((without_last, before[..., -1:]), dim=-1)
        without_first = _scores(score, query, key[:, :, 1:])
        yield "key 0 was left out", torch.cat((first_column, without_first), dim=-1)
        last = _scores(score, query[:, :, -1:], key)
        yield "other queries were left out", torch.cat((earlier, last), dim=2)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else {'query': 'queries', 'key': 'keys'}[noun]}"


PROPERTIES: Final = (
    Property(modules.reset_parameters, founding=True),
    Property(shape, quick=True, founding=True),
    Property(modules.finite, quick=True),
    Property(modules.deterministic, quick=True, founding=True),
    Property(modules.input_unchanged, quick=True, founding=True),
    Property(modules.dtype, quick=True),
    Property(pairwise, quick=True),
    Property(modules.batch_rows, quick=True),
    Property(fused_equals_plain, quick=True),
    Property(modules.gradients, quick=True),
    Property(modules.zero_vectors, quick=True),
    Property(modules.one_row),
    Property(length_one),
    Property(blind_row),
    Property(modules.after_training),
    Property(modules.save_and_load),
    Property(modules.device),
)
