"""Whether a score and a mask keep their contracts, found by running them on small random input.

Shapes: B batch, H heads, Q query length, K key length, d_k a head's width, F features; `B|1` is either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import ADDRESSES, SITES, AttentionScore, Dims, DotProductForm, Mask, Mixer
from framework.errors import PluginError
from framework.frames import innermost_frame
from framework.model.assemble import initialize
from framework.model.slots import Slots
from framework.registry import Registry
from framework.spec import Component, ModelSpec

B, Q, K = 2, 3, 4
LARGE: Final = 100.0
"""Size of a query or key that takes another's place, beside 1: what leaks must not drown in rounding."""


def probed_parts(model: ModelSpec, registry: Registry) -> Iterator[tuple[str, str, Component, Dims]]:
    """Give every score and mask that a site's mixer takes: the key that names it, its kind, itself, its sizes."""
    slots = Slots(model.resolved(), registry)
    for site in SITES[model.architecture]:
        stack, place = ADDRESSES[site]
        chosen, own = slots.site(site), getattr(getattr(model.sites, stack), place)
        assert chosen.mixer is not None, "a site's choices are filled in"
        mixer: type[Mixer] = registry.plugin("mixer", chosen.mixer.name)
        for kind in ("attention_score", "mask"):
            if kind in mixer.takes:
                path = f"model.{kind}" if getattr(own, kind) is None else f"model.sites.{site}.{kind}"
                yield path, kind, getattr(chosen, kind), slots.dims(site)


def probe_score(component: Component, dims: Dims, registry: Registry) -> None:
    """Run a score with the weights that a model would start from, in milliseconds, on the CPU.

    Leaves torch's own generator as it was. Raises `PluginError` if its scores are of the wrong shape or dtype or
    not finite, if it changes its input, if entry (i, j) depends on more than query i and key j, if features do
    not agree with scores, or if it raises anything.
    """
    with _told_of(component.name), torch.random.fork_rng(devices=[]), torch.no_grad():
        score: AttentionScore = registry.plugin("attention_score", component.name)(component.options, dims)
        initialize(score, seed=0)
        query, key = _heads(dims, Q, seed=1), _heads(dims, K, seed=2)
        if isinstance(score, DotProductForm):
            _require_agreement(score, query, key)
        scores = _scores(score, query, key)
        if not scores.isfinite().all():
            i, j = (~scores.isfinite()).nonzero()[0, 2:].tolist()
            raise PluginError(
                f"plugin {score.name!r}: forward gives {scores[~scores.isfinite()][0].item()} at entry ({i}, {j}), and "
                "scores must be finite: bound what is divided by or taken a logarithm of, and leave hiding to the mask"
            )
        for training in (True, False):  # what is normalised over a batch shows in training only
            score.train(training)
            _require_pairwise(score, query, key)


def probe_mask(component: Component, dims: Dims, registry: Registry) -> None:
    """Ask a mask about a few positions. Raises `PluginError` if it answers with neither None nor a fitting boolean."""
    with _told_of(component.name), torch.random.fork_rng(devices=[]), torch.no_grad():
        mask: Mask = registry.plugin("mask", component.name)(component.options, dims)
        initialize(mask, seed=0)
        key_positions = torch.arange(K)[None]  # (1, K)
        query_positions = key_positions[:, -Q:]  # (1, Q)
        for rows in (1, B):
            allowed: Any = mask.allowed(query_positions.expand(rows, -1), key_positions.expand(rows, -1))
            if allowed is None:
                continue
            if not (isinstance(allowed, Tensor) and allowed.dtype == torch.bool):
                raise PluginError(
                    f"plugin {mask.name!r}: allowed gives {_kind(allowed)}, and must give a boolean tensor, "
                    "True = may attend, or None where all is allowed"
                )
            whole = (rows, dims.num_heads, Q, K)
            if allowed.dim() > 4 or any(
                size not in (1, full) for size, full in zip(allowed.shape[::-1], whole[::-1], strict=False)
            ):
                raise PluginError(
                    f"plugin {mask.name!r}: allowed gives shape {_letters(allowed, whole)} for {Q} queries and {K} "
                    "keys, and must give (B|1, H|1, Q, K)"
                )


