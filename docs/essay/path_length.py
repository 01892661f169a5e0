"""How far gradients go: through how many layers, and how strongly, a mixer ties a position to one behind it."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

import framework as fw
from docs.essay.components import mixer, sizes
from framework.registry import Registry

INPUTS: Final = 256
"""Random inputs over which `reach` takes a mean."""


def layers_until_it_arrives(registry: Registry, name: str, length: int, d_model: int = 8, **options: Any) -> int:
    """Stack layers of one mixer, in a decoder, until the last output has a gradient to the first input; count them."""
    x = _input(1, length, d_model)
    y, layers = x, 0
    while True:
        layers += 1
        y = _mixed(_started(registry, name, d_model, seed=layers, **options), y)
        (gradient,) = torch.autograd.grad(y[0, -1].sum(), x, retain_graph=True)
        if gradient[0, 0].any():
            return layers


def reach(registry: Registry, name: str, length: int, d_model: int, inputs: int = INPUTS, **options: Any) -> Tensor:
    """Give how strongly the last output of one untrained layer depends on the input 0, 1, 2, … places before: `(L,)`.

    That is the Frobenius norm of the Jacobian, root mean square over random inputs, in double precision.
    """
    x = _input(inputs, length, d_model)
    y = _mixed(_started(registry, name, d_model, seed=1, **options), x)
    rows = [torch.autograd.grad(channel.sum(), x, retain_graph=True)[0] for channel in y[:, -1].T]  # (N, L, D) each
    return torch.stack(rows).square().sum((0, 3)).mean(0).sqrt().flip(0)  # (D, N, L, D) to (L,)


def _input(count: int, length: int, d_model: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, length, d_model, generator=generator, dtype=torch.double).requires_grad_()


def _started(registry: Registry, name: str, d_model: int, seed: int, **options: Any) -> fw.Mixer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return mixer(registry, name, sizes(d_model, site=fw.Site.DECODER_SELF), **options).double()


def _mixed(layer: fw.Mixer, x: Tensor) -> Tensor:
    length = x.size(1)
    y: Tensor = layer(x, torch.arange(length)[None], torch.ones(x.shape[:2], dtype=torch.bool))[0]
    return y
