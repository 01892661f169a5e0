"""What is true of every mask.

Shapes: B batch, H heads, Q query length, K key length, L length; `B|1` is either.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import Mask, Site
from framework.errors import PluginError
from framework.testing import modules
from framework.testing.property import Property
from framework.testing.subject import FEW, Call, MaskSubject, Sizes, called, positions
from framework.testing.telling import first, fits, kind, letters

_LENGTH: Final = 64
"""Positions of the sequence that rules are looked at on: what begins later is not seen."""


def shape(subject: MaskSubject) -> None:
    """`allowed` gives a boolean `(B|1, H|1, Q, K)` or None, for positions with and without a row for each example."""
    _require_shapes(subject, FEW)


def length_one(subject: MaskSubject) -> None:
    """One query and one key are ruled on like others."""
    _require_shapes(subject, Sizes(queries=1, keys=1))


def by_position(subject: MaskSubject) -> None:
    """The rule goes by the positions that are asked about, whichever others are: one behind a cache, or any."""
    mask = subject.build()
    everywhere = positions(_LENGTH)
    whole = _allowed(mask, everywhere, everywhere)  # (1, H|1, L, L)
    shuffled = torch.tensor([[5, 0, 3, 7, 2]])
    per_row = torch.stack((everywhere[0, 2:6], everywhere[0, 4:8]))  # (2, 4): rows that start at other positions
    for what, queries, keys in (
        ("the last query alone", everywhere[:, -1:], everywhere),
        ("later queries and earlier keys", everywhere[:, 4:], everywhere[:, :6]),
        ("positions in another order", shuffled, shuffled.flip(1)),
        ("other positions in each row", per_row, per_row.flip(0, 1)),
    ):
        if not (equal := _allowed(mask, queries, keys) == _entries(whole, queries, keys)).all():
            row, _, i, j = first(~equal)
            query, key = (asked[min(row, asked.size(0) - 1)] for asked in (queries, keys))
            raise PluginError(
                f"allowed says something else of query position {query[i]} and key position {key[j]} when asked about "
                f"{what} than about all: go by the numbers in query_positions and key_positions, not by their places"
            )


def sees_something(subject: MaskSubject) -> None:
    """In self-attention no position is left without any that it may see, but for the first."""
    if not subject.dims.site.attends_itself:
        return
    mask = subject.build()
    allowed = _in_effect(mask, subject)  # (1, H|1, L, L)
    if not (seeing := allowed[:, :, 1:].any(-1)).all():
        raise PluginError(
            f"position {first(~seeing)[2] + 1} of {_LENGTH} may see nothing, not itself either: True means may attend, "
            "so this looks like the rule inverted"
        )


def no_future(subject: MaskSubject) -> None:
    """In a decoder's self-attention no token that is scored can be seen by a position before it.

    The framework sees to it, unless the mask says that it handles causality itself; what it lets be seen, in one
    layer or by way of others in several, with another head in each, it must leave out of the loss by `scored`.
    """
    if subject.dims.site is not Site.DECODER_SELF:
        return
    mask = subject.build()
    reach = _in_effect(mask, subject)[0].any(0)  # (L, L): heads are joined behind each layer
    for _ in range(_LENGTH.bit_length()):  # whatever can be seen by way of others
        reach = (reach.float() @ reach.float() > 0) | reach
    scored = mask.scored(positions(_LENGTH))  # (1, L)
    leaks = reach & torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).triu(1) & scored  # (L, L)
    if leaks.any():
        i, j = first(leaks)
        raise PluginError(
            f"position {i} sees the token at position {j}, which it has to say or to come before, and scored leaves "
            "that token in the loss: hide it in allowed, or leave it out in scored"
        )


def scored(subject: MaskSubject) -> None:
    """`scored` gives a boolean of the shape of its positions, and goes by them alone."""
    mask = subject.build()
    everywhere = positions(_LENGTH)
    whole: Any = called(mask, Call("scored", {"positions": everywhere}))
    if not (isinstance(whole, Tensor) and whole.dtype == torch.bool and whole.shape == everywhere.shape):
        got = f"{kind(whole)} of shape {tuple(whole.shape)}" if isinstance(whole, Tensor) else kind(whole)
        raise PluginError(
            f"scored gives {got} for positions of shape {tuple(everywhere.shape)}, and must give a boolean of that "
            "shape, True = enters the loss"
        )
    for asked in (everywhere[:, 3:], everywhere.flip(1), everywhere.view(2, -1)):
        if not torch.equal(mask.scored(asked), whole[0][asked]):
            raise PluginError(
                "scored says something else of a position when it is asked about others besides: go by the numbers in "
                "positions, not by their places"
            )


def _in_effect(mask: Mask, subject: MaskSubject) -> Tensor:
    """The rule as the framework uses it, without padding: boolean `(1, H|1, L, L)`."""
    everywhere = positions(_LENGTH)
    allowed = _allowed(mask, everywhere, everywhere)
    if subject.dims.causal and not mask.handles_causality:
        allowed = allowed & torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).tril()
    return allowed


def _allowed(mask: Mask, queries: Tensor, keys: Tensor) -> Tensor:
    rows = max(queries.size(0), keys.size(0))
    allowed = mask.allowed(queries, keys)
    if allowed is None:
        return torch.ones(rows, 1, queries.size(1), keys.size(1), dtype=torch.bool)
    heads = allowed.size(-3) if allowed.dim() > 2 else 1
    return allowed.expand(rows, heads, queries.size(1), keys.size(1))


def _entries(whole: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Pick from a rule over all positions `(1, H|1, L, L)` those that are asked about: `(B|1, H|1, Q, K)`."""
    rows = [whole[0][:, query][:, :, key] for query, key in zip(queries, keys, strict=True)]
    return torch.stack(rows)


def _require_shapes(subject: MaskSubject, sizes: Sizes) -> None:
    mask = subject.build()
    key_positions = positions(sizes.keys)  # (1, K)
    query_positions = key_positions[:, -sizes.queries :]  # (1, Q)
    for rows in (1, sizes.rows):
        asked = {"query_positions": query_positions, "key_positions": key_positions}
        for_each = {name: given.repeat(rows, 1) for name, given in asked.items()}
        allowed: Any = called(mask, Call("allowed", dict(for_each)))
        if allowed is None:
            continue
        if not (isinstance(allowed, Tensor) and allowed.dtype == torch.bool):
            raise PluginError(
                f"allowed gives {kind(allowed)}, and must give a boolean tensor, "
                "True = may attend, or None where all is allowed"
            )
        whole = (rows, subject.dims.num_heads, sizes.queries, sizes.keys)
        if not fits(tuple(allowed.shape), whole):
            raise PluginError(
                f"allowed gives shape {letters(allowed, whole)} for {sizes.queries} queries and {sizes.keys} "
                "keys, and must give (B|1, H|1, Q, K)"
            )


PROPERTIES: Final = (
    Property(modules.reset_parameters, founding=True),
    Property(shape, quick=True, founding=True),
    Property(modules.deterministic, quick=True, founding=True),
    Property(modules.input_unchanged, quick=True, founding=True),
    Property(by_position, quick=True),
    Property(sees_something, quick=True),
    Property(no_future, quick=True),
    Property(scored, quick=True),
    Property(length_one),
    Property(modules.save_and_load),
    Property(modules.device),
)
