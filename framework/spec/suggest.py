"""The nearest known name for a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` where a known word is near, or nothing."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def choices(word: str, known: Iterable[str]) -> str:
    """The nearest known word, if one is near, and all of them."""
    names = list(known)
    hint = did_you_mean(word, names)
    listed = ", ".join(names) or "none"
    return f"{hint} There are: {listed}" if hint else f"; there are: {listed}"
