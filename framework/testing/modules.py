"""What is true of every part of a model, whatever its kind.

Shapes: B batch, L length; a tensor that has a row for each example has B first, and `1` where all share one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor, nn

from framework.errors import PluginError
from framework.model.assemble import initialize
from framework.testing.device import Elsewhere, elsewhere, moved
from framework.testing.subject import Call, ModuleSubject, Sizes, called, tensors
from framework.testing.telling import first, require_dtype, require_finite, same

LARGE: Final = 100.0
"""Size of a vector that takes another's place, beside 1: what leaks must not drown in rounding."""


def dtype(subject: ModuleSubject) -> None:
    """Vectors of float32 and of bfloat16 come back as such, finite; under autocast to bfloat16 either trains."""
    module = subject.build()
    for kept in (torch.float32, torch.bfloat16):
        module.to(kept)
        for call in _cast(subject.calls(module), kept):
            results = tensors(called(module, call))
            require_dtype(call.method, results, kept)
            require_finite(call.method, results, f"{kept}")
    # How `train.precision: bfloat16` runs: weights stay in float32, projections give bfloat16, norms and sums float32.
    module = subject.build().train()
    for given in (torch.float32, torch.bfloat16):
        _backward(module, list(_cast(subject.calls(module), given)), f"{given} under autocast", autocast=True)


def finite(subject: ModuleSubject) -> None:
    """A random input gives finite numbers."""
    module = subject.build()
    for training in (True, False):
        for call in subject.calls(module.train(training)):
            require_finite(call.method, tensors(called(module, call)), "a random input")


def input_unchanged(subject: ModuleSubject) -> None:
    """No argument is changed in place."""
    module = subject.build()
    for training in (False, True):
        for call in subject.calls(module.train(training)):
            copies = {name: None if given is None else given.clone() for name, given in call.arguments.items()}
            called(module, call.with_(**copies))
            for name, before in call.arguments.items():
                after = copies[name]
                if before is not None and after is not None and not torch.equal(after, before):
                    raise PluginError(
                        f"{call.method} changes its {name} in place: make a new tensor, others read this one"
                    )


def batch_rows(subject: ModuleSubject) -> None:
    """Rows of a batch do not meet: what one gives does not depend on the others, in training either."""
    module = subject.build()
    for training in (False, True):  # what is normalised over a batch shows in training only
        for call in subject.calls(module.train(training), Sizes(rows=3)):
            for row, (before, after) in itertools.product(range(3), _other_rows(module, call)):
                if not (equal := same(after(row)[row], before[row])).all():
                    raise PluginError(
                        f"{call.method} lets rows of a batch meet: row {row} changed at {first(~equal)} when the "
                        f"others did{', in training' if training else ''}; compute each row from its own numbers alone"
                    )


def one_row(subject: ModuleSubject) -> None:
    """A batch of one gives what that row gives among others."""
    module = subject.build()
    for call in subject.calls(module):
        alone = {name: None if given is None else given[:1] for name, given in call.arguments.items()}
        for whole, single in zip(
            tensors(called(module, call)), tensors(called(module, call.with_(**alone))), strict=True
        ):
            if single.shape[1:] != whole.shape[1:] or single.size(0) != 1 or not same(single, whole[:1]).all():
                raise PluginError(
                    f"{call.method} gives something else for a batch of one, of shape {tuple(single.shape)}, than for "
                    "the same row of a larger batch: leave the first axis alone, and squeeze no axis unless it is named"
                )


def deterministic(subject: ModuleSubject) -> None:
    """Two calls in evaluation give the same, whatever was drawn in between."""
    module = subject.build()
    earlier = _all_results(module, subject.calls(module), seed=1)
    for (method, before), (_, after) in zip(earlier, _all_results(module, subject.calls(module), seed=2), strict=True):
        if not same(after, before).all():
            raise PluginError(
                f"{method} in evaluation gives something else in a second call: draw numbers and keep count in "
                "training only (self.training)"
            )


