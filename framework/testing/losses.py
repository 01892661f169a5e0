"""What is true of every objective's loss, and of what it measures.

Shapes: B batch, T target length.
"""

from __future__ import annotations

import typing
from typing import Any, Final

import torch
from torch import Tensor

from framework.errors import PluginError
from framework.evaluate.metrics import MADE_HERE
from framework.spec import ModelSpec
from framework.testing.examples import ObjectiveSubject, batch_of, examples_of, logits_of, row_of
from framework.testing.telling import kind, same

MADE_ELSEWHERE: Final = frozenset(MADE_HERE) - {"loss"}
"""Metrics that the framework makes of the loss and of what is generated."""
SMOOTHING: Final = 0.1


def loss(subject: ObjectiveSubject) -> None:
    """The loss is a sum over scored tokens, in float32, and their number; nothing else of the logits matters."""
    objective = subject.build()
    for examples in examples_of(objective):
        made = batch_of(objective, examples)
        logits = logits_of(made).requires_grad_()
        result: Any = objective.loss(logits, made, SMOOTHING)
        if not (isinstance(result, tuple) and len(result) == 2 and all(isinstance(part, Tensor) for part in result)):
            raise PluginError(f"loss gives {kind(result)}, and must give the summed loss and the number of tokens")
        total, tokens = result
        said = total.item() if total.numel() == 1 else f"shape {tuple(total.shape)}"
        if total.shape != () or total.dtype != torch.float32 or not total.isfinite():
            raise PluginError(f"loss gives {said} in {total.dtype}, and must give one finite number in float32")
        if tokens.item() != made.scored.sum().item():
            raise PluginError(
                f"loss counts {tokens.item()} tokens where {made.scored.sum().item()} are scored: the mean that is "
                "reported divides by that number"
            )
        total.backward()
        gradient = logits.grad
        if gradient is None or not gradient.isfinite().all():
            raise PluginError("loss has no finite gradient for the logits: nothing would be learned from it")
        if gradient[~made.scored].any():
            raise PluginError("loss depends on logits where nothing is scored: leave out all but batch.scored")
        half, _ = objective.loss(logits_of(made).bfloat16(), made, SMOOTHING)
        if half.dtype != torch.float32:
            raise PluginError(f"loss is summed in {half.dtype} for logits in bfloat16: turn them into float32 first")


def batch_rows(subject: ObjectiveSubject) -> None:
    """The loss of a batch is the sum of its examples' losses: how batches are cut changes no result."""
    objective = subject.build()
    for examples in examples_of(objective):
        made = batch_of(objective, examples)
        logits = logits_of(made)
        total, _ = objective.loss(logits, made, SMOOTHING)
        alone = [objective.loss(logits[row : row + 1], row_of(made, row), SMOOTHING)[0] for row in range(len(logits))]
        if not torch.isclose(total, torch.stack(alone).sum(), rtol=1e-4):
            raise PluginError(
                f"loss gives {total:.5g} for a batch whose examples alone have {torch.stack(alone).sum():.5g} in sum: "
                "do not divide by tokens or rows, which the framework does once over all batches"
            )


def metrics(subject: ObjectiveSubject) -> None:
    """Each metric that it names is the framework's or one that `per_token` gives: finite, and each row's by itself."""
    objective = subject.build()
    named = set(objective.metrics) | set(objective.further_metrics)
    if not objective.metrics:
        raise PluginError("metrics is empty: name what it is measured by, such as 'perplexity'")
    if unknown := objective.architectures - set(typing.get_args(ModelSpec.model_fields["architecture"].annotation)):
        raise PluginError(f"architectures names {', '.join(sorted(unknown))}, which there is not")
    for examples in examples_of(objective):
        made = batch_of(objective, examples)
        logits = logits_of(made)
        given = objective.per_token(logits, made)
        if lacking := named - MADE_ELSEWHERE - set(given):
            raise PluginError(
                f"it names the metric {sorted(lacking)[0]!r}, and per_token gives {', '.join(given)}: name or give it"
            )
        if taken := set(MADE_HERE) & set(given):
            raise PluginError(
                f"per_token gives {sorted(taken)[0]!r}, which the framework makes itself of the loss and of what is "
                "generated: give yours another name"
            )
        for name, measured in given.items():
            if measured.shape != made.scored.shape:
                raise PluginError(
                    f"per_token gives {name!r} of shape {tuple(measured.shape)}, and must give a number for each "
                    f"token, of shape (B, T), here {tuple(made.scored.shape)}"
                )
            if not measured[made.scored].double().isfinite().all():
                raise PluginError(
                    f"per_token gives {name!r} a value that is not finite where a token is scored, and the mean over "
                    "them is reported: leave such tokens out of scored, or say what they count"
                )
            alone = [
                objective.per_token(logits[row : row + 1], row_of(made, row))[name][0] for row in range(len(logits))
            ]
            if not same(torch.stack(alone).float(), measured.float())[made.scored].all():
                raise PluginError(f"per_token gives {name!r} another value for an example among others than by itself")
