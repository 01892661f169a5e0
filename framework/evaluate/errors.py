"""What can go wrong while a model is measured."""

from __future__ import annotations

from framework.errors import TrialError


class Unmeasurable(TrialError):
    """The model's outputs are not finite: its last updates diverged."""
