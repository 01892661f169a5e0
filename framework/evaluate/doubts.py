"""What makes a score of text doubtful: signs that the output was not turned back into plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

SUBWORD_MARKS: Final = ("@@", "\u2581")
"""Of subword-nmt and of SentencePiece."""

_DETACHED_STOP: Final = re.compile(r"\s[.!?]$")


def doubts(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[str, ...]:
    """Give a sentence for each sign; what the references hold too is no sign."""
    found = []
    for mark in SUBWORD_MARKS:
        marked = sum(mark in line for line in hypotheses)
        if marked and not any(mark in line for line in references):
            found.append(f"{marked} of {len(hypotheses)} hypotheses hold the sub-word mark {mark!r}: join the pieces")
    detached = sum(bool(_DETACHED_STOP.search(line)) for line in hypotheses)
    if detached > len(hypotheses) / 2 and not any(_DETACHED_STOP.search(line) for line in references):
        found.append(f"{detached} of {len(hypotheses)} hypotheses end in a detached full stop: detokenise them")
    return tuple(found)
