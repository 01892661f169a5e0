"""What text is asked for and how it becomes pieces."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from framework.spec.base import LARGEST_SIZE, Size, Spec
from framework.spec.component import CorpusComponent


class TokenizerSpec(Spec):
    """How text is cut into pieces; learned on the training split alone, from at most a million evenly spaced pairs."""

    algorithm: Literal["bpe"] = "bpe"
    """Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909) over bytes, so that no text is unknown."""
    vocabulary_size: Annotated[int, Field(ge=260, le=LARGEST_SIZE)] = 8000
    """Rows of the embedding table, special pieces included; at least the 256 bytes and 4 more. Section 5.1 of
    arXiv:1706.03762 has about 37,000, for which tensor2tensor 1.0 has a table of 40,960 (`wmt_ende_bpe32k`), and later
    about 32,768 (`translate_ende_wmt32k`)."""
    shared: bool = True
    """One vocabulary for both sides, or one each."""


class DataSpec(Spec):
    """A corpus, a tokenizer, and the longest sequence that is kept."""

    corpus: CorpusComponent
    tokenizer: TokenizerSpec = TokenizerSpec()
    max_pieces: Size = 256
    """Pairs with more pieces than this on either side are left out, counted and reported; texts that stand by
    themselves are cut into parts of at most so many."""
