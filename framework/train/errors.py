"""What can go wrong while weights are found."""

from __future__ import annotations

from pathlib import Path

from framework.errors import TrialError


class Diverged(Exception):
    """The loss or its gradients are no longer finite. A finding about the row, not a fault of the program.

    `step` is the update that could not be made: the weights are still those of the step before it.
    """

    def __init__(self, step: int, reason: str, last_finite_loss: float | None) -> None:
        self.step = step
        self.reason = reason
        self.last_finite_loss = last_finite_loss
        """Of the last update that was made, per token in nats; None if there was none."""
        super().__init__(f"diverged at step {step}: {reason}; last finite loss: {last_finite_loss}")


class CheckpointUnreadable(TrialError):
    """A checkpoint is torn, or of another model."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}. Without this file, training starts again.")
