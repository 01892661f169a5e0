"""What is true of a mixer that decodes token by token, remembering what it has seen.

Shapes: B batch, L length, S source length, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import Mixer, Site, State
from framework.errors import PluginError
from framework.model.assemble import initialize
from framework.testing import modules
from framework.testing.device import ELSEWHERE, elsewhere, moved
from framework.testing.modules import sent
from framework.testing.parts import plain_parts, telling_parts
from framework.testing.subject import Call, MixerSubject, Sizes, mixed
from framework.testing.telling import first, in_pieces, kind, same

_SIZES: Final = Sizes(queries=6, keys=5)
_WAYS: Final = ((1,) * 6, (1, 3, 2), (4, 1, 1), (6,))
"""How many positions each step brings."""


def cached_decoding(subject: MixerSubject) -> None:
    """In a decoder, steps of any size from the start give what one pass over all positions gives."""
    if subject.dims.site is Site.ENCODER_SELF:
        return
    for mixer in _mixers(subject):
        (call,) = subject.calls(mixer, _SIZES)
        whole = mixed(mixer, call)
        for pieces in _WAYS:
            stepped, _ = _stepped(mixer, call, pieces, mixer.start())
            real = call.arguments["padding"]
            assert real is not None
            if stepped.shape != whole.shape or not (equal := same(stepped, whole) | ~real[..., None]).all():
                at = f"position {first(~equal)[1]}" if stepped.shape == whole.shape else f"shape {tuple(stepped.shape)}"
                raise PluginError(
                    f"forward in steps of {', '.join(map(str, pieces))} gives something else than in one pass, at "
                    f"{at}: the state must hold all that later positions read, and what is new must follow at "
                    "its own positions"
                )


def beam_reorder(subject: MixerSubject) -> None:
    """Reordered by a beam, a state goes on as if its rows had always been in that order and number."""
    if subject.dims.site is Site.ENCODER_SELF:
        return
    beam = torch.tensor([1, 0, 1])
    for mixer in _mixers(subject):
        (call,) = subject.calls(mixer, _SIZES)
        (other,) = subject.calls(mixer, Sizes(rows=3, queries=_SIZES.queries, keys=_SIZES.keys), seed=2)
        every = torch.ones(3, _SIZES.queries, dtype=torch.bool)
        _, state = _stepped(mixer, _positions_from(call.with_(padding=every[:2]), slice(0, 3)), (1, 2), mixer.start())
        kept = {
            name: None if given is None else given[beam]
            for name, given in call.arguments.items()
            if name in ("memory", "memory_padding")
        }
        x = torch.cat((call.floats["x"][beam, :3], other.floats["x"][:, 3:]), dim=1)
        whole_call = call.with_(x=x, padding=every, **kept)
        whole = mixed(mixer, whole_call)[:, 3:]
        reordered: Any = state.reorder(beam)
        if not isinstance(reordered, State):
            raise PluginError(f"the state's reorder gives {kind(reordered)}, and must give the reordered state")
        stepped, _ = _stepped(mixer, _positions_from(whole_call, slice(3, None)), (1, 2), reordered)
        if not (equal := same(stepped, whole)).all():
            raise PluginError(
                f"after reorder, row {first(~equal)[0]} goes on with another row's past: row r of the reordered state "
                "is row beam[r] of this one, in all that the state holds"
            )


def device(subject: MixerSubject) -> None:
    """It runs on the device that its input is on, in training and, in a decoder, step by step: no tensor is made on
    another.
    """
    modules.device(subject)
    if subject.dims.site is Site.ENCODER_SELF:
        return
    for mixer in _mixers(subject):
        (call,) = subject.calls(mixer, _SIZES)
        with elsewhere():
            moved(mixer)
            there = sent(call)
            first_half, rest = _positions_from(there, slice(0, 3)), _positions_from(there, slice(3, None))
            _, state = _stepped(mixer, first_half, (1, 2), mixer.start())
            stepped, _ = _stepped(mixer, rest, (3,), state.reorder(torch.tensor([1, 0], device=ELSEWHERE)))
            modules.require_elsewhere(call.method, [stepped])


def _mixers(subject: MixerSubject) -> list[Mixer]:
    """Give it with plain parts, and with those that go by positions."""
    parts = (plain_parts(subject.dims), telling_parts(subject.dims, subject.plugin.takes))
    mixers = [subject.with_parts(chosen) for chosen in parts]
    for mixer in mixers:
        initialize(mixer, seed=0)
    return [mixer.eval() for mixer in mixers]


def _stepped(mixer: Mixer, call: Call, pieces: Sequence[int], state: State) -> tuple[Tensor, State]:
    results = []
    x = call.floats["x"]
    for piece in in_pieces(x.size(1), tuple(pieces)):
        with torch.no_grad():
            result, after = mixer(*_step(call, piece), state)
        if not isinstance(after, State):
            raise PluginError(f"forward gives {kind(after)} after a state, and must give the state that follows it")
        results.append(result)
        state = after
    return torch.cat(results, dim=1), state


def _step(call: Call, piece: slice) -> list[Tensor | None]:
    """Give what `forward` takes before the state, for some of the positions."""
    arguments = _positions_from(call, piece).arguments
    return [arguments.get(name) for name in ("x", "positions", "padding", "memory", "memory_padding")]


def _positions_from(call: Call, piece: slice) -> Call:
    """Give the call for some of its positions."""
    of_positions = {name: call.arguments[name][:, piece] for name in ("x", "positions", "padding")}  # type: ignore[index]
    return call.with_(**of_positions)