def after_training(subject: ModuleSubject) -> None:
    """A call in training leaves nothing behind that evaluation reads."""
    module = subject.build()
    earlier = _all_results(module, subject.calls(module), seed=1)
    _all_results(module.train(), subject.calls(module), seed=1)
    for (method, before), (_, after) in zip(
        earlier, _all_results(module.eval(), subject.calls(module), seed=1), strict=True
    ):
        if not same(after, before).all():
            raise PluginError(
                f"{method} in evaluation gives something else after a call in training: let nothing carry over but the "
                "weights that the optimizer changes"
            )


def gradients(subject: ModuleSubject) -> None:
    """Every parameter gets a gradient, and all gradients are finite.

    One that is zero in all its entries counts where other weights and longer input leave it so: not behind a gate
    that starts at zero.
    """
    module = subject.build().train()
    _backward(module, subject.calls(module), "a random input")
    learned = {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}
    for name, parameter in learned.items():
        if parameter.grad is None:
            raise PluginError(
                f"parameter {name!r} gets no gradient: no result depends on it, so it would never learn; use it, or "
                "make it a buffer if it is fixed"
            )
    if all(parameter.grad.any() for parameter in learned.values() if parameter.grad is not None):
        return
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in learned.values():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    _backward(module, subject.calls(module, Sizes(queries=40, keys=40)), "a random input")
    for name, parameter in learned.items():
        if parameter.grad is not None and not parameter.grad.any():
            raise PluginError(
                f"parameter {name!r} gets a gradient of exactly zero, with other weights too, so it would never learn: "
                "let results depend on it, or make it a buffer if it is fixed"
            )


def zero_vectors(subject: ModuleSubject) -> None:
    """Vectors that are all zero, or all alike, give finite results and finite gradients."""
    for value in (0.0, 1.0):
        module = subject.build().train()
        calls = [
            call.with_(**{name: torch.full_like(given, value) for name, given in call.floats.items()})
            for call in subject.calls(module)
        ]
        _backward(module, calls, "vectors of zeros" if value == 0.0 else "vectors that are all alike")


def save_and_load(subject: ModuleSubject) -> None:
    """What is saved after a call in training and loaded into a new object gives the same there."""
    saved = subject.build(seed=0)
    _all_results(saved.train(), subject.calls(saved), seed=1)
    saved.eval()
    loaded = subject.build(seed=1)
    loaded.load_state_dict(saved.state_dict())
    for (method, before), (_, after) in zip(
        _all_results(saved, subject.calls(saved), seed=2),
        _all_results(loaded, subject.calls(loaded), seed=2),
        strict=True,
    ):
        if not torch.equal(before, after):
            raise PluginError(
                f"{method} gives something else once saved and loaded: it uses numbers that state_dict() does not "
                "hold; register them as parameters or as buffers that persist"
            )


def reset_parameters(subject: ModuleSubject) -> None:
    """Filling it from a seed leaves no parameter or buffer as it was, and the same seed gives the same numbers."""
    filled = []
    for junk in (float("nan"), -7.0):
        module: nn.Module = subject.new()
        for owner_name, owner in module.named_modules():
            if _owned(owner) and not callable(getattr(owner, "reset_parameters", None)):
                raise PluginError(
                    f"{type(owner).__name__} {owner_name or 'itself'} owns {', '.join(_owned(owner))} and has no "
                    "reset_parameters(): write one that fills them, as torch's own layers have"
                )
        with torch.no_grad():
            for tensor in _state(module).values():
                tensor.fill_(junk if tensor.is_floating_point() else abs(int(junk == -7.0)))
        initialize(module, seed=5)
        filled.append(_state(module))
    for name, tensor in filled[0].items():
        if not torch.equal(tensor, filled[1][name]):
            raise PluginError(
                f"{name!r} keeps what stood in memory: fill it in reset_parameters(), which alone draws from the seed "
                "of a trial, so that rows of a table start alike"
            )


