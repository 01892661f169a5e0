"""Parts of a row that break their contract are told apart from those that keep it, in a sentence."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from framework.contracts import Site
from framework.registry import Registry
from framework.testing.row import broken, parts_of
from tests.framework.testing.rows import model, parts, plugin_file


@pytest.mark.parametrize(("num_heads", "d_k"), [(1, 2), (1, 512), (2, 8), (3, 4), (32, 16)])
def test_every_built_in_keeps_its_contract_at_many_sizes(registry, tmp_path, num_heads, d_k):
    sizes: dict[str, Any] = {"num_heads": num_heads, "d_k": d_k, "d_v": 5, "d_model": 96}
    tried = 0
    for kind in ("attention_score", "positional_scheme", "mask", "mixer", "feed_forward"):
        for name in registry.names(kind):
            plugin = registry.plugin(kind, name)
            if kind == "mixer" and plugin.sites != frozenset(Site):
                continue  # it stands at some sites only, where the kit's cases try it
            for options in plugin.samples(tmp_path):
                for part in parts(registry, kind, **sizes, **{kind: {"name": name, "options": options}}):
                    assert broken(part, registry) is None, (name, options)
                    tried += 1
    assert tried > 40


def test_a_part_takes_milliseconds(registry):
    for kind, name in (("attention_score", "additive"), ("mixer", "attention"), ("feed_forward", "relu_mlp")):
        part = parts(registry, kind, d_model=512, d_ff=2048, num_heads=8, d_k=64, d_v=64, **{kind: name})[0]
        took = []
        for _ in range(5):
            started = time.perf_counter()
            broken(part, registry)
            took.append(time.perf_counter() - started)
        assert min(took) < 0.2


def test_trying_a_part_leaves_the_generator_alone(registry):
    part = parts(registry, "attention_score", attention_score="additive")[0]
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    broken(part, registry)
    assert torch.equal(torch.rand(1), expected)


def test_each_part_is_tried_at_the_key_that_names_it(registry):
    spec = model(registry, sites={"encoder": {"self": {"mixer": "none"}}, "decoder": {"cross": {"mask": "causal"}}})
    found = [(part.path, part.kind, part.component.name, part.dims.site) for part in parts_of(spec, registry)]
    assert found == [
        ("model.attention_score", "attention_score", "dot_product", "decoder.self"),
        ("model.mask", "mask", "full", "decoder.self"),
        ("model.mixer", "mixer", "attention", "decoder.self"),
        ("model.attention_score", "attention_score", "dot_product", "decoder.cross"),
        ("model.sites.decoder.cross.mask", "mask", "causal", "decoder.cross"),
        ("model.mixer", "mixer", "attention", "decoder.cross"),
        ("model.positional_scheme", "positional_scheme", "sinusoidal", "encoder.self"),
        ("model.feed_forward", "feed_forward", "relu_mlp", "encoder.self"),
        ("model.positional_scheme", "positional_scheme", "sinusoidal", "decoder.self"),
        ("model.feed_forward", "feed_forward", "relu_mlp", "decoder.self"),
    ]


def test_what_is_removed_is_not_tried(registry):
    assert {part.kind for part in parts_of(model(registry, mixer="none", feed_forward="none"), registry)} == {
        "positional_scheme"
    }


def test_rows_share_parts_that_differ_in_channels_layers_and_dropout_only(registry):
    base = {part.identity for part in parts_of(model(registry, num_heads=2), registry)}
    wide = {"d_model": 64, "d_ff": 256, "num_layers": 3, "dropout": 0.3}
    assert {part.identity for part in parts_of(model(registry, **wide), registry)} == base
    assert {part.identity for part in parts_of(model(registry, d_k=4), registry)}.isdisjoint(base)


def test_heads_and_what_they_divide_are_kept(registry):
    (dims,) = {
        part.dims for part in parts(registry, "mixer", num_heads=12, d_model=768, d_k=64, architecture="decoder_only")
    }
    assert (dims.num_heads, dims.d_k, dims.d_model) == (12, 64, 48)
    (dims,) = {
        part.dims for part in parts(registry, "mixer", num_heads=3, d_model=100, d_k=7, architecture="decoder_only")
    }
    assert (dims.num_heads, dims.d_k, dims.d_model) == (3, 7, 100)


WIDTHS = """
def __init__(self, options, dims):
    super().__init__(options, dims)
    if dims.d_model % 32:
        raise fw.SpecError(f"needs a multiple of 32, not {dims.d_model}")

def forward(self, x):
    return x"""


@pytest.mark.parametrize(("wrong", "words"), [("", None), (".cumsum(1)", "forward mixes positions")])
def test_a_part_that_takes_no_few_channels_is_tried_at_the_row_s_own(tmp_path, wrong, words):
    path = plugin_file(tmp_path, "FeedForward", WIDTHS + wrong)
    registry = Registry.load([path])
    found = parts(registry, "feed_forward", feed_forward="mine", d_model=512, num_heads=8, d_k=8, d_v=8)
    assert {part.dims.d_model for part in found} == {512}
    for part in found:
        said = broken(part, registry)
        assert (said is None) if words is None else (said is not None and words in said)
