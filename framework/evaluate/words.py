"""The words of a split's references: what a perplexity per word is spread over."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch

from framework.data.prepared import PreparedData, PreparedSplit


@dataclass(frozen=True, slots=True)
class Words:
    """How many words a split's raw references hold, and of which text they are."""

    number: int
    """Words between white space, as `str.split` parts them, and an end for each text, which is said as well."""
    text: str
    """Both numbers and a digest of the text: perplexities per word compare where it is the same."""


def words(data: PreparedData, split: PreparedSplit) -> Words:
    """Count the words of the references."""
    lines = _references(data, split)
    number = sum(len(line.split()) for line in lines)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]
    return Words(number + len(lines), f"{number:,} words and {len(lines):,} ends ({digest})")


def why_not_whole(data: PreparedData, split: PreparedSplit, tokens: int) -> str | None:
    """Say why a loss over so many tokens is not that of whole texts, or None where it is.

    Texts may have been cut into parts, in the middle of words, and a mask or an objective may leave tokens out.
    """
    texts = data.counts.get(f"{split.name}/texts")
    if texts is not None and texts != len(split):
        return f"{texts} texts were cut into {len(split)} parts, which ends words early: raise data.max_pieces"
    whole = int(split.target_lengths.sum()) + len(split)  # an end each
    return None if tokens == whole else f"{tokens:,} of {whole:,} tokens enter the loss"


def _references(data: PreparedData, split: PreparedSplit) -> list[str]:
    if f"{split.name}/texts" not in data.counts:
        return split.target_texts
    # Of texts by themselves only the ids are kept, and decoding gives them back to the byte.
    return [data.target_tokenizer.decode(ids.tolist()) for ids in split.targets(torch.arange(len(split)))]
