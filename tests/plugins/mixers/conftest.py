"""A mixer for every test that asks for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

import framework as fw
from tests.plugins import sizes

DIMS = replace(sizes.DIMS, d_k=3, d_v=5, num_heads=4)


@pytest.fixture(scope="session")
def build(registry: fw.Registry) -> Callable[..., fw.Mixer]:
    """Put a mixer together at a site: `build("recurrent", fw.Site.DECODER_SELF, {"cell": "lstm"}, d_model=7)`."""

    def built(name, site, options=None, score="dot_product", scheme="none", **sizes):
        torch.manual_seed(0)
        dims = replace(DIMS, site=site, **sizes)

        def part(kind, chosen):
            plugin = registry.plugin(kind, chosen)
            return plugin(plugin.Options(), dims)

        mixer = registry.plugin("mixer", name)
        parts = fw.Parts(part("attention_score", score), part("mask", "full"), part("positional_scheme", scheme))
        return mixer(mixer.Options(**options or {}), dims, parts).double()

    return built
