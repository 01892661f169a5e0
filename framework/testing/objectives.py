"""What is true of every objective.

Shapes: N examples, B batch, T target length, V vocabulary.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import torch
from torch import Generator, Tensor

from framework.contracts import SPECIAL_PIECES, Batch, Objective
from framework.errors import PluginError
from framework.spec import ModelSpec, Options
from framework.testing.property import Property
from framework.testing.subject import Subject
from framework.testing.telling import kind, same

VOCABULARY: Final = 20
_SOURCES: Final = (5, 1, 3)
_TARGETS: Final = (4, 6, 2)
"""Pieces of the examples."""
MADE_ELSEWHERE: Final = frozenset({"perplexity", "bleu", "exact_match"})
"""Metrics that the framework makes of the loss and of what is generated."""
SMOOTHING: Final = 0.1


@dataclass(frozen=True)
class ObjectiveSubject(Subject):
    """An objective with its options."""

    tried_on: ClassVar[str] = "a few small examples"

    options: Options

    def build(self) -> Objective:
        objective: Objective = self.plugin(self.options)
        return objective


Examples = tuple[list[Tensor], list[Tensor]]


def batch(subject: ObjectiveSubject) -> None:
    """Ids, padding and scored have one shape and the right dtype; nothing is scored at padding; a source is there where
    an encoder-decoder reads one.
    """
    objective = subject.build()
    for examples in _examples(objective):
        made: Any = _batch(objective, examples)
        if not isinstance(made, Batch):
            raise PluginError(f"batch gives {kind(made)}, and must give a fw.Batch")
        whole = made.target_input.shape
        fields = {
            "target_input": torch.int64,
            "target_output": torch.int64,
            "target_padding": torch.bool,
            "scored": torch.bool,
        }
        for name, dtype in fields.items():
            tensor = getattr(made, name)
            if tensor.shape != whole or tensor.dim() != 2 or tensor.dtype != dtype or len(tensor) != len(examples[0]):
                raise PluginError(
                    f"batch gives {name} of {tensor.dtype} and shape {tuple(tensor.shape)}, and must give {dtype} of "
                    f"shape (B, T), here ({len(examples[0])}, {whole[-1]})"
                )
        if (made.scored & ~made.target_padding).any():
            raise PluginError("batch has scored True at padding: what stands there must not enter the loss")
        if not made.scored.any():
            raise PluginError("batch scores no token at all: there is nothing to learn; True = enters the loss")
        ids = torch.cat([made.target_input.flatten(), made.target_output.flatten()])
        if ids.min() < 0 or ids.max() >= VOCABULARY:
            raise PluginError(
                f"batch gives ids from {ids.min()} to {ids.max()} for a vocabulary of {VOCABULARY}: the ids of the "
                f"examples and the special ones, below {SPECIAL_PIECES}, are all there are"
            )
        reads = objective.architectures == {"encoder_decoder"}
        if reads and (
            made.source is None or made.source_padding is None or made.source.shape != made.source_padding.shape
        ):
            raise PluginError("batch gives no source with a padding of its shape, and an encoder_decoder reads one")


def lengths(subject: ObjectiveSubject) -> None:
    """`lengths` says of each example how wide a batch of it alone is, on the longer side."""
    objective = subject.build()
    for sources, targets in _examples(objective):
        said: Any = objective.lengths(_pieces(sources), _pieces(targets))
        if not (isinstance(said, Tensor) and said.dtype == torch.int64 and said.shape == (len(sources),)):
            got = f"{kind(said)} of shape {tuple(said.shape)}" if isinstance(said, Tensor) else kind(said)
            raise PluginError(f"lengths gives {got}, and must give int64 of shape (N,), here ({len(sources)},)")
        for length, source, target in zip(said.tolist(), sources, targets, strict=True):
            made = _batch(objective, ([source], [target]))
            width = max(made.target_input.size(1), 0 if made.source is None else made.source.size(1))
            if length != width:
                raise PluginError(
                    f"lengths gives {length} for a source of {len(source)} pieces and a target of {len(target)}, and "
                    f"batch makes it {width} wide, special pieces included: batches are cut by it, so both must agree"
                )


def cut_otherwise(subject: ObjectiveSubject) -> None:
    """An example is the same in any batch, and equal generators give equal batches."""
    objective = subject.build()
    for sources, targets in _examples(objective):
        whole, again = _batch(objective, (sources, targets)), _batch(objective, (sources, targets))
        generator = Generator().manual_seed(0)
        alone = [
            objective.batch([source], [target], generator) for source, target in zip(sources, targets, strict=True)
        ]
        for name in ("target_input", "target_output", "scored", "source"):
            tensor: Tensor | None = getattr(whole, name)
            if tensor is None:
                continue
            if not torch.equal(tensor, getattr(again, name)):
                raise PluginError(
                    f"batch gives another {name} for the same examples and an equal generator: draw from the generator "
                    "that it is given, and from no other"
                )
            for row, single in enumerate(alone):
                part = getattr(single, name)[0]
                if not torch.equal(part, tensor[row, : len(part)]):
                    raise PluginError(
                        f"batch gives example {row} another {name} among others than by itself: draw example by "
                        "example, for each as much as it needs itself, so that batches can be cut anew"
                    )


def input_unchanged(subject: ObjectiveSubject) -> None:
    """Examples are not changed in place."""
    objective = subject.build()
    for sources, targets in _examples(objective):
        before = [pieces.clone() for pieces in (*sources, *targets)]
        _batch(objective, (sources, targets))
        if not all(map(torch.equal, before, (*sources, *targets))):
            raise PluginError("batch changes an example in place: make new tensors, the next epoch reads these")


def prompt(subject: ObjectiveSubject) -> None:
    """With empty targets there is a batch; for a decoder, it holds what generation starts from."""
    objective = subject.build()
    for sources, _ in _examples(objective):
        made = _batch(objective, (sources, [torch.empty(0, dtype=torch.int64)] * len(sources)))
        if objective.architectures != {"encoder_only"} and not made.target_padding.any(1).all():
            raise PluginError(
                "batch gives an empty target_input for an empty target, and generation needs a piece to start from, "
                "such as fw.BOS"
            )


def next_token(subject: ObjectiveSubject) -> None:
    """For a decoder, what is said at a position is what it reads at the next."""
    objective = subject.build()
    if "encoder_only" in objective.architectures:
        return
    for examples in _examples(objective):
        made = _batch(objective, examples)
        said, read = made.target_output[:, :-1], made.target_input[:, 1:]
        asked = made.scored[:, :-1] & made.target_padding[:, 1:]
        if (said != read)[asked].any():
            raise PluginError(
                "batch gives a target_output that is not target_input one position later: a decoder says the token "
                "that follows, and masks tell by its position whether it is scored"
            )


def loss(subject: ObjectiveSubject) -> None:
    """The loss is a sum over scored tokens, in float32, and their number; nothing else of the logits matters."""
    objective = subject.build()
    for examples in _examples(objective):
        made = _batch(objective, examples)
        logits = _logits(made).requires_grad_()
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
        half, _ = objective.loss(_logits(made).bfloat16(), made, SMOOTHING)
        if half.dtype != torch.float32:
            raise PluginError(f"loss is summed in {half.dtype} for logits in bfloat16: turn them into float32 first")


def batch_rows(subject: ObjectiveSubject) -> None:
    """The loss of a batch is the sum of its examples' losses: how batches are cut changes no result."""
    objective = subject.build()
    for examples in _examples(objective):
        made = _batch(objective, examples)
        logits = _logits(made)
        total, _ = objective.loss(logits, made, SMOOTHING)
        alone = [objective.loss(logits[row : row + 1], _row(made, row), SMOOTHING)[0] for row in range(len(logits))]
        if not torch.isclose(total, torch.stack(alone).sum(), rtol=1e-4):
            raise PluginError(
                f"loss gives {total:.5g} for a batch whose examples alone have {torch.stack(alone).sum():.5g} in sum: "
                "do not divide by tokens or rows, which the framework does once over all batches"
            )


