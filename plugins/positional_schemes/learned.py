"""A learned vector for each position: Gehring et al. 2017, arXiv:1705.03122; row (E) of arXiv:1706.03762, table 3."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from pydantic import PositiveInt
from torch import Tensor, nn

import framework as fw


class Learned(fw.PositionalScheme):
    name = "learned"

    class Options(fw.Options):
        max_positions: PositiveInt = 512
        """Rows of the table; longer sequences are refused."""

    options: Options

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.table = nn.Parameter(torch.empty(options.max_positions, dims.d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.table, std=self.table.size(1) ** -0.5)  # as token embeddings start

    @property
    def max_positions(self) -> int:
        return self.options.max_positions

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add row p. Raises `SpecError` for a position that the table does not have."""
        if not positions.is_meta and (last := int(positions.max())) >= self.max_positions:
            raise fw.SpecError(
                f"a sequence reaches {last + 1} positions and the learned table has {self.max_positions}: raise its "
                "option max_positions, or ask for shorter sequences",
                path="model.positional_scheme.options.max_positions",
            )
        return x + F.embedding(positions, self.table)  # (B|1, L, D)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return Learned
