"""How a trained model is asked to be measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from framework.spec.base import Size, Spec, distinct


class EvaluateSpec(Spec):
    """Beam search as in section 6.1 of arXiv:1706.03762, with the penalty of arXiv:1609.08144, eq. 14."""

    split: Literal["dev", "test"] = "dev"
    metrics: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] | None = None
    """Which of the objective's metrics to measure; null means all of them."""
    beam_size: Size = 4
    """1 is greedy decoding."""
    length_penalty: NonNegativeFloat = 0.6
    """Alpha of ((5 + length) / 6)^alpha; the end piece counts in the length."""
    max_extra_tokens: NonNegativeInt = 50
    """Output pieces allowed beyond the number of source pieces."""
    batch_tokens: PositiveInt = 4000
    """Most padded source positions that are decoded together."""
