"""From a spec to a model: every slot filled by its plugin, every weight started from the trial's seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch
from torch import nn

from framework.contracts import ADDRESSES, Mixer, Plugin, PositionalScheme, Site
from framework.errors import PluginError, Problem, SpecError
from framework.model.embedding import Table
from framework.model.slots import Slots
from framework.model.transformer import Transformer
from framework.registry import Registry
from framework.seeds import derived_seed
from framework.spec import DataSpec, ModelSpec


def assemble(model: ModelSpec, data: DataSpec, registry: Registry) -> Transformer:
    """Build the model that `model` describes, over the vocabulary of `data`.

    Under `torch.device("meta")` it has shapes and no storage. Its weights belong to no seed until
    `initialize` gives them. Leaves torch's own generator as it was. Raises `SpecError` where choices do not
    fit each other, and `PluginError` for a plugin whose tensors `initialize` could not fill.
    """
    model = model.resolved()
    slots = Slots(model, registry)
    _require(chain(_ignored_choices(slots), _choices_of_no_site(slots), _ignored_bias(slots)))
    pieces, d_model, tied = data.tokenizer.vocabulary_size, model.d_model, model.tie_embeddings
    with torch.random.fork_rng(devices=[]):  # layers draw weights as they are built
        transformer = Transformer(
            encoder=slots.encoder(),
            decoder=slots.decoder(),
            source_table=Table(pieces, d_model),
            target_table=None if tied else Table(pieces, d_model),
            output_table=None if tied else Table(pieces, d_model),
        )
    _require(_positions_out_of_reach(transformer, model, data))
    _require_resettable(transformer)
    return transformer


def initialize(model: nn.Module, seed: int) -> None:
    """Start every weight anew, each module's from (seed, module name).

    So rows of a table share starting weights wherever they share a module's name and shape. Runs before the
    model moves to an accelerator, whose generators draw other numbers: a seed means the same weights on every
    device. Leaves torch's own generator as it was.
    """
    with torch.random.fork_rng(devices=[]):
        for name, module in _owners(model):
            assert all(tensor.device.type == "cpu" for tensor in _own_tensors(module)), "initialize, then move"
            torch.default_generator.manual_seed(derived_seed("weights", seed, name))
            module.reset_parameters()


def _ignored_choices(slots: Slots) -> Iterator[Problem]:
    """Find what a site itself names and its mixer does not take."""
    for site, address in ADDRESSES.items():
        written = getattr(getattr(slots.model.sites, address[0]), address[1])
        mixer = _mixer(slots, site)
        for kind in ("attention_score", "mask"):
            if getattr(written, kind) is not None and kind not in mixer.takes:
                what = kind.replace("_", " ")
                yield Problem(
                    f"the mixer {mixer.name!r} takes no {what}: remove this line, or choose a mixer that takes one",
                    path=f"model.sites.{site}.{kind}",
                )


def _choices_of_no_site(slots: Slots) -> Iterator[Problem]:
    """Find what the whole model chooses, other than its default, and no site's mixer takes."""
    taken = frozenset[str]().union(*(_mixer(slots, site).takes for site in ADDRESSES))
    for kind in ("attention_score", "mask"):
        chosen = str(getattr(slots.model, kind))
        if kind not in taken and chosen != ModelSpec.model_fields[kind].default:
            what = kind.replace("_", " ")
            yield Problem(
                f"no site has a mixer that takes the {what} {chosen}: remove it, or choose such a mixer",
                path=f"model.{kind}",
            )


def _ignored_bias(slots: Slots) -> Iterator[Problem]:
    """Find a scheme with a bias beside a mixer that would drop it; a site whose mixing is removed has no scores."""
    scheme = slots.model.positional_scheme.name
    if slots.registry.plugin("positional_scheme", scheme).bias is PositionalScheme.bias:
        return
    for site in filter(lambda site: site.attends_itself, ADDRESSES):
        mixer = _mixer(slots, site)
        if not mixer.removes_sublayer and "bias" not in mixer.takes:
            yield Problem(
                f"{scheme!r} adds a bias to scores, and the mixer {mixer.name!r} at {site} takes none: "
                "choose another scheme, or a mixer that takes a bias",
                path="model.positional_scheme",
            )


def _mixer(slots: Slots, site: Site) -> type[Mixer]:
    component = slots.site(site).mixer
    assert component is not None, "a site's choices are filled in"
    mixer: type[Mixer] = slots.registry.plugin("mixer", component.name)
    return mixer


def _positions_out_of_reach(transformer: Transformer, model: ModelSpec, data: DataSpec) -> Iterator[Problem]:
    limit, needed = transformer.max_positions, data.max_pieces + 1
    if limit is not None and limit < needed:
        yield Problem(
            f"{model.positional_scheme.name!r} has {limit} positions, and data.max_pieces={data.max_pieces} needs "
            f"{needed}, the end piece included: give it more, or lower data.max_pieces to {limit - 1}",
            path="model.positional_scheme",
        )


def _require(problems: Iterator[Problem]) -> None:
    if found := tuple(problems):
        raise SpecError(found)


def _require_resettable(model: nn.Module) -> None:
    for name, module in _owners(model):
        if not callable(getattr(module, "reset_parameters", None)):
            raise PluginError(
                f"plugin {_plugin_around(model, name)!r}: {type(module).__name__} at {name} owns parameters or buffers "
                "and has no reset_parameters() to fill them from the trial's seed"
            )


def _plugin_around(model: nn.Module, name: str) -> str:
    parts = name.split(".")
    around = (model.get_submodule(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    return next(module.name for module in around if isinstance(module, Plugin))


def _owners(model: nn.Module) -> Iterator[tuple[str, Any]]:
    return ((name, module) for name, module in model.named_modules() if any(True for _ in _own_tensors(module)))


def _own_tensors(module: nn.Module) -> Iterator[torch.Tensor]:
    return chain(module.parameters(recurse=False), module.buffers(recurse=False))
