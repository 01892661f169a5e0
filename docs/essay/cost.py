"""Page 7: what looking everywhere costs, and what it buys."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from matplotlib.figure import Figure
from torch import Tensor

from docs.essay.cost_times import LENGTHS, MIXERS, REPEATS, WIDTHS, Times, keep, kept, measure
from docs.essay.page import Page, number, table
from docs.essay.path_length import INPUTS, layers_until_it_arrives, reach
from docs.essay.picture import BLUE, GREEN, ORANGE, panels
from framework.registry import Registry

COLOURS: Final = dict(zip(MIXERS, (BLUE, ORANGE, GREEN), strict=True))
WINDOW: Final = 3
PATHS: Final = (9, 17, 33)
"""Lengths over which the path is counted."""
DISTANCES: Final = 64

OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "attention": lambda n, d: 2 * n * n * d + 4 * n * d * d,  # q·k and weights·v; four projections
    "recurrent": lambda n, d: 6 * n * d * d,  # three gates of a GRU, from the input and from the state
    "convolution": lambda n, d: 2 * WINDOW * n * d * d,  # a window's inputs, to the outputs and their gates
}
"""Multiply-adds of one layer over n positions of d channels, in matrix products, as the plugins compute them."""


@dataclass(frozen=True)
class Numbers:
    """The times as kept, and what gradients say."""

    times: Times
    layers: dict[str, list[int]]
    """Mixer → layers until the first position reaches the last, for each of `PATHS`."""
    reach: dict[str, Tensor]
    """Mixer → how strongly an output depends on the input some places before, `(64,)`."""


def numbers(registry: Registry) -> Numbers:
    """Read the times, and follow the gradients anew."""
    return Numbers(
        times=kept(),
        layers={name: [layers_until_it_arrives(registry, name, length) for length in PATHS] for name in MIXERS},
        reach={name: reach(registry, name, DISTANCES, d_model=32) for name in MIXERS},
    )


def exponents(cost: Callable[[int, int], float]) -> tuple[float, float]:
    """Give the powers with which a cost of (n, d) grows: with n at the smallest d, and with d at the largest n."""
    n, d = LENGTHS[-1], WIDTHS[-1]
    with_n = math.log(cost(n, WIDTHS[0]) / cost(LENGTHS[-2], WIDTHS[0]), n / LENGTHS[-2])
    with_d = math.log(cost(n, d) / cost(n, WIDTHS[-2]), d / WIDTHS[-2])
    return with_n, with_d


def spread(reached: Tensor) -> tuple[float, float]:
    """Give the weakest and the strongest place before, as multiples of the mean of all places before."""
    before = reached[1:] / reached[1:].mean()
    return float(before.min()), float(before.max())


def draw_times(example: Numbers) -> Figure:
    """Show time against length and against width."""
    figure, (left, right) = panels(7.6, 3.1, 2)
    for name, colour in COLOURS.items():
        by_length = [example.times.of(name, length, WIDTHS[0]) * 1e3 for length in LENGTHS]
        by_width = [example.times.of(name, LENGTHS[-1], width) * 1e3 for width in WIDTHS]
        left.loglog(LENGTHS, by_length, "o-", color=colour, label=name)
        right.loglog(WIDTHS, by_width, "o-", color=colour)
    left.set(xlabel="n (positions)", ylabel="time (ms)", title=f"d = {WIDTHS[0]} channels")
    right.set(xlabel="d (channels)", ylabel="time (ms)", title=f"n = {LENGTHS[-1]} positions")
    for panel, sizes in ((left, LENGTHS), (right, WIDTHS)):
        panel.set_xticks(sizes, list(map(str, sizes)))
        panel.minorticks_off()
    left.legend()
    return figure


def draw_reach(example: Numbers) -> Figure:
    """Show how strongly an output depends on inputs before it."""
    figure, (axes,) = panels(6.4, 3.0, 1)
    for name, colour in COLOURS.items():
        seen = [distance for distance in range(DISTANCES) if example.reach[name][distance] > 0]
        axes.semilogy(seen, example.reach[name][seen].numpy(), ".-", color=colour, label=name)
    axes.set(xlabel="distance (positions)", ylabel="|∂ output / ∂ input|", title="one untrained layer, 32 channels")
    axes.legend()
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    times = example.times
    powers = []
    for name in MIXERS:
        counted, found = exponents(OPERATIONS[name]), exponents(partial(times.of, name))
        powers.append((f"`{name}`", *(number(power, 1) for pair in zip(counted, found, strict=True) for power in pair)))
    measured = [
        (str(length), *(number(times.of(name, length, width) * 1e3) for width in WIDTHS[::3] for name in MIXERS))
        for length in LENGTHS
    ]
    layers = [(f"`{name}`", *map(str, example.layers[name])) for name in MIXERS]
    gru = example.reach["recurrent"]
    weakest, strongest = spread(example.reach["attention"])
    return Page(
        name="cost",
        values={
            "window": str(WINDOW),
            "move": str(WINDOW - 1),
            "narrow": str(WIDTHS[0]),
            "wider": str(WIDTHS[-2]),
            "wide": str(WIDTHS[-1]),
            "long": str(LENGTHS[-2]),
            "longest": str(LENGTHS[-1]),
            "repeats": str(REPEATS),
            "processor": times.processor,
            "torch": times.torch,
            "measured": table(("n", *MIXERS, *MIXERS), measured),
            "powers": table(("mixer", "of n, counted", "of n, measured", "of d, counted", "of d, measured"), powers),
            "layers": table(("mixer", *(f"n = {length}" for length in PATHS)), layers),
            "far": str(DISTANCES - 1),
            "faded": str(round(math.log10(gru[-1] / gru[0]))),
            "inputs": str(INPUTS),
            "weakest": number(weakest, 1),
            "strongest": number(strongest, 1),
        },
        pictures={"cost.svg": lambda: draw_times(example), "cost-reach.svg": lambda: draw_reach(example)},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the times that the page shows; `make docs` then shows them.")
    parser.add_argument("--measure", action="store_true", required=True, help="time every mixer, in half a minute")
    parser.parse_args()
    keep(measure(Registry.load()))
