"""Times of the mixers, measured by `python docs/essay/cost.py --measure` and kept in cost.json beside this file."""

from __future__ import annotations

import itertools
import json
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch

import framework as fw
from docs.essay.components import mixer, sizes
from framework.registry import Registry

KEPT: Final = Path(__file__).with_name("cost.json")
MIXERS: Final = ("attention", "recurrent", "convolution")
LENGTHS: Final = (64, 256, 1024, 4096)
WIDTHS: Final = (64, 128, 256, 512)
REPEATS: Final = 9


@dataclass(frozen=True)
class Times:
    """Seconds of one forward pass of one layer over one sequence, without gradients, in single precision."""

    processor: str
    torch: str
    seconds: dict[str, list[list[float]]]
    """Mixer → a row for each length, with a column for each width."""

    def of(self, name: str, length: int, width: int) -> float:
        """Give one of them."""
        return self.seconds[name][LENGTHS.index(length)][WIDTHS.index(width)]


def kept() -> Times:
    """Read the times that were measured last."""
    return Times(**json.loads(KEPT.read_text(encoding="utf-8")))


def measure(registry: Registry) -> Times:
    """Time every mixer at every length and width on one thread.

    Repeats go round over all mixers, so that a busy moment of the machine meets each of them; the fastest counts.
    """
    torch.set_num_threads(1)
    best: dict[tuple[str, int, int], float] = {}
    for width in WIDTHS:
        dims = sizes(width, site=fw.Site.DECODER_SELF)
        layers = {name: mixer(registry, name, dims) for name in MIXERS}
        for _, length, name in itertools.product(range(REPEATS), LENGTHS, MIXERS):
            seconds = _seconds(layers[name], length, width)
            best[name, length, width] = min(seconds, best.get((name, length, width), seconds))
    return Times(
        processor=f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        torch=torch.__version__.partition("+")[0],
        seconds={
            name: [[round(best[name, length, width], 8) for width in WIDTHS] for length in LENGTHS] for name in MIXERS
        },
    )


def keep(times: Times) -> None:
    """Write times where the page finds them."""
    KEPT.write_text(json.dumps(asdict(times), indent=1) + "\n", encoding="utf-8")


@torch.no_grad()
def _seconds(layer: fw.Mixer, length: int, width: int) -> float:
    x = torch.randn(1, length, width)
    positions, padding = torch.arange(length)[None], torch.ones(1, length, dtype=torch.bool)
    begin = time.perf_counter()
    layer(x, positions, padding)
    return time.perf_counter() - begin
