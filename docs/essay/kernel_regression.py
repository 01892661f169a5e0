"""Page 3: attention is the regression of Nadaraya and Watson."""

from __future__ import annotations

import math
from collections.abc import Sequence
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

BANDWIDTHS: Final = (0.1, 0.5, 2.0)
SHOWN: Final = (1.0, 3.0, 5.0, 7.0, 9.0)
"""Places at which the table compares the two."""
D_K: Final = 64
KEYS: Final = 32


@dataclass(frozen=True)
class Fit:
    """The estimate with one bandwidth."""

    bandwidth: float
    estimate: Tensor
    """(201,), on the grid"""
    error: float
    """Root mean square distance from the true curve."""
    neighbours: float
    """How many points a place averages over, in effect: 1 / Σ weight², mean over the grid."""


@dataclass(frozen=True)
class Numbers:
    """The data, the fits, and how far a dot product is from a kernel."""

    x: Tensor
    y: Tensor
    grid: Tensor
    fits: tuple[Fit, ...]
    equal_norms: float
    """Largest difference between weights of dot product and kernel, where all keys are equally long."""
    any_norms: float
    """The same for keys as they are drawn."""


def curve(x: Tensor) -> Tensor:
    """Give what the data are drawn around."""
    return x.sin()


def direct(place: float, x: Sequence[float], y: Sequence[float], bandwidth: float) -> float:
    """Estimate as Nadaraya 1964 and Watson 1964 write it: Σ K(place - x_i) y_i / Σ K(place - x_i)."""
    kernel = [math.exp(-((place - known) ** 2) / (2 * bandwidth**2)) for known in x]
    return sum(weight * value for weight, value in zip(kernel, y, strict=True)) / sum(kernel)


def numbers(registry: Registry) -> Numbers:
    """Fit 40 noisy points of a sine by attention: queries are places, keys the x, values the y."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(40, generator=generator, dtype=torch.double).mul(10).sort().values
    y = curve(x) + 0.3 * torch.randn(40, generator=generator, dtype=torch.double)
    grid = torch.linspace(0, 10, 201, dtype=torch.double)
    query, key = torch.randn(2, 1, 1, KEYS, D_K, generator=generator, dtype=torch.double)
    return Numbers(
        x=x,
        y=y,
        grid=grid,
        fits=tuple(_fit(registry, x, y, grid, bandwidth) for bandwidth in BANDWIDTHS),
        equal_norms=_difference(registry, query, D_K**0.5 * key / key.norm(dim=-1, keepdim=True)),
        any_norms=_difference(registry, query, key),
    )


def _fit(registry: Registry, x: Tensor, y: Tensor, grid: Tensor, bandwidth: float) -> Fit:
    score = component(registry, "attention_score", "kernel", sizes(1), bandwidth=bandwidth)
    query, key, value = (points[None, None, :, None] for points in (grid, x, y))  # (1, 1, 201 or 40, 1)
    estimate = fw.attend(score, query, key, value).flatten()  # (201,)
    weights = fw.attention_weights(score, query, key)[0, 0]  # (201, 40)
    return Fit(
        bandwidth=bandwidth,
        estimate=estimate,
        error=float((estimate - curve(grid)).square().mean().sqrt()),
        neighbours=float((1 / weights.square().sum(-1)).mean()),
    )


def _difference(registry: Registry, query: Tensor, key: Tensor) -> float:
    dot_product, kernel = (
        fw.attention_weights(component(registry, "attention_score", name, sizes(D_K)), query, key)
        for name in ("dot_product", "kernel")
    )
    return float((dot_product - kernel).abs().max())


def draw(example: Numbers) -> Figure:
    """Show one panel for each bandwidth."""
    figure, axes = panels(8.6, 2.7, len(example.fits), share_y=True)
    for panel, fit in zip(axes, example.fits, strict=True):
        panel.scatter(example.x.numpy(), example.y.numpy(), s=10, color=GREY, label="data: keys x, values y")
        panel.plot(example.grid.numpy(), curve(example.grid).numpy(), "--", color=ORANGE, label="true curve")
        panel.plot(example.grid.numpy(), fit.estimate.numpy(), color=BLUE, label="attention")
        panel.set(xlabel="x", title=f"bandwidth σ = {fit.bandwidth}")
    axes[0].set_ylabel("y")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    x, y = example.x.tolist(), example.y.tolist()
    middle = example.fits[1]
    compared = [
        (
            number(place, 0),
            number(middle.estimate[int(place * 20)], 6),
            number(direct(place, x, y, middle.bandwidth), 6),
        )
        for place in SHOWN
    ]
    fits = [(str(fit.bandwidth), number(fit.error), number(fit.neighbours, 1)) for fit in example.fits]
    return Page(
        name="kernel-regression",
        values={
            "points": str(len(x)),
            "bandwidth": str(middle.bandwidth),
            "compared": table(("x", "attention", "Nadaraya-Watson"), compared),
            "fits": table(("σ", "error (root mean square)", "points averaged over, in effect"), fits),
            "keys": str(KEYS),
            "d_k": str(D_K),
            "any_norms": number(example.any_norms),
        },
        pictures={"kernel-regression.svg": lambda: draw(example)},
    )