def _heads(dims: Dims, length: int, seed: int) -> Tensor:
    """Draw queries or keys, laid out in memory as a mixer splits a projection into heads."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, length, dims.num_heads, dims.d_k, generator=generator).transpose(1, 2)  # (B, H, length, d_k)


def _called(score: AttentionScore, method: Callable[..., Any], query: Tensor, key: Tensor) -> Any:
    torch.default_generator.manual_seed(0)  # whatever is drawn inside is drawn alike each time
    given = {"query": query.clone(), "key": key.clone()}
    result = method(*given.values())
    for name, before in (("query", query), ("key", key)):
        if not torch.equal(given[name], before):
            raise PluginError(
                f"plugin {score.name!r}: {method.__name__} changes its {name} in place: "
                "make a new tensor, others read this one"
            )
    return result


def _scores(score: AttentionScore, query: Tensor, key: Tensor) -> Tensor:
    scores = _called(score, score.forward, query, key)
    whole = (*query.shape[:3], key.size(2))
    if not (isinstance(scores, Tensor) and scores.shape == whole):
        got = f"shape {_letters(scores, whole)}" if isinstance(scores, Tensor) else _kind(scores)
        raise PluginError(
            f"plugin {score.name!r}: forward gives {got} for {whole[2]} queries and {whole[3]} keys, and must give "
            "a score for each pair, of shape (B, H, Q, K)"
        )
    _require_dtype(score, "forward", scores, query)
    return scores  # (B, H, Q, K)


def _require_agreement(score: DotProductForm, query: Tensor, key: Tensor) -> None:
    pair = _called(score, score.features, query, key)
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, Tensor) for part in pair)):
        raise PluginError(f"plugin {score.name!r}: features gives {_kind(pair)}, and must give a pair of tensors")
    left, right = pair  # (B, H, Q, F), (B, H, K, F)
    if left.shape[:-1] != query.shape[:-1] or right.shape[:-1] != key.shape[:-1] or left.size(-1) != right.size(-1):
        shapes = f"{_letters(left, query.shape)} and {_letters(right, key.shape)}"
        raise PluginError(
            f"plugin {score.name!r}: features gives shapes {shapes} for {Q} queries and {K} keys, and must give "
            "(B, H, Q, F) and (B, H, K, F), with one F for both"
        )
    for part in pair:
        _require_dtype(score, "features", part, query)
    fused, plain = (left @ right.mT).softmax(-1), _scores(score, query, key).softmax(-1)  # (B, H, Q, K)
    if not torch.allclose(fused, plain, rtol=0.0, atol=1e-5, equal_nan=True):
        raise PluginError(
            f"plugin {score.name!r}: features and forward give weights {(fused - plain).abs().max():.2g} apart: the "
            "dot product of the features must be the score, up to a number of each query's own"
        )


def _require_dtype(score: AttentionScore, method: str, result: Tensor, given: Tensor) -> None:
    if result.dtype != given.dtype:
        raise PluginError(
            f"plugin {score.name!r}: {method} gives {result.dtype} for {given.dtype}, and must keep the dtype "
            "that it is given"
        )


def _require_pairwise(score: AttentionScore, query: Tensor, key: Tensor) -> None:
    before = _scores(score, query, key)
    for event, after in _afterwards(score, query, key, before):
        same = after.isclose(before, rtol=1e-4, atol=1e-5 * before.abs().max().item())
        if not same.all():
            i, j = (~same).nonzero()[0, 2:].tolist()
            raise PluginError(
                f"plugin {score.name!r}: a score sees one query and one key at a time: entry ({i}, {j}) changed when "
                f"{event}; compute it from query {i} and key {j} alone"
            )


def _afterwards(score: AttentionScore, query: Tensor, key: Tensor, before: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Change the input in many ways: for each, what changed, and all scores, with those that may change put back."""
    other_query, other_key = LARGE * query.roll(1, dims=0).flip(2), LARGE * key.roll(1, dims=0).flip(2)
    for j in range(K):
        at_key = (torch.arange(K) == j)[:, None]  # (K, 1)
        scores = _scores(score, query, other_key.where(at_key, key))
        yield f"key {j} did", before.where(at_key[:, 0], scores)
    for i in range(Q):
        at_query = (torch.arange(Q) == i)[:, None]  # (Q, 1)
        scores = _scores(score, other_query.where(at_query, query), key)
        yield f"query {i} did", before.where(at_query, scores)
    for row in range(B):
        at_row = (torch.arange(B) == row)[:, None, None, None]  # (B, 1, 1, 1)
        scores = _scores(score, other_query.where(at_row, query), other_key.where(at_row, key))
        yield f"row {row} of the batch did", before.where(at_row, scores)
    if not score.training:  # other shapes draw other numbers, of which there are none now
        first, later = before[..., :1], before[:, :, :-1]
        yield f"key {K - 1} was left out", torch.cat((_scores(score, query, key[:, :, :-1]), before[..., -1:]), dim=-1)
        yield "key 0 was left out", torch.cat((first, _scores(score, query, key[:, :, 1:])), dim=-1)
        yield "other queries were left out", torch.cat((later, _scores(score, query[:, :, -1:], key)), dim=2)


@contextmanager
def _told_of(name: str) -> Iterator[None]:
    try:
        yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:  # whatever a plugin raises
        where, said = innermost_frame(error), str(error).partition("\n")[0]  # torch goes on with frames of its own
        raise PluginError(
            f"plugin {name!r} fails on a small random input: {type(error).__name__}: {said} "
            f"({where.filename}:{where.lineno})"
        ) from error


def _kind(result: object) -> str:
    return f"a tensor of {result.dtype}" if isinstance(result, Tensor) else f"a {type(result).__name__}"


def _letters(tensor: Tensor, whole: tuple[int, ...]) -> str:
    """Say a shape: B and H where they stand in their places, so that rows with other sizes are told the same."""
    if tensor.dim() != 4:
        return str(tuple(tensor.shape))
    places = zip(tensor.shape, ("B", "H"), whole, strict=False)
    named = [letter if size == full else str(size) for size, letter, full in places]
    return f"({', '.join([*named, *map(str, tensor.shape[2:])])})"