def metrics(subject: ObjectiveSubject) -> None:
    """Each metric that it names is the framework's or one that `per_token` gives, for each row by itself."""
    objective = subject.build()
    named = set(objective.metrics) | set(objective.further_metrics)
    if not objective.metrics:
        raise PluginError("metrics is empty: name what it is measured by, such as 'perplexity'")
    if unknown := objective.architectures - set(typing.get_args(ModelSpec.model_fields["architecture"].annotation)):
        raise PluginError(f"architectures names {', '.join(sorted(unknown))}, which there is not")
    for examples in _examples(objective):
        made = _batch(objective, examples)
        logits = _logits(made)
        given = objective.per_token(logits, made)
        if lacking := named - MADE_ELSEWHERE - set(given):
            raise PluginError(
                f"it names the metric {sorted(lacking)[0]!r}, and per_token gives {', '.join(given)}: name or give it"
            )
        for name, measured in given.items():
            if measured.shape != made.scored.shape:
                raise PluginError(
                    f"per_token gives {name!r} of shape {tuple(measured.shape)}, and must give a number for each "
                    f"token, of shape (B, T), here {tuple(made.scored.shape)}"
                )
            alone = [objective.per_token(logits[row : row + 1], _row(made, row))[name][0] for row in range(len(logits))]
            if not same(torch.stack(alone).float(), measured.float())[made.scored].all():
                raise PluginError(f"per_token gives {name!r} another value for an example among others than by itself")


def _examples(objective: Objective) -> list[Examples]:
    """Pairs, and texts by themselves where they are of use."""
    generator = Generator().manual_seed(1)
    pairs = _drawn(_SOURCES, generator), _drawn(_TARGETS, generator)
    texts = _drawn((0, 0, 0), generator), _drawn(_TARGETS, generator)
    return [pairs] if objective.needs_sources else [pairs, texts]


def _drawn(lengths: Sequence[int], generator: Generator) -> list[Tensor]:
    return [torch.randint(SPECIAL_PIECES, VOCABULARY, (length,), generator=generator) for length in lengths]


def _batch(objective: Objective, examples: Examples) -> Batch:
    return objective.batch(*examples, Generator().manual_seed(0))


def _pieces(sequences: Sequence[Tensor]) -> Tensor:
    return torch.tensor([len(sequence) for sequence in sequences])  # (N,)


def _logits(made: Batch) -> Tensor:
    return torch.randn(*made.target_input.shape, VOCABULARY, generator=Generator().manual_seed(2))  # (B, T, V)


def _row(made: Batch, row: int) -> Batch:
    """Give one example, as wide as all of them."""
    one = slice(row, row + 1)
    return Batch(
        target_input=made.target_input[one],
        target_output=made.target_output[one],
        target_padding=made.target_padding[one],
        scored=made.scored[one],
        source=None if made.source is None else made.source[one],
        source_padding=None if made.source_padding is None else made.source_padding[one],
    )


PROPERTIES: Final = (
    Property(batch, founding=True),
    Property(lengths),
    Property(cut_otherwise),
    Property(input_unchanged),
    Property(prompt),
    Property(next_token),
    Property(loss),
    Property(batch_rows),
    Property(metrics),
)
