"""What is true of every mixer, over whole sequences.

Shapes: B batch, L length, S source length, D d_model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor

from framework.contracts import Mask, Mixer, Site
from framework.errors import PluginError
from framework.testing import modules
from framework.testing.decoding import beam_reorder, cached_decoding, device
from framework.testing.modules import LARGE
from framework.testing.parts import Distance, Leaning, Near, NearBothWays, Turning, plain_parts
from framework.testing.property import Property
from framework.testing.subject import FEW, Call, MixerSubject, Sizes, called, mixed
from framework.testing.telling import first, kind, require_finite, same

_LONG: Final = Sizes(queries=6, keys=5)
TAKEN: Final = ("mask", "attention_score", "bias", "rotation", "attention_dropout")
"""What a mixer can take."""


def shape(subject: MixerSubject) -> None:
    """`forward` gives `(B, L, D)`, and no state where it is given none."""
    _require_shapes(subject, FEW)


def length_one(subject: MixerSubject) -> None:
    """One position is mixed with itself, or with a memory of one."""
    _require_shapes(subject, Sizes(queries=1, keys=1))


def no_future(subject: MixerSubject) -> None:
    """In a decoder nothing depends on later positions, in training either, nor on how many there are."""
    if subject.dims.site is Site.ENCODER_SELF:
        return
    mixer = subject.build()
    (call,) = subject.calls(mixer, _LONG)
    x = call.floats["x"]
    for training in (True, False):
        before = mixed(mixer.train(training), call)
        for t in range(1, x.size(1)):
            later = (torch.arange(x.size(1)) >= t)[:, None]  # (L, 1)
            after = mixed(mixer, call.with_(x=(LARGE * x.flip(1)).where(later, x)))
            if not (equal := same(after, before)[:, :t]).all():
                raise PluginError(
                    f"forward sees the future: position {first(~equal)[1]} changed when those from {t} on did; at "
                    f"{subject.dims.site} a position sees itself and what came before it (dims.causal, fw.visible)"
                )
    for t in range(1, x.size(1)):
        cut = {name: call.arguments[name][:, :t] for name in ("x", "positions", "padding")}  # type: ignore[index]
        if not (equal := same(mixed(mixer, call.with_(**cut)), before[:, :t])).all():
            raise PluginError(
                f"forward sees the future: position {first(~equal)[1]} changed when those from {t} on were left out; "
                "what it gives must not depend on how long the sequence will be"
            )


def padding(subject: MixerSubject) -> None:
    """What stands at padding, of x or of the memory, does not matter at real positions, nor how much of it there is."""
    mixer = subject.build()
    (call,) = subject.calls(mixer, _LONG)
    cross = not subject.dims.site.attends_itself
    padded, name = ("memory", "memory_padding") if cross else ("x", "padding")
    given = call.floats[padded]
    real = torch.ones(given.shape[:2], dtype=torch.bool)
    real[-1, -2:] = False
    call = call.with_(**{name: real})
    for training in (True, False):
        before = mixed(mixer.train(training), call)
        after = mixed(mixer, call.with_(**{padded: given.where(real[..., None], LARGE * given)}))
        unread = torch.zeros_like(before, dtype=torch.bool) if cross else ~real[..., None].expand_as(before)
        if not (equal := same(after, before) | unread).all():
            row, position, _ = first(~equal)
            raise PluginError(
                f"forward reads padding: row {row} changed at position {position} when what stands at the padding of "
                f"{padded} did; hide it along the keys, or fill it with zeros before anything is mixed"
            )
    last = {key: value if value is None or value.size(0) == 1 else value[-1:] for key, value in call.arguments.items()}
    shortened = (padded, name) if cross else (padded, name, "positions")
    cut = {key: value[:, :-2] if key in shortened and value is not None else value for key, value in last.items()}
    alone = mixed(mixer, Call(call.method, cut))
    if not (equal := same(alone, before[-1:, : alone.size(1)])).all():
        raise PluginError(
            f"forward counts padding: position {first(~equal)[1]} changed when the padding behind the sequence was "
            "left out; count real positions only"
        )


def blind_row(subject: MixerSubject) -> None:
    """A row of nothing but padding gives finite numbers that do not depend on it, and finite gradients."""
    mixer: Mixer = subject.build()
    (call,) = subject.calls(mixer, _LONG)
    cross = not subject.dims.site.attends_itself
    padded, name = ("memory", "memory_padding") if cross else ("x", "padding")
    real = torch.ones_like(call.arguments[name])  # type: ignore[arg-type]
    real[0] = False
    call = call.with_(**{name: real})
    leaf = call.floats[padded].clone().requires_grad_()
    result = called(mixer, call.with_(**{padded: leaf}))[0]
    require_finite("forward", [result], "a row of nothing but padding")
    result.sum().backward()
    gradients = [given.grad for given in (leaf, *mixer.parameters()) if given.grad is not None]
    if not all(gradient.isfinite().all() for gradient in gradients):
        raise PluginError(
            "forward has gradients that are not finite for a row of nothing but padding: a softmax of nothing but -inf "
            "or a mean of no numbers must not arise, where replacing its result comes too late"
        )
    if cross:
        after = mixed(mixer, call.with_(memory=LARGE * call.floats["memory"]))
        if not same(after[0], result[0].detach()).all():
            raise PluginError("forward reads padding: a memory of nothing but padding changes what its row gives")


def takes(subject: MixerSubject) -> None:
    """What `takes` names has an effect, a mask hides and shows, and what it does not name has no effect."""
    if unknown := subject.plugin.takes - set(TAKEN):
        raise PluginError(
            f"takes names {', '.join(sorted(unknown))}, and a mixer can take {', '.join(TAKEN)}: correct the name"
        )
    plain = subject.build()
    (call,) = subject.calls(plain, _LONG)
    for what, other in _others(subject).items():
        other.load_state_dict(plain.state_dict())
        training = what == "attention_dropout"  # which changes nothing in evaluation
        equal = same(mixed(other.train(training), call), mixed(plain.train(training), call)).all()
        of_scheme = what in ("bias", "rotation")
        if of_scheme and not subject.dims.site.attends_itself:
            if not equal:
                raise PluginError(
                    f"forward uses the {what} of the positional scheme at {subject.dims.site}, where queries and keys "
                    "stand in two sequences: leave it to self-attention (dims.site.attends_itself)"
                )
        elif what in subject.plugin.takes and equal:
            raise PluginError(
                f"takes names {what!r}, and forward gives the same with another one: use it, or leave it out of takes"
            )
        elif what not in subject.plugin.takes and not equal:
            raise PluginError(
                f"takes does not name {what!r}, and forward gives something else with another one: name it, or rows "
                "that differ in it are taken for the same trial; or leave it alone"
            )
    if "mask" in subject.plugin.takes:
        _require_hiding(subject, plain, call)
        if subject.dims.causal:
            _require_showing(subject, plain, call)


def _others(subject: MixerSubject) -> dict[str, Mixer]:
    """Give mixers that differ from the plain one in one thing each, of all that a mixer can take."""
    dims, parts = subject.dims, plain_parts(subject.dims)
    chosen = {
        "mask": replace(parts, mask=Near(subject.options, dims)),
        "attention_score": replace(parts, score=Distance(subject.options, dims)),
        "bias": replace(parts, scheme=Leaning(subject.options, dims)),
        "rotation": replace(parts, scheme=Turning(subject.options, dims)),
    }
    mixers = {what: subject.with_parts(others) for what, others in chosen.items()}
    return mixers | {"attention_dropout": replace(subject, dims=replace(dims, attention_dropout=0.5)).new()}


def _require_hiding(subject: MixerSubject, plain: Mixer, call: Call) -> None:
    mixer = _masked(subject, plain, Near(subject.options, subject.dims))
    seen = "x" if subject.dims.site.attends_itself else "memory"
    at_0 = (torch.arange(call.floats[seen].size(1)) == 0)[:, None]
    before = mixed(mixer, call)
    after = mixed(mixer, call.with_(**{seen: (LARGE * call.floats[seen].flip(1)).where(at_0, call.floats[seen])}))
    if not (equal := same(after, before)[:, 2:]).all():
        raise PluginError(
            f"takes names 'mask', and position {first(~equal)[1] + 2} changed when one did that the mask hides from "
            "it: True means may attend, both for a mask and for fw.visible"
        )


def _require_showing(subject: MixerSubject, plain: Mixer, call: Call) -> None:
    mixer = _masked(subject, plain, NearBothWays(subject.options, subject.dims))
    x = call.floats["x"]
    at_1 = (torch.arange(x.size(1)) == 1)[:, None]
    if same(mixed(mixer, call.with_(x=(LARGE * x.flip(1)).where(at_1, x)))[:, 0], mixed(mixer, call)[:, 0]).all():
        raise PluginError(
            "takes names 'mask', and position 0 does not see position 1, which a mask with handles_causality lets it "
            "see: causality is that mask's own affair, as fw.visible has it"
        )


def _masked(subject: MixerSubject, plain: Mixer, mask: Mask) -> Mixer:
    mixer = subject.with_parts(replace(plain_parts(subject.dims), mask=mask)).eval()
    mixer.load_state_dict(plain.state_dict())
    return mixer


def _require_shapes(subject: MixerSubject, sizes: Sizes) -> None:
    mixer = subject.build()
    (call,) = subject.calls(mixer, sizes)
    x = call.floats["x"]
    result: Any = called(mixer, call)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise PluginError(f"forward gives {kind(result)}, and must give a pair, what is mixed and the next state")
    y, state = result
    if not (isinstance(y, Tensor) and y.shape == x.shape):
        got = f"shape {tuple(y.shape)}" if isinstance(y, Tensor) else kind(y)
        raise PluginError(f"forward gives {got} for x of shape {tuple(x.shape)}, and must keep that shape, (B, L, D)")
    if state is not None:
        raise PluginError(
            f"forward gives {kind(state)} where it is given no state: give None, whole sequences keep none"
        )


PROPERTIES: Final = (
    Property(modules.reset_parameters, founding=True),
    Property(shape, quick=True, founding=True),
    Property(modules.deterministic, quick=True, founding=True),
    Property(modules.input_unchanged, quick=True, founding=True),
    Property(modules.batch_rows, quick=True),
    Property(takes, quick=True),
    Property(no_future, quick=True),
    Property(padding, quick=True),
    # Behind those that say what is hidden wrongly, which gives NaN as well where a row sees nothing.
    Property(modules.finite, quick=True),
    Property(modules.dtype, quick=True),
    Property(cached_decoding, quick=True),
    Property(beam_reorder, quick=True),
    Property(modules.gradients, quick=True),
    Property(modules.zero_vectors),
    Property(blind_row),
    Property(modules.one_row),
    Property(length_one),
    Property(modules.after_training),
    Property(modules.save_and_load),
    Property(device),
)
