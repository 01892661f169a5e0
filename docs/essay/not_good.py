"""Page 2: "not good", where one word changes another under the causal mask."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor

import framework as fw
from docs.essay.components import component, sizes
from docs.essay.page import Page, number, vector
from docs.essay.picture import BLUE, GREY, ORANGE, panels, weight_table
from framework.registry import Registry

WORDS = ("not", "good")


@dataclass(frozen=True)
class Numbers:
    """The example, `(2, 2)` each: first row "not", second "good"."""

    value: Tensor
    scores: Tensor
    allowed: Tensor
    weights: Tensor
    context: Tensor
    unmasked: Tensor
    """The outputs if "not" saw "good" as well."""


def numbers(registry: Registry) -> Numbers:
    """Attend in the decoder's self site with dots of 1 between the words and 0 of each with itself."""
    dims = sizes(2, site=fw.Site.DECODER_SELF)
    query = torch.eye(2, dtype=torch.double)[None, None]  # (1, 1, 2, 2)
    key = query.flip(2)  # each word is what the other one asks for
    value = torch.tensor([[-2.0, 0.0], [0.0, 2.0]], dtype=torch.double)[None, None]
    positions = torch.arange(2)[None]  # (1, 2)
    score = component(registry, "attention_score", "dot_product", dims)
    allowed = fw.visible(component(registry, "mask", "full", dims), dims, positions, positions, None)
    assert allowed is not None, "the decoder is causal"
    return Numbers(
        value=value[0, 0],
        scores=score(query, key)[0, 0],
        allowed=allowed[0, 0],
        weights=fw.attention_weights(score, query, key, allowed)[0, 0],
        context=fw.attend(score, query, key, value, allowed)[0, 0],
        unmasked=fw.attend(score, query, key, value)[0, 0],
    )


def draw(example: Numbers) -> Figure:
    """Show the weights, and where "good" goes."""
    figure, (left, right) = panels(7.0, 2.9, 2)
    weight_table(left, example.weights, WORDS)
    before, after = (tuple(vectors[1].tolist()) for vectors in (example.value, example.context))
    right.annotate("", after, before, arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 5, "shrinkB": 5})
    right.scatter(*example.value.T.numpy(), color=BLUE, label="values")
    right.scatter(*after, color=ORANGE, label="output of “good”")
    for word, point in zip(WORDS, example.value.tolist(), strict=True):
        right.annotate(word, point, xytext=(6, 4), textcoords="offset points", color=BLUE)
    right.set(xlim=(-2.4, 1.2), ylim=(-0.3, 2.6), xlabel="channel 1", ylabel="channel 2", title="“good”, after “not”")
    right.legend(loc="lower right")
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    return Page(
        name="not-good",
        values={
            "score": number(example.scores[0, 1]),
            "negation": vector(example.context[0], 0),
            "other": number(example.weights[1, 0]),
            "itself": number(example.weights[1, 1]),
            "good": vector(example.context[1]),
            "unmasked": vector(example.unmasked[0]),
        },
        pictures={"not-good.svg": lambda: draw(example)},
    )
