"""Arithmetic and memory of one update, counted on a model without storage: nothing is computed, shapes are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, UntypedStorage
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from framework.contracts import Objective
from framework.cost.batch import TypicalBatch
from framework.cost.workload import workload
from framework.identity import key_of
from framework.model.assemble import assemble
from framework.model.transformer import Transformer
from framework.registry import Registry
from framework.spec import TrialSpec

META: Final = torch.device("meta")

PASSES: Final = 3
"""Forward passes that an update amounts to: the backward pass takes two products for each, one for either factor."""

OF_WEIGHTS: Final = 4
"""Tensors that training holds for each of weights: themselves, their gradient, and Adam's two means."""


@dataclass(frozen=True, slots=True)
class Count:
    """One update of a model."""

    flops: int
    """Of products of matrices, convolutions and attention, forward and backward: a multiplication and an addition are
    two. What is done number by number is not counted, as is usual (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
    """
    state_bytes: int
    """Weights, their gradients, and Adam's two means."""
    activation_bytes: int
    """What the forward pass keeps for the backward pass, in float32, of as many examples as are computed at once. With
    attention's weights, which fused kernels do not keep."""


class Counting:
    """Counts updates, equal ones once.

    Layers of a stack are alike: a deep model is as much more than one of two layers as that is than one of one. Where
    the number of weights says otherwise, the whole model is counted.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._counted: dict[str, Count] = {}

    def of(self, spec: TrialSpec, batch: TypicalBatch, objective: Objective) -> Count:
        """Count an update of a row at a typical batch.

        Raises whatever a plugin raises that looks at numbers, of which there are none here.
        """
        layers = spec.model.num_layers
        if layers > 2:
            one, two = (self._of_layers(number, spec, batch, objective) for number in (1, 2))
            deep = Count(*(_extended(layers, *pair) for pair in zip(_figures(one), _figures(two), strict=True)))
            if deep.state_bytes == _state_bytes(self._without_storage(spec, layers)):
                return deep
        return self._of_layers(layers, spec, batch, objective)

    def _of_layers(self, layers: int, spec: TrialSpec, batch: TypicalBatch, objective: Objective) -> Count:
        alike = workload(spec, self._registry)
        key = key_of({**alike, "model": {**alike["model"], "num_layers": layers}, "batch": str(batch)})
        if key not in self._counted:
            self._counted[key] = _count(self._without_storage(spec, layers), spec, batch, objective)
        return self._counted[key]

    def _without_storage(self, spec: TrialSpec, layers: int) -> Transformer:
        with META:
            return assemble(spec.model.model_copy(update={"num_layers": layers}), spec.data, self._registry)


def _figures(count: Count) -> tuple[int, int, int]:
    return count.flops, count.state_bytes, count.activation_bytes


def _extended(layers: int, one: int, two: int) -> int:
    return one + (layers - 1) * (two - one)


def _count(model: Transformer, spec: TrialSpec, batch: TypicalBatch, objective: Objective) -> Count:
    part = batch.part(objective, spec.train.micro_batch_tokens)
    given = model.train().restricted(part.made(objective).to(META))
    kept = _Kept(model)
    with FlopCounterMode(display=False) as counter, saved_tensors_hooks(kept.add, lambda tensor: tensor):
        objective.loss(model(given), given, spec.train.smoothing(spec.data.tokenizer.vocabulary_size))
    flops = PASSES * counter.get_total_flops() * batch.examples // part.examples
    return Count(flops, _state_bytes(model), kept.bytes)


def _state_bytes(model: Transformer) -> int:
    return OF_WEIGHTS * sum(weights.nbytes for weights in model.parameters())


class _Kept:
    """The memory behind saved tensors, shared memory once; that of weights is counted with these."""

    def __init__(self, model: Transformer) -> None:
        self._weights = {_address(weights) for weights in model.parameters()}
        # Held, so that no address is given to another meanwhile.
        self._storages: dict[int, UntypedStorage] = {}

    def add(self, tensor: Tensor) -> Tensor:
        if (address := _address(tensor)) not in self._weights:
            self._storages[address] = tensor.untyped_storage()
        return tensor

    @property
    def bytes(self) -> int:
        return sum(storage.nbytes() for storage in self._storages.values())


def _address(tensor: Tensor) -> int:
    """Of the storage itself: on the meta device there is no memory to tell storages apart by."""
    return int(tensor.untyped_storage()._cdata)
