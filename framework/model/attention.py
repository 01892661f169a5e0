"""From scores to context: masks, softmax and values, once for every attention score.

Shapes: B batch, H heads, Q query length, K key length, d_k and d_v a head's widths; `B|1` is either.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from framework.contracts import AttentionScore, Dims, DotProductForm, Mask
from framework.errors import PluginError
from framework.model.dropout import dropout as drop

MASKED = float("-inf")

FEW_KEYS: Final = 64
"""Below so many keys a CPU builds the scores of a dot-product form and their gradient faster than its fused kernel goes
without them: by 1.1 to 1.5 times from 20 to 40 keys, at widths from 8 to 64 on one thread of an x86 processor. Without
a gradient the fused kernel is the faster at any length."""


def visible(
    mask: Mask, dims: Dims, query_positions: Tensor, key_positions: Tensor, key_padding: Tensor | None
) -> Tensor | None:
    """Say which keys each query may see: a mask's rule, padding and causality, ANDed as booleans.

    From positions `(B|1, Q)` and `(B|1, K)` and `key_padding (B, K)`, True = real token: a boolean
    `(B|1, H|1, Q, K)`, or None where everything may be seen. Causality goes by absolute positions, so that
    one new query behind a cache sees all of it. Raises `PluginError` for a mask that is not boolean.
    """
    rules = []
    if (allowed := mask.allowed(query_positions, key_positions)) is not None:
        _require_boolean(allowed, f"mask {mask.name!r}")
        rules.append(allowed)
    if key_padding is not None:
        rules.append(key_padding[:, None, None, :])  # (B, 1, 1, K): along the keys, never the queries
    if dims.causal and not mask.handles_causality:
        rules.append(key_positions[:, None, None, :] <= query_positions[:, None, :, None])  # (B|1, 1, Q, K)
    return reduce(and_, rules) if rules else None


def attention_weights(
    score: AttentionScore, query: Tensor, key: Tensor, allowed: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """Softmax over the keys that each query may see (Vaswani et al. 2017, arXiv:1706.03762, eq. 1).

    From `query (B, H, Q, d_k)`, `key (B, H, K, d_k)`, `allowed` and `bias` `(B|1, H|1, Q, K)`: weights
    `(B, H, Q, K)`. The row of a query that may see nothing is exactly zero, and its gradients are finite.
    Raises `PluginError` if `allowed` is not boolean.
    """
    return _normalized(score(query, key), allowed, bias)


def attend(
    score: AttentionScore,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None = None,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Average the values by attention weights: the context `(B, H, Q, d_v)`.

    As `attention_weights`, with `value (B, H, K, d_v)` and the probability `dropout` with which a weight is
    dropped now (0 outside training). The context of a query that may see nothing is exactly zero. A dot-product
    form goes through PyTorch's fused attention, which builds no weights; it can neither drop them out on its
    fast path nor give a bias its gradient, so these two cases are computed step by step, and so are up to 2·d_v keys
    with features wider than the values, and where a gradient is wanted of fewer than `FEW_KEYS` keys on a CPU.
    """
    bias_learns = bias is not None and bias.requires_grad
    if not isinstance(score, DotProductForm) or dropout > 0.0 or bias_learns:
        weights = attention_weights(score, query, key, allowed, bias)  # (B, H, Q, K)
        return drop(weights, dropout) @ value  # (B, H, Q, d_v)
    query, key = score.features(query, key)  # (B, H, Q, F), (B, H, K, F)
    d_v = value.size(-1)
    wider = query.size(-1) - d_v
    if query.requires_grad and query.is_cpu and key.size(2) < FEW_KEYS:
        return _normalized(query @ key.mT, allowed, bias) @ value  # (B, H, Q, d_v)
    if wider <= 0:
        return _fused(query, key, value, allowed, bias)
    # The fast kernels want equal widths, and cat and split take one pass over memory where pad and slice take two.
    # Scores no larger than two values cost less than values made wider: measured for d_k = d_v of 32, 64 and 128, one
    # channel more and one thread of an x86 processor, where the two ways meet at 2 to 4·d_v keys. Other devices follow
    # the same rule, so that which way runs hangs on sizes alone.
    if key.size(2) <= 2 * d_v:
        return _normalized(query @ key.mT, allowed, bias) @ value  # (B, H, Q, d_v)
    value = torch.cat((value, value.new_zeros(*value.shape[:3], wider)), dim=-1)  # (B, H, K, F)
    return _fused(query, key, value, allowed, bias).split((d_v, wider), dim=-1)[0]  # (B, H, Q, d_v)


def _normalized(scores: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
    if allowed is None:
        return (scores if bias is None else scores + bias).softmax(-1)
    _require_boolean(allowed, "allowed")
    allowed, blind = _open_blind_rows(allowed)
    # Added rather than filled in: what is masked has one head's size, and the gradient of a sum costs nothing.
    hidden = torch.where(allowed, scores.new_zeros(()) if bias is None else bias, MASKED)  # (B|1, H|1, Q, K)
    weights = (scores + hidden).softmax(-1)  # (B, H, Q, K)
    return weights if blind is None else weights.masked_fill(blind, 0.0)


def _fused(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, bias: Tensor | None) -> Tensor:
    if allowed is None:
        return F.scaled_dot_product_attention(query, key, value, bias, scale=1.0)
    _require_boolean(allowed, "allowed")
    allowed, blind = _open_blind_rows(allowed)
    merged = allowed if bias is None else bias.masked_fill(~allowed, MASKED)
    context = F.scaled_dot_product_attention(query, key, value, merged, scale=1.0)
    return context if blind is None else context.masked_fill(blind, 0.0)


def _open_blind_rows(allowed: Tensor) -> tuple[Tensor, Tensor | None]:
    """Let a query that sees nothing see everything, and say which queries these are: `(B|1, H|1, Q, 1)`, or None.

    Its result is replaced by zero afterwards. So no softmax meets a row of -inf, whose NaN would be hidden
    from the result but not from the gradients, and the rule does not depend on the kernel that runs. None means
    that all see something, asked on a CPU only: elsewhere the answer would have to be waited for.
    """
    sighted = allowed.any(-1, keepdim=True)  # (B|1, H|1, Q, 1)
    if sighted.is_cpu and sighted.all():
        return allowed, None
    return allowed | ~sighted, ~sighted


def _require_boolean(allowed: Tensor, what: str) -> None:
    if allowed.dtype != torch.bool:
        raise PluginError(
            f"{what} has dtype {allowed.dtype}, and must be boolean with True = may attend: "
            "numbers would be added to the scores, where 0 and 1 hide nothing"
        )
