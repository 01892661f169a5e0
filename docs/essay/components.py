"""Plugins, built at the sizes of a worked example."""

from __future__ import annotations

from typing import Any

import framework as fw
from framework.registry import Registry


def sizes(d_k: int = 1, *, d_model: int | None = None, site: fw.Site = fw.Site.ENCODER_SELF) -> fw.Dims:
    """Give one head of width d_k, as wide as the model unless that is said, without dropout and biases."""
    d_model = d_model or d_k
    return fw.Dims(
        d_model=d_model,
        d_ff=4 * d_model,
        d_k=d_k,
        d_v=d_k,
        num_heads=1,
        num_layers=1,
        dropout=0.0,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        projection_bias=False,
        site=site,
    )


def component(registry: Registry, kind: str, name: str, dims: fw.Dims, **options: Any) -> Any:
    """Build a score, a mask or a positional scheme by its name."""
    plugin = registry.plugin(kind, name)
    return plugin(plugin.Options(**options), dims)


def mixer(registry: Registry, name: str, dims: fw.Dims, **options: Any) -> fw.Mixer:
    """Build a mixer by its name, handed the scaled dot product, the full mask and no positions."""
    parts = fw.Parts(
        score=component(registry, "attention_score", "dot_product", dims),
        mask=component(registry, "mask", "full", dims),
        scheme=component(registry, "positional_scheme", "none", dims),
    )
    plugin = registry.plugin("mixer", name)
    built: fw.Mixer = plugin(plugin.Options(**options), dims, parts)
    return built.eval()
