"""From a spec to a model: every slot filled by its plugin, every weight started from the trial's seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import torch
from torch import nn

from framework.contracts import Plugin, PositionalScheme, Site
from framework.errors import PluginError, Problem, SpecError
from framework.model.decoder_only import DecoderOnly
from framework.model.embedding import Table
from framework.model.encoder_decoder import EncoderDecoder
from framework.model.encoder_only import EncoderOnly
from framework.model.slots import Slots
from framework.model.transformer import Transformer
from framework.registry import Registry
from framework.seeds import derived_seed
from framework.spec import Architecture, DataSpec, ModelSpec


def assemble(model: ModelSpec, data: DataSpec, registry: Registry) -> Transformer:
    """Build the model that `model` describes, over the vocabulary of `data`.

    Under `torch.device("meta")` it has shapes and no storage. Its weights belong to no seed until
    `initialize` gives them. Leaves torch's own generator as it was. Raises `SpecError` where choices do not
    fit each other, and `PluginError` for a plugin whose tensors `initialize` could not fill.
    """
    model = model.resolved()
    slots = Slots(model, registry)
    _require(chain(_choices_of_no_stack(slots), _two_vocabularies(slots, data)))
    _require(chain(_misplaced(slots), _ignored_choices(slots), _choices_of_no_site(slots), _ignored_positions(slots)))
    with torch.random.fork_rng(devices=[]):  # layers draw weights as they are built
        transformer = _ARCHITECTURES[model.architecture](slots, data.tokenizer.vocabulary_size)
    _require_resettable(transformer)
    return transformer


def _encoder_decoder(slots: Slots, pieces: int) -> EncoderDecoder:
    d_model, tied = slots.model.d_model, slots.model.tie_embeddings
    return EncoderDecoder(
        encoder=slots.stack(Site.ENCODER_SELF),
        decoder=slots.stack(Site.DECODER_SELF, Site.DECODER_CROSS),
        source_table=Table(pieces, d_model),
        target_table=None if tied else Table(pieces, d_model),
        output_table=None if tied else Table(pieces, d_model),
    )


def _decoder_only(slots: Slots, pieces: int) -> DecoderOnly:
    d_model, tied = slots.model.d_model, slots.model.tie_embeddings
    return DecoderOnly(slots.stack(Site.DECODER_SELF), Table(pieces, d_model), None if tied else Table(pieces, d_model))


def _encoder_only(slots: Slots, pieces: int) -> EncoderOnly:
    d_model, tied = slots.model.d_model, slots.model.tie_embeddings
    return EncoderOnly(slots.stack(Site.ENCODER_SELF), Table(pieces, d_model), None if tied else Table(pieces, d_model))


_ARCHITECTURES: Final[Mapping[Architecture, Callable[[Slots, int], Transformer]]] = MappingProxyType(
    {"encoder_decoder": _encoder_decoder, "decoder_only": _decoder_only, "encoder_only": _encoder_only}
)


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


def _choices_of_no_stack(slots: Slots) -> Iterator[Problem]:
    """Find what is written for a site that the architecture lacks."""
    for site in Site:
        if site not in slots.sites:
            for kind, chosen in slots.written(site):
                if chosen is not None:
                    there = " and ".join(slots.sites)
                    yield Problem(
                        f"model.architecture={slots.model.architecture} has no site {site}, only {there}: remove this",
                        path=slots.key(site, kind),
                    )


def _two_vocabularies(slots: Slots, data: DataSpec) -> Iterator[Problem]:
    if Site.DECODER_CROSS not in slots.sites and not data.tokenizer.shared:
        yield Problem(
            f"model.architecture={slots.model.architecture} reads everything in one sequence and has one vocabulary: "
            "set it to true",
            path="data.tokenizer.shared",
        )


def _misplaced(slots: Slots) -> Iterator[Problem]:
    """Find mixers at sites where they cannot stand."""
    for site in slots.sites:
        mixer, own = slots.mixer(site), slots.written(site).mixer
        if site not in mixer.sites:
            fitting = " and ".join(site for site in Site if site in mixer.sites)
            way_out = "choose another" if own else f"name another as model.sites.{site}.mixer"
            yield Problem(
                f"the mixer {mixer.name!r} cannot stand at {site}, only at {fitting}: {way_out}",
                path=slots.key(site, "mixer"),
            )


def _ignored_choices(slots: Slots) -> Iterator[Problem]:
    """Find what a site itself names and its mixer does not take."""
    for site in slots.sites:
        mixer = slots.mixer(site)
        for kind, chosen in slots.written(site):
            if kind != "mixer" and chosen is not None and kind not in mixer.takes:
                what = kind.replace("_", " ")
                yield Problem(
                    f"the mixer {mixer.name!r} takes no {what}: remove this line, or choose a mixer that takes one",
                    path=slots.key(site, kind),
                )


def _choices_of_no_site(slots: Slots) -> Iterator[Problem]:
    """Find what the whole model chooses, other than its default, and no site's mixer takes."""
    taken = frozenset[str]().union(*(slots.mixer(site).takes for site in slots.sites))
    for choice in ("attention_score", "mask", "attention_dropout"):
        chosen = getattr(slots.model, choice)
        default = ModelSpec.model_fields[choice].default
        if choice not in taken and default not in (chosen, str(chosen)):
            what = choice.replace("_", " ")
            yield Problem(
                f"no site has a mixer that takes the {what} {chosen}: remove it, or choose such a mixer",
                path=f"model.{choice}",
            )


def _ignored_positions(slots: Slots) -> Iterator[Problem]:
    """Find what a scheme would do inside a mixer that drops it; a site whose mixing is removed has no use for it."""
    scheme: type[PositionalScheme] = slots.registry.plugin("positional_scheme", slots.model.positional_scheme.name)
    does = {}
    if scheme.bias is not PositionalScheme.bias:
        does["bias"] = "adds a bias to scores"
    if scheme.rotate is not PositionalScheme.rotate:
        does["rotation"] = "rotates queries and keys"
    for site in filter(lambda site: site.attends_itself, slots.sites):
        mixer = slots.mixer(site)
        for what, words in does.items():
            if what not in mixer.takes and not mixer.removes_sublayer:
                yield Problem(
                    f"{scheme.name!r} {words}, which the mixer {mixer.name!r} at {site} would drop: "
                    "choose another scheme, or a mixer that takes it",
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
