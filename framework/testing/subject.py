"""A plugin with its options, and for a part of the model how it is built, called and fed small random input.

Shapes: B batch, H heads, Q query length, K key length, L length, S source length, D d_model, d_k a head's width.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import torch
from torch import Tensor

from framework.contracts import (
    AttentionScore,
    Dims,
    DotProductForm,
    FeedForward,
    Mask,
    Mixer,
    Parts,
    PositionalScheme,
    Site,
    State,
)
from framework.contracts.plugin import ModulePlugin
from framework.model.assemble import initialize
from framework.spec import Options
from framework.testing.parts import plain_parts

SMALL: Final = Dims(
    d_model=12,
    d_ff=10,
    d_k=8,
    d_v=5,
    num_heads=6,
    num_layers=2,
    dropout=0.1,
    attention_dropout=0.1,
    feed_forward_dropout=0.1,
    projection_bias=True,
    site=Site.DECODER_SELF,
)
"""Sizes that all differ, with every dropout on; `num_heads · d_k` is not d_model."""

SIZES: Final = (
    SMALL,
    replace(SMALL, d_model=48, d_ff=96, d_v=8),
    replace(SMALL, d_model=64, d_ff=256, d_v=8, num_heads=8),
    replace(SMALL, d_model=512, d_ff=2048, d_k=64, d_v=64, num_heads=8),
)
"""Tried one after another until a part's constructor takes them: in all others `num_heads · d_k` is d_model, and the
last are those of the base model of Vaswani et al. 2017 (arXiv:1706.03762, table 3).
"""


class Sizes(NamedTuple):
    """How much input there is."""

    rows: int = 2
    queries: int = 3
    """Also the positions that a mixer, a scheme or a feed-forward is given."""
    keys: int = 4
    """Also the length of a memory."""


FEW: Final = Sizes()


class Call(NamedTuple):
    """A method and what it is given, in order."""

    method: str
    arguments: dict[str, Tensor | None]

    def with_(self, **changed: Tensor | None) -> Call:
        return Call(self.method, {**self.arguments, **changed})

    @property
    def floats(self) -> dict[str, Tensor]:
        """The arguments that are vectors: neither positions nor padding."""
        return {
            name: given for name, given in self.arguments.items() if given is not None and given.is_floating_point()
        }


@dataclass(frozen=True)
class Subject:
    """A plugin class."""

    tried_on: ClassVar[str]
    """What it is tried on, in words."""

    plugin: type[Any]


@dataclass(frozen=True)
class ModuleSubject(Subject):
    """A part of a model with its options, and the sizes and the site that it is built for."""

    tried_on: ClassVar[str] = "a small random input"
    sites: ClassVar[tuple[Site, ...]] = tuple(Site)
    """Where this kind can stand; a mixer has sites of its own."""

    options: Options
    dims: Dims = SMALL

    def new(self) -> Any:
        """Construct it, as its constructor leaves it."""
        return self.plugin(self.options, self.dims)

    def build(self, seed: int = 0) -> Any:
        """Construct it with the weights that a model would start from, ready to evaluate."""
        module: ModulePlugin = self.new()
        initialize(module, seed)
        return module.eval()

    @abstractmethod
    def calls(self, module: Any, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        """Give every method that the framework calls, with random input."""


class ScoreSubject(ModuleSubject):
    """An attention score."""

    def calls(self, module: AttentionScore, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        generator = torch.Generator().manual_seed(seed)
        query, key = self._heads(sizes.rows, sizes.queries, generator), self._heads(sizes.rows, sizes.keys, generator)
        methods = ["features", "forward"] if isinstance(module, DotProductForm) else ["forward"]
        return [Call(method, {"query": query, "key": key}) for method in methods]

    def _heads(self, rows: int, length: int, generator: torch.Generator) -> Tensor:
        """Draw queries or keys, laid out in memory as a mixer splits a projection into heads."""
        flat = torch.randn(rows, length, self.dims.num_heads, self.dims.d_k, generator=generator)
        return flat.transpose(1, 2)  # (B, H, length, d_k)


class SchemeSubject(ModuleSubject):
    """A positional scheme: those of its three methods that it overrides."""

    sites: ClassVar[tuple[Site, ...]] = (Site.ENCODER_SELF, Site.DECODER_SELF)

    def calls(self, module: PositionalScheme, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        generator, dims = torch.Generator().manual_seed(seed), self.dims
        if (limit := module.max_positions) is not None:
            sizes = sizes._replace(queries=min(sizes.queries, limit), keys=min(sizes.keys, limit))
        x = torch.randn(sizes.rows, sizes.queries, dims.d_model, generator=generator)
        heads = torch.randn(sizes.rows, dims.num_heads, sizes.queries, dims.d_k, generator=generator)
        query_positions, key_positions = positions(sizes.queries), positions(sizes.keys)
        every = (
            Call("embed", {"x": x, "positions": query_positions}),
            Call("rotate", {"x": heads, "positions": query_positions}),
            Call("bias", {"query_positions": query_positions, "key_positions": key_positions}),
        )
        return [
            call for call in every if getattr(self.plugin, call.method) is not getattr(PositionalScheme, call.method)
        ]


class MaskSubject(ModuleSubject):
    """A mask."""

    def calls(self, module: Mask, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        query_positions, key_positions = positions(sizes.queries), positions(sizes.keys)
        return [
            Call("allowed", {"query_positions": query_positions, "key_positions": key_positions}),
            Call("scored", {"positions": query_positions}),
        ]


class FeedForwardSubject(ModuleSubject):
    """A feed-forward."""

    sites: ClassVar[tuple[Site, ...]] = (Site.ENCODER_SELF, Site.DECODER_SELF)

    def calls(self, module: FeedForward, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        generator = torch.Generator().manual_seed(seed)
        return [Call("forward", {"x": torch.randn(sizes.rows, sizes.queries, self.dims.d_model, generator=generator)})]


@dataclass(frozen=True)
class MixerSubject(ModuleSubject):
    """A mixer, with the plainest of parts beside it."""

    def new(self) -> Mixer:
        return self.with_parts(plain_parts(self.dims))

    def with_parts(self, parts: Parts) -> Mixer:
        """Construct it with parts of one's own, as its constructor leaves it."""
        mixer: Mixer = self.plugin(self.options, self.dims, parts)
        return mixer

    def calls(self, module: Mixer, sizes: Sizes = FEW, seed: int = 1) -> list[Call]:
        """Give `forward` over whole sequences, the last row one position shorter than the others."""
        generator, width = torch.Generator().manual_seed(seed), self.dims.d_model
        arguments: dict[str, Tensor | None] = {
            "x": torch.randn(sizes.rows, sizes.queries, width, generator=generator),
            "positions": positions(sizes.queries),
            "padding": padding(sizes.rows, sizes.queries),
        }
        if not self.dims.site.attends_itself:
            arguments["memory"] = torch.randn(sizes.rows, sizes.keys, width, generator=generator)
            arguments["memory_padding"] = padding(sizes.rows, sizes.keys)
        return [Call("forward", arguments)]


def positions(length: int, start: int = 0) -> Tensor:
    """Give positions one after another: int64 `(1, length)`."""
    return torch.arange(start, start + length)[None]


def padding(rows: int, length: int) -> Tensor:
    """Fill the last of several rows up by one position: boolean `(rows, length)`, True = real token."""
    real = torch.ones(rows, length, dtype=torch.bool)
    if rows > 1 and length > 1:
        real[-1, -1] = False
    return real


def called(module: Any, call: Call) -> Any:
    """Call a method as the framework does: by place, and with the same numbers drawn inside each time."""
    torch.default_generator.manual_seed(0)
    return getattr(module, call.method)(*call.arguments.values())


def mixed(mixer: Mixer, call: Call) -> Tensor:
    """Give what a mixer makes of its input, `(B, L, D)`, without gradients."""
    with torch.no_grad():
        return called(mixer, call)[0]


def tensors(result: Any) -> list[Tensor]:
    """Give the tensors of a result, without states and None."""
    several = result if isinstance(result, tuple) else (result,)
    return [part for part in several if isinstance(part, Tensor) and not isinstance(part, State)]
