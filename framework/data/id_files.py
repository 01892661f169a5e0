"""Sequences of ids on disk: written as they come, memory-mapped when read.

A file of the safetensors format with two tensors: `ids`, int32, of all sequences end to end, and `lengths`, int32
`(N,)`. The library writes only what is whole in memory, and its format allows more: a header that is padded with
spaces (https://huggingface.co/docs/safetensors, "Format"), and so may be filled in when the sizes are known.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Final

import torch
from safetensors import safe_open

from framework.data.sequences import Sequences

_HEADER_BYTES: Final = 256
"""Enough for sizes of 20 digits; a multiple of 8, as the format asks."""


class IdFileWriter:
    """A file that grows, and is whole once it is closed."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER_BYTES))
        self._lengths: list[torch.Tensor] = []
        self._ids = 0

    def append(self, sequences: Sequences) -> None:
        """Write sequences behind those there are."""
        self._file.write(sequences.ids.numpy().tobytes())
        self._ids += len(sequences.ids)
        self._lengths.append(sequences.lengths.int())

    def __enter__(self) -> IdFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                self._finish()

    def _finish(self) -> None:
        lengths = torch.cat([torch.empty(0, dtype=torch.int32), *self._lengths])
        self._file.write(lengths.numpy().tobytes())
        middle, end = 4 * self._ids, 4 * (self._ids + len(lengths))
        header = {
            "ids": {"dtype": "I32", "shape": [self._ids], "data_offsets": [0, middle]},
            "lengths": {"dtype": "I32", "shape": [len(lengths)], "data_offsets": [middle, end]},
        }
        text = json.dumps(header).encode()
        self._file.seek(0)
        self._file.write((_HEADER_BYTES - 8).to_bytes(8, "little") + text.ljust(_HEADER_BYTES - 8))


def open_id_file(path: Path) -> Sequences:
    """Map the sequences of a file: a large one opens at once, and the processes of one machine share it."""
    with safe_open(path, framework="pt") as file:
        return Sequences.of(file.get_tensor("ids"), file.get_tensor("lengths"))
