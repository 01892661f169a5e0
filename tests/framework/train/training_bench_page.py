"""The page on which the measured speeds are published."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Final, NamedTuple

import torch

from tests.framework.train.systems.system import LENGTH, NUM_HEADS, NUM_LAYERS, SENTENCES, TOKENS, VOCABULARY
from tests.framework.train.waste import MAX_PIECES, Waste

YARDSTICKS: Final = ("Marian (Hugging Face)", "torch.nn.Transformer", "this project")
"""What the others are compared with: the first of these that was measured."""


class Rates(NamedTuple):
    """What one system did per second, median and quartiles, and how many times faster than each other system it was."""

    median: float
    low: float
    high: float
    times: Mapping[str, float]


class Training(NamedTuple):
    d_model: int
    systems: Mapping[str, Rates]
    parameters: Mapping[str, int]


class Decoding(NamedTuple):
    d_model: int
    systems: Mapping[str, Rates]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [":---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _yardstick(systems: Mapping[str, Rates]) -> str:
    return next(name for name in YARDSTICKS if name in systems)


def _training_table(measured: Training) -> str:
    yardstick = _yardstick(measured.systems)
    rows = [
        [
            name,
            f"{measured.parameters[name]:,}",
            f"{rates.median:,.0f}",
            f"{rates.low:,.0f} to {rates.high:,.0f}",
            f"{rates.times[yardstick]:.2f}",
        ]
        for name, rates in measured.systems.items()
    ]
    return table(["system", "parameters", "target tokens per second", "quartiles", f"times {yardstick}"], rows)


def _decoding_table(measured: Decoding) -> str:
    names = list(measured.systems)
    rows = [
        [
            name,
            f"{rates.median:.1f}",
            f"{rates.low:.1f} to {rates.high:.1f}",
            *(f"{rates.times[other]:.2f}" for other in names),
        ]
        for name, rates in measured.systems.items()
    ]
    return table(["system", "sentences per second", "quartiles", *(f"times {name}" for name in names)], rows)


def _waste_section(wastes: Sequence[Waste]) -> str:
    if not wastes:
        return ""
    rows = [
        [f"{each.vocabulary:,}", f"{each.batch_tokens:,}", f"{each.pairs:,}", f"{100 * each.share:.1f} %"]
        for each in wastes
    ]
    return f"""
## What padding wastes

Positions of both sides that hold no piece, in the first epoch's batches of the English-Spanish verses of at most
{MAX_PIECES} pieces (experiments/verses).

{table(["vocabulary", "tokens per batch", "pairs", "wasted"], rows)}
"""


def page(
    training: Sequence[Training], decoding: Sequence[Decoding], wastes: Sequence[Waste], packages: Iterable[str]
) -> str:
    """Say in Markdown what was measured."""
    command = "make bench-training" + (' ARGS="--corpus experiments/verses/verses.en-es.parquet"' if wastes else "")
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", *sorted(packages)))
    cores = f"{os.cpu_count()} cores of {platform.machine()} with {torch.backends.cpu.get_cpu_capability()}"
    trained = "\n\n".join(f"### d_model {each.d_model}\n\n{_training_table(each)}" for each in training)
    decoded = "\n\n".join(f"### d_model {each.d_model}\n\n{_decoding_table(each)}" for each in decoding)
    return f"""# How fast training and decoding are

One step of training, and beam search, beside other libraries in the same run. Made by

    {command}

on {cores}; {versions}; one thread.

Everywhere {NUM_LAYERS} layers per stack, {NUM_HEADS} heads, d_ff = 4·d_model, post-norm, ReLU, and one
table of {VOCABULARY:,} pieces for source, target and logits. Numbers are medians over rounds in which all had a
turn on the same batch, by the processor's clock; "times" is the median of the rounds' own ratios.

## Training: forward, loss, backward, Adam

Batches of {TOKENS // LENGTH} pairs of {LENGTH - 2} to {LENGTH} pieces a side. Dropout 0.1 on
embeddings and before each residual, nowhere else; label smoothing 0.1; Adam in torch's fused form for all. The others'
loss is `F.cross_entropy`, this project's its own. float32, where nothing else is said; bfloat16 is autocast.

{trained}

Where they differ: `torch.nn.Transformer` has a norm more behind each stack, and learned positions that do not learn;
x-transformers has no biases in its projections; JoeyNMT builds the attention weights, the others use PyTorch's fused
attention. This project builds them for short sequences (`FEW_KEYS` in framework/model/attention.py), draws dropout
from 16 random bits per entry (framework/model/dropout.py), and has the gradient of its loss in closed form
(framework/contracts/cross_entropy.py).

## Decoding: a beam of 4

{SENTENCES} sentences of {LENGTH} pieces in one batch, length penalty 0.6, random weights; the end is
forbidden before piece {LENGTH} and forced there, so that all produce the same number of pieces. float32.

{decoded}
{_waste_section(wastes)}"""
