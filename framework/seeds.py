"""Seeds for every use of chance in a trial, none of which shares its numbers with another."""

from __future__ import annotations

import hashlib


def derived_seed(*parts: str | int) -> int:
    """A seed of 64 bits for these parts, the same in every process and on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big")
