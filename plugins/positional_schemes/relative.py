"""A learned bias for each head and bucket of distances, as in T5: Raffel et al. 2020, arXiv:1910.10683, section 2.1.

A stack's layers share the biases, and they are added to scores of any kind. Buckets are those of T5's code: an
encoder gives one half of them to each side, a decoder gives all to the past. In a decoder, keys that a mask shows
ahead of a query share bucket 0 with the query's own position.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Annotated

import torch
import torch.nn.functional as F
from pydantic import Field, PositiveInt
from torch import Tensor, nn

import framework as fw


def bucket_starts(buckets: int, max_distance: int) -> list[int]:
    """Give the shortest distance of each bucket.

    The first half of the buckets, e = buckets // 2, holds one distance each. The others divide what lies between e
    and `max_distance` in equal ratios: bucket e + t of the n others begins at e·(max_distance/e)^(t/n). The last also
    holds everything beyond. Compared as n-th powers of whole numbers, so that no rounding moves a boundary.
    """
    exact = buckets // 2
    n = buckets - exact
    distances = range(max_distance)
    return [
        *range(exact),
        *(
            bisect_left(distances, exact ** (n - t) * max_distance**t, key=lambda distance: distance**n)
            for t in range(n)
        ),
    ]


class Relative(fw.PositionalScheme):
    name = "relative"

    class Options(fw.Options):
        num_buckets: Annotated[int, Field(ge=4, multiple_of=2)] = 32
        max_distance: PositiveInt = 128
        """Where the buckets that widen with distance end. The last of them begins below it, at 113 in a decoder and
        at 91 in an encoder by default, and also holds everything beyond."""

    options: Options
    first_distances: Tensor

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        """Raises `SpecError` for a `max_distance` among the distances that have a bucket each."""
        super().__init__(options, dims)
        self.two_sided = not dims.causal
        self.buckets_per_side = options.num_buckets // 2 if self.two_sided else options.num_buckets
        exact = self.buckets_per_side // 2
        if options.max_distance <= exact:
            raise fw.SpecError(
                f"num_buckets={options.num_buckets} tells distances below {exact} apart one by one in {dims.site}, and "
                f"max_distance={options.max_distance} leaves none for the other buckets: raise max_distance above "
                f"{exact}, or lower num_buckets",
                path="model.positional_scheme.options.max_distance",
            )
        self.d_model = dims.d_model
        self.table = nn.Parameter(torch.empty(options.num_buckets, dims.num_heads))
        shape = (self.buckets_per_side,)
        self.register_buffer("first_distances", torch.empty(shape, dtype=torch.long), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        # Small beside scores, which start with unit variance; not zero, so that order is seen from the first step.
        nn.init.normal_(self.table, std=self.d_model**-0.5)
        self.first_distances.copy_(torch.tensor(bucket_starts(self.buckets_per_side, self.options.max_distance)))

    def buckets(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Give the bucket of each pair, from positions `(B|1, Q)` and `(B|1, K)`: integers `(B|1, Q, K)`."""
        ahead = key_positions[:, None, :] - query_positions[:, :, None]  # (B|1, Q, K)
        distance = ahead.abs() if self.two_sided else (-ahead).clamp(min=0)
        bucket = torch.bucketize(distance, self.first_distances, right=True) - 1
        return torch.where(ahead > 0, bucket + self.buckets_per_side, bucket) if self.two_sided else bucket

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Give the learned number of each head and pair."""
        return F.embedding(self.buckets(query_positions, key_positions), self.table).permute(
            0, 3, 1, 2
        )  # (B|1, H, Q, K)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Relative