def device(subject: ModuleSubject) -> None:
    """It runs on the device that its input is on, in training too: no tensor is made on another.

    Tried without an accelerator: parameters and input say that they are on another device, while their numbers stay
    where they are; making a tensor with `device=x.device` makes one there, and mixing both is refused, as on a GPU.
    """
    for training in (False, True):
        module = subject.build().train(training)
        with elsewhere():
            moved(module)
            for call in subject.calls(module):
                results = tensors(called(module, sent(call)))
                require_elsewhere(call.method, results)
                for result in results:
                    if training and result.requires_grad:
                        result.sum().backward(retain_graph=True)


def sent(call: Call) -> Call:
    """Let what a method is given say that it is elsewhere, and ask for the gradients of vectors."""
    there = {name: None if given is None else Elsewhere(given) for name, given in call.arguments.items()}
    for name in call.floats:
        there[name].requires_grad_()  # type: ignore[union-attr]
    return call.with_(**there)


def require_elsewhere(method: str, results: list[Tensor]) -> None:
    for result in results:
        if not isinstance(result, Elsewhere):
            raise PluginError(
                f"{method} gives a tensor on another device than its input's: make tensors with device=x.device, "
                "where x is an argument"
            )


def _cast(calls: list[Call], kept: torch.dtype) -> Iterator[Call]:
    """Those calls that are given vectors: the others have no dtype to keep."""
    for call in calls:
        if call.floats:
            yield call.with_(**{name: given.to(kept) for name, given in call.floats.items()})


def _other_rows(module: nn.Module, call: Call) -> Iterator[tuple[Tensor, Any]]:
    """For each result: it, and a function that gives it anew with all rows but one replaced."""
    for place, before in enumerate(tensors(called(module, call))):
        if before.size(0) == 1:  # one answer for all rows
            continue

        def after(row: int, place: int = place) -> Tensor:
            changed = {}
            for name, given in call.arguments.items():
                if given is None or given.size(0) == 1:
                    continue
                this = (torch.arange(given.size(0)) == row).view(-1, *[1] * (given.dim() - 1))
                others = LARGE * given.roll(1, dims=0).flip(-1) if given.is_floating_point() else given.roll(1, dims=0)
                changed[name] = given.where(this, others)
            return tensors(called(module, call.with_(**changed)))[place]

        yield before, after


def _all_results(module: nn.Module, calls: list[Call], seed: int) -> list[tuple[str, Tensor]]:
    """Give every result of several calls, with its method; the generator starts elsewhere for each seed."""
    found = []
    for call in calls:
        torch.default_generator.manual_seed(seed)
        result = getattr(module, call.method)(*call.arguments.values())
        found += [(call.method, tensor.detach()) for tensor in tensors(result)]
    return found


def _backward(module: nn.Module, calls: list[Call], given: str, autocast: bool = False) -> None:
    for call in calls:
        leaves = {name: value.clone().requires_grad_() for name, value in call.floats.items()}
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            results = [result for result in tensors(called(module, call.with_(**leaves))) if result.requires_grad]
        require_finite(call.method, results, given)
        generator = torch.Generator().manual_seed(3)
        for result in results:
            result.backward(torch.randn(result.shape, generator=generator).to(result.dtype), retain_graph=True)
        for name, leaf in [*leaves.items(), *module.named_parameters()]:
            if leaf.grad is not None and not leaf.grad.isfinite().all():
                raise PluginError(
                    f"{call.method} gives {name!r} a gradient that is not finite, for {given}: keep what a root is "
                    "taken of or what is divided by away from zero before the operation; a mask comes too late"
                )


def _owned(module: nn.Module) -> list[str]:
    return [
        name for name, _ in itertools.chain(module.named_parameters(recurse=False), module.named_buffers(recurse=False))
    ]


def _state(module: nn.Module) -> dict[str, Tensor]:
    return dict(itertools.chain(module.named_parameters(), module.named_buffers()))
