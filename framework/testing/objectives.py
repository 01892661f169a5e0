"""What is true of every objective's batches.

Shapes: N examples, B batch, T target length, S source length.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Generator, Tensor

from framework.contracts import SPECIAL_PIECES, Batch
from framework.errors import PluginError
from framework.testing.examples import VOCABULARY, ObjectiveSubject, batch_of, examples_of, pieces_of
from framework.testing.losses import batch_rows, loss, metrics
from framework.testing.property import Property
from framework.testing.telling import kind


def batch(subject: ObjectiveSubject) -> None:
    """Ids, padding and scored have one shape and the right dtype, and ids are those of a vocabulary; nothing is scored
    at padding; a source is there where an encoder-decoder reads one.
    """
    objective = subject.build()
    for examples in examples_of(objective):
        made: Any = batch_of(objective, examples)
        if not isinstance(made, Batch):
            raise PluginError(f"batch gives {kind(made)}, and must give a fw.Batch")
        _require_fields(made, ("target_input", "target_output"), ("target_padding", "scored"), len(examples[0]), "T")
        if (made.source is None) != (made.source_padding is None) or (
            made.source is None and objective.architectures == {"encoder_decoder"}
        ):
            raise PluginError(
                "batch gives no source with a padding of its shape: an encoder_decoder reads both, and others may have "
                "neither"
            )
        if made.source is not None:
            _require_fields(made, ("source",), ("source_padding",), len(examples[0]), "S")
        if (made.scored & ~made.target_padding).any():
            raise PluginError("batch has scored True at padding: what stands there must not enter the loss")
        if not made.scored.any():
            raise PluginError("batch scores no token at all: there is nothing to learn; True = enters the loss")


def _require_fields(made: Batch, ids: tuple[str, ...], booleans: tuple[str, ...], rows: int, letter: str) -> None:
    width = getattr(made, ids[0]).shape[-1]
    for name in (*ids, *booleans):
        tensor: Tensor = getattr(made, name)
        dtype = torch.int64 if name in ids else torch.bool
        if tensor.shape != (rows, width) or tensor.dtype != dtype:
            raise PluginError(
                f"batch gives {name} of {tensor.dtype} and shape {tuple(tensor.shape)}, and must give {dtype} of "
                f"shape (B, {letter}), here ({rows}, {width})"
            )
        if name in ids and tensor.numel() and not 0 <= tensor.min() <= tensor.max() < VOCABULARY:
            raise PluginError(
                f"batch gives a {name} of ids from {tensor.min()} to {tensor.max()} for a vocabulary of {VOCABULARY}: "
                f"the ids of the examples and the special ones, below {SPECIAL_PIECES}, are all there are"
            )


def lengths(subject: ObjectiveSubject) -> None:
    """`lengths` says of each example how wide a batch of it alone is, on the longer side."""
    objective = subject.build()
    for sources, targets in examples_of(objective):
        said: Any = objective.lengths(pieces_of(sources), pieces_of(targets))
        if not (isinstance(said, Tensor) and said.dtype == torch.int64 and said.shape == (len(sources),)):
            got = f"{kind(said)} of shape {tuple(said.shape)}" if isinstance(said, Tensor) else kind(said)
            raise PluginError(f"lengths gives {got}, and must give int64 of shape (N,), here ({len(sources)},)")
        for length, source, target in zip(said.tolist(), sources, targets, strict=True):
            made = batch_of(objective, ([source], [target]))
            width = max(made.target_input.size(1), 0 if made.source is None else made.source.size(1))
            if length != width:
                raise PluginError(
                    f"lengths gives {length} for a source of {len(source)} pieces and a target of {len(target)}, and "
                    f"batch makes it {width} wide, special pieces included: batches are cut by it, so both must agree"
                )


def cut_otherwise(subject: ObjectiveSubject) -> None:
    """An example is the same in any batch, padded behind its own width alone; equal generators give equal batches."""
    objective = subject.build()
    for sources, targets in examples_of(objective):
        whole, again = batch_of(objective, (sources, targets)), batch_of(objective, (sources, targets))
        generator = Generator().manual_seed(0)
        alone = [
            objective.batch([source], [target], generator) for source, target in zip(sources, targets, strict=True)
        ]
        for name in ("target_input", "target_output", "target_padding", "scored", "source", "source_padding"):
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
                if name.endswith("padding") and (tensor[row, len(part) :].any() or not part.all()):
                    raise PluginError(
                        f"batch gives a {name} for example {row} that does not say True at its own {len(part)} "
                        "positions and False behind them: what is read would depend on the others of a batch"
                    )


def input_unchanged(subject: ObjectiveSubject) -> None:
    """Examples are not changed in place."""
    objective = subject.build()
    for sources, targets in examples_of(objective):
        before = [pieces.clone() for pieces in (*sources, *targets)]
        batch_of(objective, (sources, targets))
        if not all(map(torch.equal, before, (*sources, *targets))):
            raise PluginError("batch changes an example in place: make new tensors, the next epoch reads these")


def prompt(subject: ObjectiveSubject) -> None:
    """With empty targets there is a batch; for a decoder, it holds what generation starts from: all that is read
    before the target.
    """
    objective = subject.build()
    nothing = torch.empty(0, dtype=torch.int64)
    for sources, targets in examples_of(objective):
        made = batch_of(objective, (sources, [nothing] * len(sources)))
        if objective.architectures == {"encoder_only"}:
            continue
        if not made.target_padding.any(1).all():
            raise PluginError(
                "batch gives an empty target_input for an empty target, and generation needs a piece to start from, "
                "such as fw.BOS"
            )
        for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
            start, whole = (batch_of(objective, ([source], [said])) for said in (nothing, target))
            length = start.target_input.size(1)
            begins = torch.equal(start.target_input, whole.target_input[:, :length])
            if not begins or whole.target_output[0, length - 1] != target[0]:
                raise PluginError(
                    f"batch gives example {row} with an empty target something else than what stands before its target "
                    "in training: generation would start from what is not trained"
                )


def next_token(subject: ObjectiveSubject) -> None:
    """For a decoder, what is said at a position is what it reads at the next."""
    objective = subject.build()
    if "encoder_only" in objective.architectures:
        return
    for examples in examples_of(objective):
        made = batch_of(objective, examples)
        said, read = made.target_output[:, :-1], made.target_input[:, 1:]
        asked = made.scored[:, :-1] & made.target_padding[:, 1:]
        if (said != read)[asked].any():
            raise PluginError(
                "batch gives a target_output that is not target_input one position later: a decoder says the token "
                "that follows, and masks tell by its position whether it is scored"
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
