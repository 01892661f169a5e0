"""What is true of every feed-forward.

Shapes: B batch, L length, D d_model.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import FeedForward
from framework.errors import PluginError
from framework.testing import modules
from framework.testing.modules import LARGE
from framework.testing.property import Property
from framework.testing.subject import FEW, FeedForwardSubject, Sizes, called
from framework.testing.telling import first, kind, same


def shape(subject: FeedForwardSubject) -> None:
    """`forward` keeps the shape `(B, L, D)`."""
    _require_shapes(subject, FEW)


def length_one(subject: FeedForwardSubject) -> None:
    """A single position is like others."""
    _require_shapes(subject, Sizes(queries=1))


def positionwise(subject: FeedForwardSubject) -> None:
    """Each position is transformed by itself, in training too."""
    feed_forward: FeedForward = subject.build()
    (call,) = subject.calls(feed_forward, Sizes(queries=5))
    x = call.floats["x"]  # (B, L, D)
    for training in (True, False):
        before = called(feed_forward.train(training), call)
        for t in range(x.size(1)):
            at_t = (torch.arange(x.size(1)) == t)[:, None]  # (L, 1)
            after = called(feed_forward, call.with_(x=(LARGE * x.flip(1)).where(at_t, x)))
            if not (equal := same(after, before) | at_t).all():
                raise PluginError(
                    f"forward mixes positions: position {first(~equal)[1]} changed when position {t} did; mixing "
                    "across positions is the mixer's part"
                )


def _require_shapes(subject: FeedForwardSubject, sizes: Sizes) -> None:
    feed_forward = subject.build()
    (call,) = subject.calls(feed_forward, sizes)
    x = call.floats["x"]
    result: Any = called(feed_forward, call)
    if not (isinstance(result, Tensor) and result.shape == x.shape):
        got = f"shape {tuple(result.shape)}" if isinstance(result, Tensor) else kind(result)
        raise PluginError(f"forward gives {got} for x of shape {tuple(x.shape)}, and must keep that shape, (B, L, D)")


PROPERTIES: Final = (
    Property(modules.reset_parameters, founding=True),
    Property(shape, quick=True, founding=True),
    Property(modules.finite, quick=True),
    Property(modules.deterministic, quick=True, founding=True),
    Property(modules.input_unchanged, quick=True, founding=True),
    Property(modules.dtype, quick=True),
    Property(positionwise, quick=True),
    Property(modules.batch_rows, quick=True),
    Property(modules.gradients, quick=True),
    Property(modules.zero_vectors, quick=True),
    Property(modules.one_row),
    Property(length_one),
    Property(modules.after_training),
    Property(modules.save_and_load),
    Property(modules.device),
)
