"""How fast a long corpus of plain text becomes batches, and how much memory that takes at most.

    python -m tests.framework.data.data_bench --output docs/results/data-bench.md

The text is made up, with about as many different words as WMT14 English-German has, and is written by a process of its
own, so that none of it is in the memory that is measured. One thread, by the clock; memory is the peak of the whole
process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
import torch

import framework as fw
from framework.data.batches import TrainingBatches
from framework.data.made_up import MADE_UP_WORDS
from framework.data.prepare import LEARNED_FROM, prepare
from framework.peak_memory import peak_memory_bytes, restart_peak_memory
from framework.spec import DataSpec

PAIRS: Final = 5_000_000
VOCABULARY_SIZE: Final = 37_000
BATCH_TOKENS: Final = 25_000
MEAN_WORDS: Final = 24
"""Of a sentence, about as many as WMT14 has."""
HEAPS: Final = 0.55
"""The number of different words grows as that of all words to this power (Heaps' law)."""
SIDES: Final = {"en": (1.0, 20), "de": (0.95, 50)}
"""By language, words for each word of the source, and how many are about as frequent as the most frequent one: five
million pairs have 1 and 3 million different words."""
STEP_SECONDS: Final = 0.4
"""What an update of the base model, of 25,000 tokens, took on 8 P100: arXiv:1706.03762, section 5.2."""
BATCHES: Final = 200
"""Batches of which reading is timed, at most."""
PREPARING: Final = "vocabulary and ids"
CPU: Final = torch.device("cpu")


def write_corpus(folder: Path, pairs: int) -> None:
    """Write so many pairs for training, line by line, and some for the dev split."""
    generator = np.random.default_rng(1)
    for split, number in (("train", pairs), ("dev", 1000)):
        for some in (min(10_000, number - start) for start in range(0, number, 10_000)):
            sizes = generator.lognormal(np.log(MEAN_WORDS) - 0.15, 0.55, some)
            for language, (ratio, common) in SIDES.items():
                own = (sizes * ratio * generator.lognormal(0, 0.15, some)).clip(1, 100).astype(int)
                ranks = common * (generator.random(own.sum()) ** (-1 / HEAPS) - 1)  # Zipf and Mandelbrot's law
                words = [spelled(1 + rank) for rank in ranks.astype(int).tolist()]
                ends = [0, *own.cumsum().tolist()]
                with (folder / f"{split}.{language}").open("a") as file:
                    file.writelines(" ".join(words[begin:end]) + "\n" for begin, end in pairwise(ends))


def spelled(rank: int) -> str:
    """A word of its own for each number, shorter for those that come often."""
    syllables = []
    while rank:
        rank, digit = divmod(rank, len(MADE_UP_WORDS))
        syllables.append(MADE_UP_WORDS[digit])
    return "".join(syllables)


class Part(NamedTuple):
    """What a part of the road took."""

    seconds: float
    megabytes: float
    """The peak of the process."""


class Measured(NamedTuple):
    """The road from plain files to batches."""

    parts: dict[str, Part]
    pairs: int
    """Pairs that were kept."""
    pieces: float
    """Of a target, its end included, on average."""
    batches: int
    """Of an epoch."""
    read: int
    """Pairs in the batches that were read."""


def measure(folder: Path) -> Measured:
    """Take the road of a run from files to batches."""
    spec, corpus, objective = _experiment(folder)
    parts: dict[str, Part] = {}

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        restart_peak_memory(CPU)
        started = time.perf_counter()
        yield
        parts[what] = Part(time.perf_counter() - started, peak_memory_bytes(CPU) / 1e6)

    with timed("fingerprint"):
        corpus.fingerprint()
    with timed(PREPARING):
        split = prepare(spec, corpus, folder / "prepared").split("train")
    with timed("batches of an epoch"):
        lengths = objective.lengths(split.source_lengths, split.target_lengths)
        surplus = split.source_lengths - split.target_lengths
        batches = TrainingBatches(lengths, surplus, BATCH_TOKENS, seed=1)
        epoch = batches.epoch(0)
    chosen = epoch[:BATCHES]
    with timed(f"reading {len(chosen)} batches"):
        for indices in chosen:
            objective.batch(split.sources(indices), split.targets(indices), torch.Generator())
    return Measured(
        parts, len(split), split.target_lengths.double().mean().item() + 1, len(epoch), sum(map(len, chosen))
    )


def _experiment(folder: Path) -> tuple[DataSpec, fw.Corpus, fw.Objective]:
    registry = fw.Registry.load()
    files = {split: {"source": f"{split}.en", "target": f"{split}.de"} for split in ("train", "dev")}
    data = {"corpus": {"name": "text_pairs", "options": files}, "tokenizer": {"vocabulary_size": VOCABULARY_SIZE}}
    spec = DataSpec.model_validate_json(json.dumps(data), context={"catalog": registry})
    translation = registry.plugin("objective", "translation")
    return (
        spec,
        registry.plugin("corpus", "text_pairs")(spec.corpus.options, folder),
        translation(translation.Options()),
    )


def page(found: Measured) -> str:
    """Say it in Markdown."""
    *whole, (reading, read) = found.parts.items()
    rows = [*((name, part, found.pairs) for name, part in whole), (reading, read, found.read)]
    table = "\n".join(
        f"| {name} | {part.seconds:,.1f} | {pairs / part.seconds:,.0f} | {part.megabytes:,.0f} |"
        for name, part, pairs in rows
    )
    eaten = BATCH_TOKENS / STEP_SECONDS / found.pieces
    prepared, given = found.pairs / found.parts[PREPARING].seconds, found.read / read.seconds
    libraries = (f"{name} {version(name)}" for name in ("tokenizers", "torch"))
    return f"""# What a long corpus costs

{found.pairs:,} pairs of made-up text in plain files, of {found.pieces:.1f} pieces a target, out of
{VOCABULARY_SIZE:,}. Made by

    make bench-data

in one thread on {os.cpu_count()} cores of {platform.machine()}, with {" and ".join(libraries)}.

| part | seconds | pairs per second | megabytes at the peak |
| :--- | ---: | ---: | ---: |
{table}

Text passes by and ids lie on disk; the vocabulary is learned from at most {LEARNED_FROM:,} pairs. An epoch has
{found.batches:,} batches of {BATCH_TOKENS:,} positions per side.

Beside it what training eats: an update of the paper's base model, of {BATCH_TOKENS:,} target tokens, took
{STEP_SECONDS} seconds on 8 P100 (arXiv:1706.03762, section 5.2), which is {eaten:,.0f} pairs of this text per second.
Reading gives {given / eaten:,.0f} times as many; preparing, which is done once, {prepared / eaten:.1f} times.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory from plain files to batches.")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--output", type=Path, help="where the page is written, besides being printed")
    parser.add_argument("--folder", type=Path, help="write the text there, and nothing else")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.folder:
        write_corpus(chosen.folder, chosen.pairs)
        return
    with TemporaryDirectory() as folder:
        write = [sys.executable, "-m", __spec__.name, "--pairs", str(chosen.pairs), "--folder", folder]
        subprocess.run(write, check=True)
        text = page(measure(Path(folder)))
    print(text)
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
