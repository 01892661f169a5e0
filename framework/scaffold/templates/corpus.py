"""Sums of two numbers, made up on the spot: after Zaremba and Sutskever 2014, arXiv:1410.4615, "addition".

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

import framework as fw


class MyPlugin(fw.Corpus):
    name = "my_plugin"

    class Options(fw.Options):
        """What an experiment can set. A relative path would start from `self.base_dir`, the experiment's folder."""

        largest: PositiveInt = 49
        """The largest number that is added."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries; a corpus of files may write some into `folder`."""
        return ({}, {"largest": 9})

    def splits(self) -> tuple[str, ...]:
        """Name the splits: `train` and `dev`, and perhaps `test`."""
        return ("train", "dev", "test")

    def pairs(self, split: str) -> Iterator[fw.Pair]:
        """Give a split's sources and targets, always in the same order: "17 + 25" and "42"."""
        for a in range(self.options.largest + 1):
            for b in range(self.options.largest + 1):
                source = f"{a} + {b}"
                if _split_of(source) == split:
                    yield fw.Pair(source, str(a + b))


def _split_of(source: str) -> str:
    """Tell by its hash where a source belongs, so that none is in two splits: one of ten each to dev and test."""
    return {0: "dev", 1: "test"}.get(zlib.crc32(source.encode()) % 10, "train")


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return MyPlugin
