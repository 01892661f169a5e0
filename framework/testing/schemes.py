"""What is true of every positional scheme.

Shapes: B batch, H heads, Q query length, K key length, L length, D d_model, d_k a head's width; `B|1` is either.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import PositionalScheme
from framework.errors import FrameworkError, PluginError
from framework.testing import modules
from framework.testing.property import Property
from framework.testing.subject import FEW, Call, SchemeSubject, Sizes, called, positions
from framework.testing.telling import first, fits, kind, letters, require_finite, same

_FAR: Final = 5000
"""A position that a scheme without a limit must know."""


def shape(subject: SchemeSubject) -> None:
    """`embed` and `rotate` keep the shape of their vectors; `bias` gives `(B|1, H|1, Q, K)`."""
    _require_shapes(subject, FEW)


def length_one(subject: SchemeSubject) -> None:
    """One position is like others."""
    _require_shapes(subject, Sizes(queries=1, keys=1))


def by_position(subject: SchemeSubject) -> None:
    """What is given for a position depends on that position alone: behind a cache, in any order, in any row."""
    scheme = subject.build()
    limit = scheme.max_positions
    length = 8 if limit is None else min(8, limit)
    everywhere = positions(length)  # (1, L)
    for call in subject.calls(scheme, Sizes(queries=length, keys=length)):
        whole = _result(scheme, call)
        for what, places in (
            ("positions from 3 on", torch.arange(length)[min(3, length - 1) :]),
            ("positions in another order", torch.arange(length).flip(0)),
        ):
            if call.method == "bias":
                keys = places.flip(0)[:-1] if len(places) > 1 else places
                asked = {"query_positions": places[None], "key_positions": keys[None]}
                after = _result(scheme, call.with_(**asked))
                before = whole.expand(*whole.shape[:-2], length, length)[..., places, :][..., keys]
            else:
                x = call.floats["x"]
                after = _result(scheme, Call(call.method, {"x": x[..., places, :], "positions": places[None]}))
                before = whole[..., places, :]
            _require_same(call.method, after, before, what)
        per_row = torch.cat((everywhere, everywhere.roll(1, dims=1)))  # (2, L)
        of_rows = call.with_(**{name: per_row for name in call.arguments if name.endswith("positions")})
        after = _result(scheme, of_rows)
        for row in range(2):
            one = {name: None if given is None else given[row : row + 1] for name, given in of_rows.arguments.items()}
            _require_same(
                call.method,
                after[row : row + 1] if after.size(0) > 1 else after,  # an answer for all rows must be right for each
                _result(scheme, Call(call.method, one)),
                "other positions in each row",
            )


def max_positions(subject: SchemeSubject) -> None:
    """Positions below `max_positions` are known, later ones refused with a `SpecError`; None is no limit."""
    scheme = subject.build()
    limit = scheme.max_positions
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise PluginError(f"max_positions is {limit!r}, and must be a number of positions, or None for no limit")
    calls = subject.calls(scheme, Sizes(queries=1, keys=1))
    last = _FAR if limit is None else limit - 1
    for call in calls:
        try:
            known = _result(scheme, _at(call, last))
        except Exception as error:
            raise PluginError(
                f"{call.method} does not know position {last} ({type(error).__name__}), and max_positions is {limit}: "
                "let max_positions say how many there are"
            ) from error
        require_finite(call.method, [known], f"position {last}")
    if limit is not None and not any(_refuses(scheme, _at(call, limit)) for call in calls):  # one is enough
        raise PluginError(
            f"position {limit} is taken as if it were another one, and max_positions={limit} says that there is none: "
            "raise fw.SpecError, and say how to get more"
        )


def _at(call: Call, position: int) -> Call:
    names = [name for name in call.arguments if name.endswith("positions")]
    return call.with_(**{name: positions(1, start=position) for name in names})


def _refuses(scheme: PositionalScheme, call: Call) -> bool:
    try:
        _result(scheme, call)
    except FrameworkError:
        return True
    except Exception as error:
        raise PluginError(
            f"{call.method} fails at the first position that there is not with {type(error).__name__}: raise "
            "fw.SpecError, and say how to get more"
        ) from error
    return False


def _require_same(method: str, after: Tensor, before: Tensor, what: str) -> None:
    if not (equal := same(after, before)).all():
        raise PluginError(
            f"{method} gives something else at {first(~equal)} when asked about {what} than about all: go by the "
            "numbers in positions, not by their places"
        )


def _result(scheme: PositionalScheme, call: Call) -> Tensor:
    with torch.no_grad():
        result: Tensor | None = called(scheme, call)
    return torch.zeros(1, 1, 1, 1) if result is None else result  # no bias is a bias of zero


def _require_shapes(subject: SchemeSubject, sizes: Sizes) -> None:
    scheme = subject.build()
    for call in subject.calls(scheme, sizes):
        result: Any = called(scheme, call)
        if call.method == "bias":
            if result is None:
                continue
            queries, keys = (given.size(1) for given in call.arguments.values() if given is not None)
            pairs = (sizes.rows, subject.dims.num_heads, queries, keys)
            whole: tuple[int, ...] = pairs
            fitting = isinstance(result, Tensor) and result.is_floating_point() and fits(tuple(result.shape), pairs)
            must = "(B|1, H|1, Q, K), or None for nothing"
        else:
            whole = tuple(call.floats["x"].shape)
            fitting = isinstance(result, Tensor) and result.shape == whole
            must = f"the shape that it is given, {letters(call.floats['x'], whole)}"
        if not fitting:
            got = f"{kind(result)} of shape {letters(result, whole)}" if isinstance(result, Tensor) else kind(result)
            raise PluginError(f"{call.method} gives {got}, and must give {must}")


PROPERTIES: Final = (
    Property(modules.reset_parameters, founding=True),
    Property(shape, quick=True, founding=True),
    Property(modules.finite, quick=True),
    Property(modules.deterministic, quick=True, founding=True),
    Property(modules.input_unchanged, quick=True, founding=True),
    Property(modules.dtype, quick=True),
    Property(by_position, quick=True),
    Property(modules.batch_rows, quick=True),
    Property(max_positions),
    Property(modules.gradients, quick=True),
    Property(modules.zero_vectors),
    Property(modules.one_row),
    Property(length_one),
    Property(modules.after_training),
    Property(modules.save_and_load),
    Property(modules.device),
)
