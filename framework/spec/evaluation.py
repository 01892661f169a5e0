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
    moses_language: str = "de"
    """Language of the Moses tokenizer of `bleu_compound_split`, the target's, such as de or en."""
    average_last: PositiveInt = 1
    """How many weights of the end of training are averaged into those that are measured; 1 measures the last alone.
    Section 6.1 averages 5 of the base model and 20 of the big one for the test scores of Table 2. Table 3 is measured
    on newstest2013 without it. Training keeps what its own row averages: another row of the same training that averages
    others trains again for them."""
    average_every: PositiveInt = 1000
    """Steps between the weights that are averaged; those of the last update are always among them."""
