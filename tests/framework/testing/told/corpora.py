"""What is told of each wrong corpus."""

from __future__ import annotations

BROKEN = (
    # mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("no_dev", "splits", "splits gives train, valid and lacks dev", ()),
    ("names_twice", "splits", "splits gives a name twice: train, dev, dev", ()),
    ("empty_split", "splits", "'dev' is empty: leave its name out", ()),
    ("numbers", "text", "gives Pair(source=0, target=1) at 0, and must give str", ("fingerprint",)),
    ("text_with_source", "text", "a text corpus gives the source 'so'", ()),
    ("shuffles", "order", "gives other examples the second time, from number 0 on", ("fingerprint",)),
    ("used_up", "order", "pairs of 'train' gives other examples the second time", ()),
    ("by_time", "fingerprint", "fingerprint gives something else for the same corpus each time", ()),
    ("draws_an_order", "order", "gives other examples the second time, from number", ("fingerprint",)),
)
