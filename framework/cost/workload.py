"""What determines how long an update takes and what it computes: equal rows are counted and measured once."""

from __future__ import annotations

import os
from typing import Any, Final

import torch

from framework.identity import key_of, weights_identity
from framework.registry import Registry
from framework.spec import TrialSpec, identity
from framework.trial import environment

_OF_TRAINING: Final = (
    *("objective", "batch_tokens", "micro_batch_tokens", "precision", "compile", "gradient_clip"),
    *("label_smoothing", "label_smoothing_over"),
)
_PROBABILITIES: Final = ("dropout", "attention_dropout", "feed_forward_dropout")


def workload(spec: TrialSpec, registry: Registry) -> dict[str, Any]:
    """Give the model and the parts of its training that make up an update, as JSON values.

    Seeds, steps and the schedule are none of it, and of a probability only whether it is 0.
    """
    whole = weights_identity(spec, spec.data_key or "", registry)
    model = {name: value > 0 if name in _PROBABILITIES else value for name, value in whole["model"].items()}
    train = {name: whole["train"][name] for name in _OF_TRAINING}
    train["label_smoothing"] = train["label_smoothing"] > 0
    text = {"tokenizer": identity(spec.data.tokenizer), "max_pieces": spec.data.max_pieces}
    return {**whole, "model": model, "train": train, "text": text}


def probe_key(spec: TrialSpec, registry: Registry, device: torch.device) -> str:
    """Identify what a probe measures: a workload, how its model is measured, and what computes it."""
    found = environment(device)
    machine = {name: found[name] for name in ("torch", "device", "cpu_capability")}
    return key_of(
        {
            "workload": workload(spec, registry),
            "evaluate": identity(spec.evaluate),
            "machine": {**machine, "host": os.uname().nodename},
        }
    )
