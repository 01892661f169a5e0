"""Page 6: without positions, an encoder does not know who bites whom."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import torch
from matplotlib.figure import Figure
from torch import Tensor

from docs.essay.page import Page, number, table
from docs.essay.picture import BLUE, GREEN, ORANGE, panels
from framework.model import EncoderDecoder, assemble, initialize
from framework.registry import Registry
from framework.spec import DataSpec, ModelSpec

WORDS: Final = ("dog", "bites", "man")
IDS: Final = torch.tensor([[3, 4, 5]])
MODEL: Final = {"d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 4, "dropout": 0.0}
DATA: Final = {"corpus": "toy_translation", "tokenizer": {"vocabulary_size": 300}, "max_pieces": 31}

CASES: Final[dict[str, dict[str, Any]]] = {
    "no positions": {"positional_scheme": "none"},
    "sinusoids": {"positional_scheme": "sinusoidal"},
    "no positions, causal mask": {
        "positional_scheme": "none",
        "sites": {"encoder": {"self": {"mask": "causal"}}},
    },
}


@dataclass(frozen=True)
class Numbers:
    """How far vectors of "dog bites man" lie from those of "man bites dog", by case."""

    words: dict[str, list[float]]
    """Distance between a word's two vectors, for each of the three."""
    means: dict[str, float]
    """Distance between the two sentences' mean vectors."""


def encoded(registry: Registry, case: dict[str, Any], ids: Tensor) -> Tensor:
    """Read `ids (B, L)` with an untrained encoder of two layers, in double precision: `(B, L, 32)`."""
    context = {"catalog": registry}
    model = assemble(
        ModelSpec.model_validate_json(json.dumps({**MODEL, **case}), context=context),
        DataSpec.model_validate_json(json.dumps(DATA), context=context),
        registry,
    )
    assert isinstance(model, EncoderDecoder)
    initialize(model, seed=1)
    model.eval().double()
    with torch.no_grad():
        return model.encode(ids, torch.ones_like(ids, dtype=torch.bool))


def numbers(registry: Registry) -> Numbers:
    """Encode both sentences and compare word by word."""
    words, means = {}, {}
    for name, case in CASES.items():
        one, other = encoded(registry, case, IDS)[0], encoded(registry, case, IDS.flip(1))[0]  # (3, 32) each
        words[name] = (one - other.flip(0)).norm(dim=-1).tolist()
        means[name] = float((one.mean(0) - other.mean(0)).norm())
    return Numbers(words, means)


def draw(example: Numbers) -> Figure:
    """Show the distances as bars."""
    figure, (axes,) = panels(6.6, 2.8, 1)
    names = (*WORDS, "mean of all")
    for place, (case, colour) in enumerate(zip(CASES, (BLUE, ORANGE, GREEN), strict=True)):
        heights = [*example.words[case], example.means[case]]
        left = [word + (place - 1) * 0.26 for word in range(len(names))]
        bars = axes.bar(left, heights, width=0.24, color=colour, label=case)
        axes.bar_label(bars, [number(height, 1) for height in heights], fontsize=7, color=colour)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")
    axes.set(ylabel="distance", title="between “dog bites man” and “man bites dog”")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    rows = [
        (case, *(number(distance) for distance in example.words[case]), number(example.means[case])) for case in CASES
    ]
    return Page(
        name="dog-bites-man",
        values={
            "distances": table(("", *WORDS, "mean of all"), rows),
        },
        pictures={"dog-bites-man.svg": lambda: draw(example)},
    )
