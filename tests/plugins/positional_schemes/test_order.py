"""What order is to a layer of attention under each scheme."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import framework as fw
from plugins.attention_scores.additive import Additive
from plugins.attention_scores.bilinear import Bilinear
from plugins.attention_scores.cosine import Cosine
from plugins.attention_scores.dot_product import DotProduct
from plugins.attention_scores.kernel import Kernel
from plugins.masks.full import Full
from plugins.mixers.attention import Attention
from tests.plugins.sizes import DIMS

SCHEMES = fw.Registry.load().names("positional_scheme")
SCORES = [Additive, Bilinear, Cosine, DotProduct, Kernel]


class Reader:
    """A scheme and one layer of attention, from embeddings to mixed positions."""

    def __init__(self, scheme: type[fw.PositionalScheme], score: type[fw.AttentionScore], site: fw.Site) -> None:
        torch.manual_seed(0)
        dims = replace(DIMS, site=site)
        self.scheme = scheme(scheme.Options(), dims)
        scored = score(score.Options(), dims)
        if isinstance(scored, Bilinear):
            torch.nn.init.normal_(scored.weight, std=0.5)  # as if learned: it starts as the scaled dot product
        parts = fw.Parts(scored, Full(Full.Options(), dims), self.scheme)
        self.mixer = Attention(Attention.Options(), dims, parts)

    def __call__(
        self, embedded: Tensor, start: int = 0, state: fw.State | None = None
    ) -> tuple[Tensor, fw.State | None]:
        rows, length, _ = embedded.shape
        positions = torch.arange(start, start + length)[None]
        real = torch.ones(rows, length, dtype=torch.bool)
        return self.mixer(self.scheme.embed(embedded, positions), positions, real, state=state)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_encoder_reads_order_unless_there_are_no_positions(registry, scheme, score):
    read = Reader(registry.plugin("positional_scheme", scheme), score, fw.Site.ENCODER_SELF)
    embedded = torch.randn(1, 3, 8)
    forwards, _ = read(embedded)
    backwards, _ = read(embedded.flip(1))
    difference = (forwards - backwards.flip(1)).abs().max().item()
    # A distance has no direction: of three tokens, alibi sees the outer two change places and nothing else change.
    assert difference <= 1e-6 if scheme in ("none", "alibi") else difference > 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_encoder_reads_which_tokens_are_neighbours_unless_there_are_no_positions(registry, scheme):
    read = Reader(registry.plugin("positional_scheme", scheme), DotProduct, fw.Site.ENCODER_SELF)
    embedded, order = torch.randn(1, 4, 8), torch.tensor([1, 0, 2, 3])
    there, _ = read(embedded)
    swapped, _ = read(embedded[:, order])
    difference = (there - swapped[:, order]).abs().max().item()
    assert difference <= 1e-6 if scheme == "none" else difference > 1e-3


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_token_by_token_gives_what_one_pass_gives(registry, scheme, score):
    read = Reader(registry.plugin("positional_scheme", scheme), score, fw.Site.DECODER_SELF)
    embedded = torch.randn(2, 5, 8)
    whole, _ = read(embedded)
    state: fw.State | None = read.mixer.start()
    pieces = []
    for p in range(5):
        piece, state = read(embedded[:, p : p + 1], p, state)
        pieces.append(piece)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("scheme", ["alibi", "relative", "rotary"])
def test_a_relative_scheme_does_not_see_where_a_sequence_starts_unless_the_score_sees_turns(registry, scheme, score):
    read = Reader(registry.plugin("positional_scheme", scheme), score, fw.Site.ENCODER_SELF)
    embedded = torch.randn(1, 4, 8)
    same = torch.allclose(read(embedded)[0], read(embedded, start=30)[0], atol=1e-5)
    assert same == (scheme != "rotary" or score not in (Additive, Bilinear))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_mixed_and_half_precision_run(registry, scheme, training, score):
    read = Reader(registry.plugin("positional_scheme", scheme), score, fw.Site.ENCODER_SELF)
    read.mixer.train(training)
    embedded = torch.randn(2, 4, 8)
    expected, _ = read(embedded)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(read(embedded)[0].float(), expected, atol=0.05, rtol=0.0)
    read.scheme.bfloat16()
    read.mixer.bfloat16()
    torch.testing.assert_close(read(embedded.bfloat16())[0].float(), expected, atol=0.05, rtol=0.0)
