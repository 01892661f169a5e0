"""Another device, played on the CPU: tensors that say they are elsewhere while their numbers stay here.

The meta device has no numbers, so that whatever looks at one fails there and not on an accelerator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE: Final = "meta"
"""What the tensors say; no part of a model has reason to name it."""

_TAKES_BOTH: Final = frozenset(
    {
        torch.ops.aten.copy_,
        torch.ops.aten.index,  # indices may be on the CPU
        torch.ops.aten._pack_padded_sequence,  # lengths are always on the CPU
        torch.ops.aten._pad_packed_sequence,
    }
)


class Elsewhere(Tensor):
    """A tensor that says it is on another device."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Elsewhere:
        tensor: Elsewhere = Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(ELSEWHERE),
            requires_grad=held.requires_grad,
        )
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # as torch calls it, which its annotation is not
        cls, function: Any, types: Any, arguments: Sequence[Any] = (), named: Mapping[str, Any] | None = None
    ) -> Any:
        return _run(function, arguments, named or {})


@contextmanager
def elsewhere() -> Iterator[None]:
    """Let `device=` make tensors elsewhere.

    An operation that mixes them with the CPU's raises `RuntimeError`, as on a GPU.
    """
    with _Making(), _Running():  # type: ignore[no-untyped-call]
        yield


def moved(module: nn.Module) -> None:
    """Let a module's parameters and buffers say that they are elsewhere."""
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False):
            setattr(owner, name, nn.Parameter(Elsewhere(parameter.detach()), parameter.requires_grad))
        for name, buffer in owner.named_buffers(recurse=False):
            setattr(owner, name, Elsewhere(buffer))


class _Running(TorchDispatchMode):
    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: Sequence[Any] = (), named: Mapping[str, Any] | None = None
    ) -> Any:
        return _run(function, arguments, named or {})


class _Making(TorchFunctionMode):
    """`torch.tensor(numbers, device=…)` hands its numbers over below the level where operations are seen."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        arguments: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(named or {})
        if function in (torch.tensor, torch.as_tensor) and _is_elsewhere(named.get("device")):
            del named["device"]
            made = function(*arguments, **named)
            return made if isinstance(made, Elsewhere) else Elsewhere(made)
        return function(*arguments, **named)


def _run(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    leaves = [leaf for leaf in tree_leaves((arguments, named)) if isinstance(leaf, Tensor)]
    there = any(isinstance(leaf, Elsewhere) for leaf in leaves)
    here = any(not isinstance(leaf, Elsewhere) and leaf.dim() for leaf in leaves)  # single numbers go with either
    if there and here and function.overloadpacket not in _TAKES_BOTH:
        raise RuntimeError(
            f"{function.overloadpacket.__name__} is given tensors on two devices, one of them made here without saying "
            "where: make tensors with device=x.device, where x is an argument, or register them as buffers"
        )
    held_named = dict(named)
    if named.get("device") is not None:
        there = _is_elsewhere(named["device"])
        held_named["device"] = "cpu"
    result = function(*tree_map(_held, arguments), **tree_map(_held, held_named))
    if not there:
        return result
    if function.overloadpacket is torch.ops.aten._pack_padded_sequence:
        return _wrapped(result[0]), result[1]  # sizes of batches stay on the CPU
    return return_and_correct_aliasing(function, arguments, named, tree_map(_wrapped, result))


def _held(value: Any) -> Any:
    return value.held if isinstance(value, Elsewhere) else value


def _wrapped(value: Any) -> Any:
    return Elsewhere(value) if isinstance(value, Tensor) else value


def _is_elsewhere(device: Any) -> bool:
    return device is not None and torch.device(device).type == ELSEWHERE
