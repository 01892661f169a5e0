"""Cut a corpus into pieces, once for all trials that train on it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import polars as pl
import torch
from safetensors.torch import save

from framework.contracts import Corpus, Pair, TextCorpus
from framework.data.prepared import PreparedData
from framework.data.sequences import Sequences
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec import DataSpec, TokenizerSpec


def prepare(spec: DataSpec, corpus: Corpus, folder: Path) -> PreparedData:
    """Open the prepared data in `folder`, which is written first if it is not there.

    The folder appears whole or not at all; of two processes that write it at once, one wins and both go on.
    Vocabularies are learned on the training split alone. Pairs with a side longer than `spec.max_pieces` are
    left out of every split and counted; a side without any text is kept. A text of a `TextCorpus` that is longer
    is cut into parts, each of them an example.

    Raises `SpecError` if the corpus lacks a split that training needs, if nothing is left of a split, or if
    the text does not yield the vocabulary asked for.
    """
    if not folder.exists():
        splits = _read(corpus)
        with _appearing_whole(folder) as unfinished:
            _write(spec, splits, _keep_texts if isinstance(corpus, TextCorpus) else _keep_pairs, unfinished)
    return PreparedData.open(folder)


def _read(corpus: Corpus) -> dict[str, list[Pair]]:
    names = corpus.splits()
    for needed in ("train", "dev"):
        if needed not in names:
            raise SpecError(
                f"the corpus has no split {needed!r}, only {', '.join(names) or 'none at all'}: "
                "train is learned from, and dev is measured on",
                "data.corpus",
            )
    splits = {name: list(corpus.pairs(name)) for name in names}
    for name, pairs in splits.items():
        if not pairs:
            raise SpecError(f"the split {name!r} is empty: give it text, or leave it out", "data.corpus")
    return splits


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is left of a split, and how much of it that is."""

    sources: Sequences
    targets: Sequences
    texts: pl.DataFrame | None
    """What generated text is compared with, if anything is generated."""
    counts: dict[str, int]


def _write(
    spec: DataSpec,
    splits: dict[str, list[Pair]],
    keep: Callable[[str, list[Pair], Tokenizer, Tokenizer, int], _Kept],
    folder: Path,
) -> None:
    source_tokenizer, target_tokenizer = _learn(spec.tokenizer, splits["train"], folder)
    counts: dict[str, int] = {}
    for name, pairs in splits.items():
        kept = keep(name, pairs, source_tokenizer, target_tokenizer, spec.max_pieces)
        counts |= {f"{name}/{what}": count for what, count in kept.counts.items()}
        _write_ids(folder / f"{name}.safetensors", kept.sources, kept.targets)
        if kept.texts is not None:
            kept.texts.write_parquet(folder / f"{name}.parquet")
    (folder / "counts.json").write_text(json.dumps(counts), encoding="utf-8")


def _keep_pairs(name: str, pairs: list[Pair], source: Tokenizer, target: Tokenizer, max_pieces: int) -> _Kept:
    sources = Sequences.encode([pair.source for pair in pairs], source)
    targets = Sequences.encode([pair.target for pair in pairs], target)
    kept = torch.maximum(sources.lengths, targets.lengths) <= max_pieces  # (N,)
    if not kept.any():
        raise SpecError(
            f"none of the {len(pairs)} pairs of the split {name!r} has {max_pieces} pieces or fewer "
            "on both sides: raise it",
            "data.max_pieces",
        )
    texts = pl.DataFrame(pairs, schema={"source": pl.String, "target": pl.String}, orient="row")
    return _Kept(
        sources.keep(kept),
        targets.keep(kept),
        texts.filter(pl.Series(kept.numpy())),
        {"pairs": int(kept.sum()), "left_out": int((~kept).sum())},
    )


def _keep_texts(name: str, pairs: list[Pair], source: Tokenizer, target: Tokenizer, max_pieces: int) -> _Kept:
    texts = Sequences.encode([pair.target for pair in pairs], target).cut(max_pieces)
    nothing = Sequences(torch.empty(0, dtype=torch.int32), torch.zeros(len(texts) + 1, dtype=torch.int64))
    return _Kept(nothing, texts, None, {"texts": len(pairs), "parts": len(texts)})


def _learn(spec: TokenizerSpec, pairs: Sequence[Pair], folder: Path) -> tuple[Tokenizer, Tokenizer]:
    if spec.shared:
        tokenizer = Tokenizer.learn((text for pair in pairs for text in pair), spec)
        (folder / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
        return tokenizer, tokenizer
    source = Tokenizer.learn((pair.source for pair in pairs), spec)
    target = Tokenizer.learn((pair.target for pair in pairs), spec)
    (folder / "source_tokenizer.json").write_text(source.to_json(), encoding="utf-8")
    (folder / "target_tokenizer.json").write_text(target.to_json(), encoding="utf-8")
    return source, target


def _write_ids(path: Path, sources: Sequences, targets: Sequences) -> None:
    tensors = {
        "source_ids": sources.ids,
        "source_starts": sources.starts,
        "target_ids": targets.ids,
        "target_starts": targets.starts,
    }
    path.write_bytes(save(tensors))  # save_file would let nobody but its owner read it


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
