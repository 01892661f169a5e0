"""The inverse-square-root schedule of section 5.3 of Vaswani et al. 2017, arXiv:1706.03762."""

from __future__ import annotations


def learning_rate(step: int, d_model: int, warmup_steps: int, factor: float = 1.0) -> float:
    """The rate of an update: factor · d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5), eq. 3.

    `step` counts optimizer updates from 1, so that the first rate is used once and no rate is zero.
    """
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
