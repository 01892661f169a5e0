"""Page 5: sinusoids tell positions apart, and a shift is a rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from matplotlib.figure import Figure
from torch import Tensor

from docs.essay.components import component, sizes
from docs.essay.page import Page, number, table, vector
from docs.essay.picture import BLUE, panels
from framework.registry import Registry

D_MODEL: Final = 128
POSITIONS: Final = 512
SHIFTS: Final = (1, 5, 64)
DISTANCES: Final = (0, 1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Numbers:
    """The encoding and what a shift does to it."""

    small: Tensor
    """(3, 8): the first positions of an encoding of 8 channels"""
    encoding: Tensor
    """(512, 128)"""
    errors: dict[int, float]
    """Shift → the largest entry of PE(p + shift) - M PE(p) over all p."""


def encoding(registry: Registry, positions: int, d_model: int) -> Tensor:
    """Give what the scheme `sinusoidal` adds to embeddings: `(positions, d_model)`, in double precision."""
    scheme = component(registry, "positional_scheme", "sinusoidal", sizes(d_model))
    nothing = torch.zeros(1, positions, d_model, dtype=torch.double)
    added: Tensor = scheme.embed(nothing, torch.arange(positions)[None])[0]
    return added


def shift(distance: int, d_model: int) -> Tensor:
    """Give M with PE(p + distance) = M PE(p) for every p: `(d_model, d_model)`.

    Along the diagonal, for each pair of channels (sin, cos) of frequency ω, stands the rotation by ω·distance.
    """
    angle = distance * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.double) / d_model)  # (d_model / 2,)
    blocks = torch.stack((angle.cos(), angle.sin(), -angle.sin(), angle.cos()), dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


def numbers(registry: Registry) -> Numbers:
    """Compute the encoding and try the shifts at every position that leaves room."""
    whole = encoding(registry, POSITIONS, D_MODEL)
    return Numbers(
        small=encoding(registry, 3, 8),
        encoding=whole,
        errors={
            distance: float((whole[distance:] - whole[:-distance] @ shift(distance, D_MODEL).T).abs().max())
            for distance in SHIFTS
        },
    )


def draw_heat_map(example: Numbers) -> Figure:
    """Show positions against channels, sines and cosines apart."""
    figure, axes = panels(7.6, 3.0, 2, share_y=True)
    for odd, (panel, wave) in enumerate(zip(axes, ("sin", "cos"), strict=True)):
        shown = example.encoding[:60, odd::2].numpy()
        image = panel.imshow(
            shown, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", extent=(-0.5, D_MODEL - 0.5, 59.5, -0.5)
        )
        panel.grid(False)
        panel.set(xlabel=f"{'odd' if odd else 'even'} channels", title=f"{wave}(p / 10000^(2i/{D_MODEL}))")
    axes[0].set_ylabel("position p")
    figure.colorbar(image, ax=axes, label="added to the token", ticks=[-1, 0, 1])
    return figure


def draw_shift(example: Numbers) -> Figure:
    """Show a shift's matrix, and how alike two positions are by their distance."""
    figure, (left, right) = panels(7.4, 3.0, 2)
    image = left.imshow(shift(5, 16).numpy(), cmap="RdBu", vmin=-1, vmax=1)
    left.grid(False)
    left.set(xlabel="channel of PE(p)", ylabel="channel of PE(p + 5)", title="the shift by 5, 16 channels")
    figure.colorbar(image, ax=left, ticks=[-1, 0, 1])
    near = example.encoding[:65]
    right.plot(range(65), (near @ near[0]).numpy() / (D_MODEL / 2), color=BLUE)
    right.set(
        xlabel="distance Δ (positions)", ylabel="PE(p)·PE(p + Δ) / |PE|²", title="likeness by distance", ylim=(0, 1.05)
    )
    return figure


def page(registry: Registry) -> Page:
    """Write the page."""
    example = numbers(registry)
    letters = [
        (str(position), dog, god, vector(example.small[position]))
        for position, (dog, god) in enumerate(zip("dog", "god", strict=True))
    ]
    alike = example.encoding @ example.encoding[0] / (D_MODEL / 2)  # (512,)
    likeness = [number(alike[distance]) for distance in DISTANCES]
    return Page(
        name="sinusoids",
        values={
            "letters": table(("p", "dog", "god", "what is added"), letters),
            "d_model": str(D_MODEL),
            "positions": str(POSITIONS),
            "shifts": ", ".join(map(str, SHIFTS)),
            "likeness": table(("Δ", *map(str, DISTANCES)), [("likeness", *likeness)]),
        },
        pictures={
            "sinusoids.svg": lambda: draw_heat_map(example),
            "sinusoids-shift.svg": lambda: draw_shift(example),
        },
    )
