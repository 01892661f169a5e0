"""Page 1: attention over two tokens, by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

import framework as fw
from docs.essay.components import component, sizes
from docs.essay.page import Page, number, vector
from docs.essay.picture import BLUE, GREY, ORANGE, panels, weight_table
from framework.registry import Registry


@dataclass(frozen=True)
class Numbers:
    """Every step of the example, `(2, 2)` each."""

    value: Tensor
    scores: Tensor
    weights: Tensor
    context: Tensor
    unscaled: Tensor
    """The weights without the scale."""


def numbers(registry: Registry) -> Numbers:
    """Attend with queries and keys that are the identity, and values diag(10, 20)."""
    identity = torch.eye(2, dtype=torch.double)[None, None]  # (1, 1, 2, 2)
    value = torch.tensor([10.0, 20.0], dtype=torch.double).diag()[None, None]
    scaled = component(registry, "attention_score", "dot_product", sizes(2))
    unscaled = component(registry, "attention_score", "dot_product", sizes(2), scale=False)
    return Numbers(
        value=value[0, 0],
        scores=scaled(identity, identity)[0, 0],
        weights=fw.attention_weights(scaled, identity, identity)[0, 0],
        context=fw.attend(scaled, identity, identity, value)[0, 0],
        unscaled=fw.attention_weights(unscaled, identity, identity)[0, 0],
    )


def draw(example: Numbers) -> Figure:
    """Show the weights, and the outputs on the line between the values."""
    figure, (left, right) = panels(7.0, 2.9, 2)
    weight_table(left, example.weights, ("first", "second"))
    right.plot(*example.value.T.numpy(), color=GREY, linewidth=1, zorder=1)
    for points, colour, label in ((example.value, BLUE, "values"), (example.context, ORANGE, "outputs")):
        right.scatter(*points.T.numpy(), color=colour, label=label, zorder=2)
        for name, point in zip(("first", "second"), points.tolist(), strict=True):
            right.annotate(name, point, xytext=(6, 3), textcoords="offset points", color=colour)
    right.set(xlim=(-1, 13), ylim=(-1.5, 23), xlabel="channel 1", ylabel="channel 2", title="an output is an average")
    right.legend(loc="upper right")
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    score = float(example.scores[0, 0])
    power = math.exp(score)
    return Page(
        name="two-tokens",
        values={
            "score": number(score),
            "power": number(power),
            "sum": number(power + 1),
            "near": number(example.weights[0, 0]),
            "far": number(example.weights[0, 1]),
            "first": vector(example.context[0], 1),
            "second": vector(example.context[1], 1),
            "unscaled_near": number(example.unscaled[0, 0]),
            "unscaled_far": number(example.unscaled[0, 1]),
        },
        pictures={"two-tokens.svg": lambda: draw(example)},
    )
