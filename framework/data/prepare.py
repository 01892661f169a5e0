"""Cut a corpus into pieces, once for all trials that train on it.

Text passes by: however long a corpus is, only some pairs of it are in memory at a time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import uuid4

import polars as pl
import torch
from torch import Tensor

from framework.contracts import Corpus, Pair, TextCorpus
from framework.data.id_files import IdFileWriter
from framework.data.prepared import PreparedData
from framework.data.sequences import Sequences
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec import DataSpec, TokenizerSpec

LEARNED_FROM: Final = 1_000_000
"""Most training pairs that a vocabulary is learned from. The learner holds each different word with all its pieces, a
kilobyte or so, of which some five million pairs of text have millions."""

_PAIRS_AT_ONCE: Final = 10_000
"""The tokenizer's results are much larger than the ids in them."""


def prepare(spec: DataSpec, corpus: Corpus, folder: Path) -> PreparedData:
    """Open the prepared data in `folder`, which is written first if it is not there.

    The folder appears whole or not at all; of two processes that write it at once, one wins and both go on.
    Vocabularies are learned on the training split alone, and if it has more than `LEARNED_FROM` pairs on every second,
    third or k-th of them, the smallest k that leaves no more. Pairs with a side longer than `spec.max_pieces` are left
    out of every split and counted; a side without any text is kept. A text of a `TextCorpus` that is longer is cut into
    parts, each of them an example.

    Raises `SpecError` if the corpus lacks a split that training needs, if nothing is left of a split, or if
    the text does not yield the vocabulary asked for.
    """
    if not folder.exists():
        names = _filled_splits(corpus)
        with _appearing_whole(folder) as unfinished:
            _write(spec, corpus, names, unfinished)
    return PreparedData.open(folder)


def _filled_splits(corpus: Corpus) -> tuple[str, ...]:
    names = corpus.splits()
    for needed in ("train", "dev"):
        if needed not in names:
            raise SpecError(
                f"the corpus has no split {needed!r}, only {', '.join(names) or 'none at all'}: "
                "train is learned from, and dev is measured on",
                "data.corpus",
            )
    for name in names:
        if next(iter(corpus.pairs(name)), None) is None:
            raise SpecError(f"the split {name!r} is empty: give it text, or leave it out", "data.corpus")
    return names


def _write(spec: DataSpec, corpus: Corpus, names: tuple[str, ...], folder: Path) -> None:
    source, target = _learn(spec.tokenizer, corpus, folder)
    write = _write_texts if isinstance(corpus, TextCorpus) else _write_pairs
    counts: dict[str, int] = {}
    for name in names:
        found = write(folder, name, corpus.pairs(name), source, target, spec.max_pieces)
        counts |= {f"{name}/{what}": count for what, count in found.items()}
    (folder / "counts.json").write_text(json.dumps(counts), encoding="utf-8")


def _write_pairs(
    folder: Path, name: str, pairs: Iterable[Pair], source: Tokenizer, target: Tokenizer, max_pieces: int
) -> dict[str, int]:
    """Write the pairs of a split that are short enough, and count them and those that are not."""
    texts: list[Pair] = []
    kept_pairs = left_out = 0
    with _id_files(folder, name) as (source_file, target_file):
        for some in _batched(pairs):
            sources = Sequences.encode([pair.source for pair in some], source)
            targets = Sequences.encode([pair.target for pair in some], target)
            kept = torch.maximum(sources.lengths, targets.lengths) <= max_pieces  # (N,)
            source_file.append(sources.keep(kept))
            target_file.append(targets.keep(kept))
            kept_pairs += int(kept.sum())
            left_out += int((~kept).sum())
            if name != "train":
                texts += _chosen(some, kept)
    if not kept_pairs:
        raise SpecError(
            f"none of the {left_out} pairs of the split {name!r} has {max_pieces} pieces or fewer "
            "on both sides: raise it",
            "data.max_pieces",
        )
    if name != "train":
        frame = pl.DataFrame(texts, schema={"source": pl.String, "target": pl.String}, orient="row")
        frame.write_parquet(folder / f"{name}.parquet")
    return {"pairs": kept_pairs, "left_out": left_out}


def _write_texts(
    folder: Path, name: str, pairs: Iterable[Pair], _source: Tokenizer, target: Tokenizer, max_pieces: int
) -> dict[str, int]:
    """Write the texts of a split, in parts that are short enough, and count both."""
    texts = parts = 0
    with _id_files(folder, name) as (source_file, target_file):
        for some in _batched(pairs):
            cut = Sequences.encode([pair.target for pair in some], target).cut(max_pieces)
            source_file.append(_nothing(len(cut)))
            target_file.append(cut)
            texts += len(some)
            parts += len(cut)
    return {"texts": texts, "parts": parts}


@contextmanager
def _id_files(folder: Path, name: str) -> Iterator[tuple[IdFileWriter, IdFileWriter]]:
    paths = [folder / f"{name}.{side}.safetensors" for side in ("source", "target")]
    with IdFileWriter(paths[0]) as source, IdFileWriter(paths[1]) as target:
        yield source, target


def _batched(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    rest = iter(pairs)
    while some := list(islice(rest, _PAIRS_AT_ONCE)):
        yield some


def _chosen(pairs: list[Pair], kept: Tensor) -> list[Pair]:
    return [pair for pair, keep in zip(pairs, kept.tolist(), strict=True) if keep]


def _nothing(number: int) -> Sequences:
    return Sequences.of(torch.empty(0, dtype=torch.int32), torch.zeros(number, dtype=torch.int64))


def _learn(spec: TokenizerSpec, corpus: Corpus, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    step = -(-sum(1 for _ in corpus.pairs("train")) // LEARNED_FROM)

    def pairs() -> Iterator[Pair]:
        return islice(corpus.pairs("train"), 0, None, step)

    if spec.shared:
        tokenizer = Tokenizer.learn((text for pair in pairs() for text in pair), spec)
        (folder / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
        return tokenizer, tokenizer
    source = Tokenizer.learn((pair.source for pair in pairs()), spec)
    target = Tokenizer.learn((pair.target for pair in pairs()), spec)
    (folder / "source_tokenizer.json").write_text(source.to_json(), encoding="utf-8")
    (folder / "target_tokenizer.json").write_text(target.to_json(), encoding="utf-8")
    return source, target


@contextmanager
def _appearing_whole(folder: Path) -> Iterator[Path]:
    """A folder beside `folder` to fill, which then becomes it, unless another process was first."""
    unfinished = folder.with_name(f".{folder.name}.{uuid4().hex}.tmp")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        for path in (*unfinished.iterdir(), unfinished):
            _flush(path)
        try:
            os.replace(unfinished, folder)
        except OSError:
            if not folder.exists():
                raise
        _flush(folder.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
