"""Whether what a row asks for fits together, beyond its model: objective, corpus, metrics, positions."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from framework.contracts import Corpus, Mask, Objective, Site, TextCorpus
from framework.errors import Problem
from framework.evaluate.metrics import GENERATED, chosen_metrics
from framework.model.slots import Slots
from framework.registry import Registry
from framework.spec import ResolvedSpec


def misfits(spec: ResolvedSpec, registry: Registry) -> Iterator[Problem]:
    """Find where the objective does not fit the architecture or the corpus, or a metric fits neither.

    Raises `SpecError` for a metric that the objective does not have.
    """
    objective, architecture = _objective(spec, registry), spec.model.architecture
    if architecture not in objective.architectures:
        trains = ", ".join(sorted(objective.architectures))
        fitting = " or ".join(
            entry.name
            for entry in registry.entries()
            if entry.kind == "objective" and architecture in getattr(entry.plugin, "architectures", ())
        )
        yield Problem(
            f"{objective.name!r} trains {trains}; model.architecture is {architecture}, "
            f"which {fitting or 'no objective'} trains",
            "train.objective",
        )
        return
    corpus = spec.data.corpus.name
    if objective.needs_sources and _is_text(spec, registry):
        yield Problem(
            f"{objective.name!r} needs pairs of source and target, and the corpus {corpus!r} has texts that stand by "
            "themselves: choose another objective, or a corpus of pairs",
            "train.objective",
        )
    generated = " and ".join(name for name in chosen_metrics(objective, spec.evaluate) if name in GENERATED)
    if not generated:
        return
    others = "set evaluate.metrics to others, such as [perplexity]"
    if architecture == "encoder_only":
        yield Problem(f"an encoder alone generates nothing to measure {generated} by: {others}", "evaluate.metrics")
    if _is_text(spec, registry):
        yield Problem(
            f"the texts of the corpus {corpus!r} have no sources, which {generated} would generate from: {others}",
            "evaluate.metrics",
        )
    yield from _foresight(spec, registry, generated)


def too_long(max_positions: int | None, spec: ResolvedSpec, registry: Registry) -> Iterator[Problem]:
    """Find what the longest example that the data may hold goes beyond: the model's positions, or a batch."""
    longest = torch.tensor([spec.data.max_pieces])
    source = torch.zeros_like(longest) if _is_text(spec, registry) else longest
    needed = int(_objective(spec, registry).lengths(source, longest))
    example = f"an example of data.max_pieces={spec.data.max_pieces} takes {needed} positions, special pieces included"
    if max_positions is not None and max_positions < needed:
        yield Problem(
            f"{spec.model.positional_scheme.name!r} has {max_positions} positions, and {example}: give it more, or "
            "lower data.max_pieces",
            "model.positional_scheme",
        )
    if spec.train.batch_tokens < needed:
        yield Problem(
            f"train.batch_tokens={spec.train.batch_tokens} is too small for a batch of one: {example}; raise the one "
            "or lower the other",
            "train.batch_tokens",
        )


def _foresight(spec: ResolvedSpec, registry: Registry, generated: str) -> Iterator[Problem]:
    """Find a mask of the decoder that shows what comes later, beside something to generate."""
    slots = Slots(spec.model.resolved(), registry)
    chosen = slots.site(Site.DECODER_SELF).mask
    assert chosen is not None, "a site's choices are filled in"
    mask: type[Mask] = registry.plugin("mask", chosen.name)
    if mask.handles_causality and "mask" in slots.mixer(Site.DECODER_SELF).takes:
        yield Problem(
            f"{generated} is measured on text that is generated piece by piece, and the mask {mask.name!r} lets a "
            "position see pieces that are not there yet: set evaluate.metrics to others, such as [perplexity], or "
            "choose another mask",
            slots.key(Site.DECODER_SELF, "mask"),
        )


def _objective(spec: ResolvedSpec, registry: Registry) -> Objective:
    component = spec.train.objective
    objective: Objective = registry.plugin("objective", component.name)(component.options)
    return objective


def _is_text(spec: ResolvedSpec, registry: Registry) -> bool:
    corpus: type[Corpus] = registry.plugin("corpus", spec.data.corpus.name)
    return issubclass(corpus, TextCorpus)
