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
    """Optimizer updates; the first is step 1."""
    batch_tokens: PositiveInt = 25_000
    """Most padded positions of a batch, on either side."""
    warmup_steps: PositiveInt = 4000
    learning_rate_factor: PositiveFloat = 1.0
    """Multiplies d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)."""
    adam_beta1: Beta = 0.9
    adam_beta2: Beta = 0.98
    adam_epsilon: PositiveFloat = 1e-9
    gradient_clip: PositiveFloat | None = None
    """Largest global norm of the gradients; null means no clipping, as in the paper."""
    label_smoothing: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1
    """The paper's ε_ls, spread over the whole vocabulary (Szegedy et al. 2015)."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the forward pass; weights and optimizer stay in float32."""
    log_every: Annotated[PositiveInt, INCIDENTAL] = 50
    """Steps between points of the training curve."""
    evaluate_every: Annotated[PositiveInt, INCIDENTAL] = 500
    """Steps between points of the dev curve; the last step has one too."""
    checkpoint_every: Annotated[PositiveInt, INCIDENTAL] = 500
    """Steps that a kill can cost at most."""
