"""Page 4: why the dot product is divided by √d_k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import torch
from matplotlib.figure import Figure
from torch import Tensor

import framework as fw
from docs.essay.components import component, sizes
from docs.essay.page import Page, number, table
from docs.essay.picture import BLUE, GREY, ORANGE, panels
from framework.registry import Registry

WIDTHS: Final = (4, 16, 64, 256, 1024)
QUERIES: Final = 1024
KEYS: Final = 32


@dataclass(frozen=True)
class AtWidth:
    """What is measured over queries and keys of d_k standard normal channels."""

    d_k: int
    variance: float
    """Of a query times a key."""
    unscaled: Softmax
    scaled: Softmax


@dataclass(frozen=True)
class Softmax:
    """How much of a softmax over 32 keys, and over 2 of them, is left to learn by."""

    largest: float
    """The largest of 32 weights, mean over queries."""
    slope: float
    """The trace of the Jacobian ∂weights/∂scores, Σ w(1 - w), over 32 keys; mean over queries."""
    slope_of_two: float
    """The same over two keys."""


def limit_of_two(d_k: int) -> float:
    """Give what `slope_of_two` tends to for wide keys without the scale: 1/√(πd_k).

    Two unscaled scores differ by about N(0, 2d_k). The trace is twice the logistic function's slope at that
    difference, an area of 2 in a narrow bump around 0, where the density is 1/√(4πd_k).
    """
    return 1 / math.sqrt(math.pi * d_k)


def numbers(registry: Registry) -> tuple[AtWidth, ...]:
    """Measure each width on queries and keys from a fixed seed."""
    return tuple(_measure(registry, d_k) for d_k in WIDTHS)


def _measure(registry: Registry, d_k: int) -> AtWidth:
    generator = torch.Generator().manual_seed(d_k)
    query = torch.randn(QUERIES, 1, 1, d_k, generator=generator, dtype=torch.double)
    key = torch.randn(QUERIES, 1, KEYS, d_k, generator=generator, dtype=torch.double)
    unscaled, scaled = (
        component(registry, "attention_score", "dot_product", sizes(d_k), scale=scale) for scale in (False, True)
    )
    return AtWidth(
        d_k=d_k,
        variance=float(unscaled(query, key).square().mean()),  # the mean is known to be 0
        unscaled=_softmax(unscaled, query, key),
        scaled=_softmax(scaled, query, key),
    )


def _softmax(score: fw.AttentionScore, query: Tensor, key: Tensor) -> Softmax:
    weights = fw.attention_weights(score, query, key)  # (1024, 1, 1, 32)
    pairs = key.view(QUERIES, KEYS // 2, 2, -1)  # (1024, 16, 2, d_k): each pair of keys by itself
    weights_of_two = fw.attention_weights(score, query, pairs)  # (1024, 16, 1, 2)
    return Softmax(largest=float(weights.amax(-1).mean()), slope=slope(weights), slope_of_two=slope(weights_of_two))


def slope(weights: Tensor) -> float:
    """Give the mean trace of the softmax's Jacobian, diag(w) - w wᵀ, at weights `(…, K)`."""
    return float((weights * (1 - weights)).sum(-1).mean())


def draw(example: tuple[AtWidth, ...]) -> Figure:
    """Show the variance, and the slopes with and without the scale."""
    figure, (left, right) = panels(8.2, 3.1, 2)
    left.loglog(WIDTHS, WIDTHS, color=GREY, label="d_k")
    left.loglog(WIDTHS, [width.variance for width in example], "o", color=BLUE, label="measured")
    left.set(xlabel="d_k", ylabel="variance of q·k", title="the dot product grows")
    left.legend()
    for colour, scaled in ((ORANGE, False), (BLUE, True)):
        found = [width.scaled if scaled else width.unscaled for width in example]
        name = "scaled" if scaled else "unscaled"
        right.loglog(WIDTHS, [one.slope for one in found], "o-", color=colour, label=f"{KEYS} keys, {name}")
        right.loglog(WIDTHS, [one.slope_of_two for one in found], "s--", color=colour, label=f"2 keys, {name}")
    right.loglog(WIDTHS, list(map(limit_of_two, WIDTHS)), color=GREY, label="1/√(π·d_k)")
    right.set(xlabel="d_k", ylabel="Σ w(1 - w)", title="and the softmax's slope goes")
    figure.legend(*right.get_legend_handles_labels(), loc="outside right center")
    for panel in (left, right):
        panel.set_xticks(WIDTHS, list(map(str, WIDTHS)))
        panel.minorticks_off()
    levels = (0.02, 0.05, 0.1, 0.2, 0.5, 1)
    right.set_yticks(levels, list(map(str, levels)))
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    narrow, wide = example[0], example[-1]
    rows = [
        (
            str(width.d_k),
            number(width.variance, 1),
            number(width.unscaled.slope, 3),
            number(width.scaled.slope, 3),
            number(width.unscaled.slope_of_two, 3),
            number(limit_of_two(width.d_k), 3),
            number(width.scaled.slope_of_two, 3),
        )
        for width in example
    ]
    head = ("d_k", "variance of q·k", f"{KEYS} keys", "scaled", "2 keys", "1/√(πd_k)", "2 keys, scaled")
    return Page(
        name="scale",
        values={
            "queries": f"{QUERIES:,}",
            "keys": str(KEYS),
            "measured": table(head, rows),
            "narrow": str(narrow.d_k),
            "wide": str(wide.d_k),
            "narrow_unscaled": number(narrow.unscaled.largest),
            "wide_unscaled": number(wide.unscaled.largest),
            "narrow_scaled": number(narrow.scaled.largest),
            "wide_scaled": number(wide.scaled.largest),
        },
        pictures={"scale.svg": lambda: draw(example)},
    )
