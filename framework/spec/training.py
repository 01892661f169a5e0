"""How training is asked to go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from framework.spec.base import INCIDENTAL, Spec
from framework.spec.component import ObjectiveComponent

Beta = Annotated[float, Field(ge=0.0, lt=1.0)]


class TrainSpec(Spec):
    """Adam with the inverse-square-root schedule of section 5.3 of arXiv:1706.03762."""

    objective: ObjectiveComponent = Field(default="translation", validate_default=True)
    steps: PositiveInt = 100_000
    """Optimizer updates; the first is step 1. Section 5.2: 100,000, and 300,000 of the big model."""
    batch_tokens: PositiveInt = 25_000
    """Most padded positions of a batch, on either side: what one update learns from. Section 5.1: about 25,000 of each;
    tensor2tensor: 4096 on each of 8 devices."""
    micro_batch_tokens: PositiveInt | None = None
    """Most padded positions computed at once; a larger batch is computed in parts whose gradients add up to its own,
    and differs from it in what dropout draws. null means whole batches."""
    warmup_steps: PositiveInt = 4000
    """Updates through which the rate rises (section 5.3): 4000 in `transformer_base` of tensor2tensor too, and 8000
    from `transformer_base_v2` on (1.2.5)."""
    learning_rate_factor: PositiveFloat = 1.0
    """Multiplies d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5) (equation 3): 1 in the paper and in
    `transformer_base` of tensor2tensor, and 2 from `transformer_base_v2` on (1.2.5)."""
    adam_beta1: Beta = 0.9
    """Section 5.3."""
    adam_beta2: Beta = 0.98
    """Section 5.3, and `transformer_base` of tensor2tensor; 0.997 in `transformer_base_v3` (1.9.0)."""
    adam_epsilon: PositiveFloat = 1e-9
    """Section 5.3."""
    gradient_clip: PositiveFloat | None = None
    """Largest global norm of the gradients; null means no clipping, as in the paper and in `transformer_base`."""
    label_smoothing: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1
    """The paper's ε_ls, section 5.4."""
    label_smoothing_over: Literal["vocabulary", "others"] = "vocabulary"
    """What ε_ls is spread over: the whole vocabulary, the right piece included, so that this keeps 1 - ε + ε / V
    (Szegedy et al. 2016, arXiv:1512.00567, section 7); or the V - 1 others, so that it keeps 1 - ε, as in the authors'
    code (tensor2tensor, `smoothing_cross_entropy`)."""
    precision: Literal["float32", "tf32", "bfloat16", "float16"] = "float32"
    """Of products in training; weights, optimizer and measuring stay in float32. tf32 rounds their factors to 10 bits
    where a device can; bfloat16 and float16 are autocast, float16 with a scaled loss, whose gradients skip an
    update without counting it where they overflow (Micikevicius et al. 2018, arXiv:1710.03740)."""
    compile: bool = False
    """Whether the model is compiled for training (`torch.compile`), which costs a minute and pays in long runs."""
    log_every: Annotated[PositiveInt, INCIDENTAL] = 50
    """Steps between points of the training curve."""
    evaluate_every: Annotated[PositiveInt, INCIDENTAL] = 500
    """Steps between points of the dev curve; the last step has one too."""
    checkpoint_every: Annotated[PositiveInt, INCIDENTAL] = 500
    """Steps that a kill can cost at most."""
    keep: Annotated[Literal["checkpoint", "weights", "nothing"], INCIDENTAL] = "weights"
    """What stays on disk of a trial once it is measured: the weights and what training would go on from, three times
    their size; the weights, so that another beam measures them again; or nothing, so that it trains again first."""

    def smoothing(self, vocabulary_size: int) -> float:
        """ε_ls as `Objective.loss` takes it, which spreads it over the whole vocabulary.

        1 - ε for the right piece and ε / (V - 1) for each other is the same as ε·V / (V - 1) spread over all V.
        """
        if self.label_smoothing_over == "others":
            return self.label_smoothing * vocabulary_size / (vocabulary_size - 1)
        return self.label_smoothing
