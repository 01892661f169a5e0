"""The quick properties of every part of one model, with its own options and heads, over few channels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from framework.contracts import Dims
from framework.model.slots import Slots
from framework.registry import Registry
from framework.spec import Component, ModelSpec
from framework.testing.kinds import MODULE_SUBJECTS, PROPERTIES, fitting
from framework.testing.subject import SMALL


@dataclass(frozen=True, slots=True)
class Part:
    """A plugin in a place of a model."""

    path: str
    """The key that names it."""
    kind: str
    component: Component
    dims: Dims
    """Where it stands and its sizes, with one layer, all dropout on and, unless it refuses them, few channels."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What its outcome depends on: equal parts of other rows need not be tried again."""
        return self.kind, self.component.model_dump_json(), self.dims


def parts_of(model: ModelSpec, registry: Registry) -> Iterator[Part]:
    """Give all that a model is put together from, but for what a site's mixer does not take."""
    slots = Slots(model.resolved(), registry)
    for site in slots.sites:
        chosen, mixer = slots.site(site), slots.mixer(site)
        if mixer.removes_sublayer:
            continue
        for kind in ("attention_score", "mask", "mixer"):
            if kind == "mixer" or kind in mixer.takes:
                yield _part(slots.key(site, kind), kind, getattr(chosen, kind), slots.dims(site), registry)
    for site in slots.sites:
        if site.attends_itself:  # a scheme and feed-forwards stand in each stack
            for kind in ("positional_scheme", "feed_forward"):
                component: Component = getattr(model, kind)
                if not getattr(registry.plugin(kind, component.name), "removes_sublayer", False):
                    yield _part(f"model.{kind}", kind, component, slots.dims(site), registry)


def broken(part: Part, registry: Registry) -> str | None:
    """Say which contract a part breaks, if any, tried with the weights that a model starts from."""
    subject = MODULE_SUBJECTS[part.kind](
        registry.plugin(part.kind, part.component.name), part.component.options, part.dims
    )
    for tried in PROPERTIES[part.kind]:
        if tried.quick and (words := tried.of(subject).broken):
            return f"plugin {part.component.name!r}: {words}"
    return None


def _part(path: str, kind: str, component: Component, dims: Dims, registry: Registry) -> Part:
    """Give a part at few channels, or at the row's own where its constructor takes no other."""
    own = _tried(dims)
    subject = fitting(kind, registry.plugin(kind, component.name), component.options, (_narrow(own), own))
    return Part(path, kind, component, subject.dims)


def _narrow(dims: Dims) -> Dims:
    """Keep heads and what they divide, so that a width of 1024 takes no longer than one of 16, and rows share parts."""
    few = math.lcm(dims.num_heads, 16)
    d_model, d_ff = (few if size % few == 0 else size for size in (dims.d_model, dims.d_ff))
    return replace(dims, d_model=d_model, d_ff=d_ff)


def _tried(dims: Dims) -> Dims:
    return replace(
        dims,
        num_layers=1,
        dropout=SMALL.dropout,
        attention_dropout=SMALL.attention_dropout,
        feed_forward_dropout=SMALL.feed_forward_dropout,
    )
