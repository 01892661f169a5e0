"""What a part costs at three lengths, and how that grows.

Shapes: H heads, L length, d_k a head's width.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import linear_regression
from typing import Any, Final

import torch

from framework.contracts import AttentionScore
from framework.model.attention import attend
from framework.testing.subject import ModuleSubject, Sizes, called, tensors

LONGEST: Final = 1024
"""Positions of the longest of three lengths, the others half and a quarter of it, unless a scheme knows fewer."""
_REPEATS: Final = 3


def cost(subject: ModuleSubject) -> str | None:
    """How long forward and backward take at lengths of 256, 512 and 1024, and how that grows: told, not judged."""
    module = subject.build()
    if not subject.calls(module):
        return None
    longest = min(LONGEST, getattr(module, "max_positions", None) or LONGEST)
    lengths = [max(1, longest // 4), max(2, longest // 2), max(3, longest)]
    seconds = [_seconds(subject, module, length) for length in lengths]
    told = ", ".join(f"{1e3 * second:.3g} ms at {length}" for length, second in zip(lengths, seconds, strict=True))
    return f"{told}: grows as length^{growth(lengths, seconds):.1f}"


def growth(lengths: Sequence[int], seconds: Sequence[float]) -> float:
    """Give the exponent e of a time that goes as length^e: the slope of a line of least squares through logarithms."""
    return linear_regression(list(map(math.log, lengths)), list(map(math.log, seconds))).slope


def passes(subject: ModuleSubject, module: Any, length: int) -> list[Callable[[], Any]]:
    """Give what is timed: each method that the framework calls; a score inside attention, as a model runs it."""
    calls = [
        call.with_(**{name: given.requires_grad_() for name, given in call.floats.items()})
        for call in subject.calls(module, Sizes(rows=1, queries=length, keys=length))
    ]
    if isinstance(module, AttentionScore):
        query, key = calls[0].floats.values()  # (1, H, L, d_k) each
        value = torch.randn(*key.shape[:3], subject.dims.d_v, generator=torch.Generator().manual_seed(3))
        return [partial(attend, module, query, key, value.requires_grad_())]
    return [partial(called, module, call) for call in calls]


def _seconds(subject: ModuleSubject, module: Any, length: int) -> float:
    """The shortest of a few runs, as all that disturbs one makes it longer."""
    timed = passes(subject, module, length)
    took = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        for forward in timed:
            results = [result.sum() for result in tensors(forward()) if result.requires_grad]
            if results:
                torch.stack(results).sum().backward()
        took.append(time.perf_counter() - started)
    return min(took)
