"""Whether what a row asks for fits together, beyond its model: objective, corpus, metrics, positions."""

from __future__ import annotations

import torch

from framework.contracts import ADDRESSES, Corpus, Mask, Mixer, Objective, Site, TextCorpus
from framework.errors import SpecError
from framework.evaluate.measure import GENERATED, chosen_metrics
from framework.model.transformer import Transformer
from framework.registry import Registry
from framework.spec import ResolvedSpec


def require_measurable(spec: ResolvedSpec, registry: Registry) -> None:
    """Raises `SpecError` where the objective does not fit the architecture or the corpus, or a metric fits neither."""
    objective, architecture = _objective(spec, registry), spec.model.architecture
    if architecture not in objective.architectures:
        trains = ", ".join(sorted(objective.architectures))
        raise SpecError(f"{objective.name!r} trains {trains}; model.architecture is {architecture}", "train.objective")
    corpus = spec.data.corpus.name
    if objective.needs_sources and _is_text(spec, registry):
        raise SpecError(
            f"{objective.name!r} needs pairs of source and target, and the corpus {corpus!r} has texts that stand by "
            "themselves: choose another objective, or a corpus of pairs",
            "train.objective",
        )
    path = "evaluate.metrics"
    for metric in set(chosen_metrics(objective, spec.evaluate)).intersection(GENERATED):
        if architecture == "encoder_only":
            raise SpecError(f"{metric} is generated, and an encoder alone generates nothing: leave it out", path)
        if _is_text(spec, registry):
            raise SpecError(
                f"{metric} compares what is generated for a source, and the texts of the corpus {corpus!r} have none: "
                "leave it out",
                path,
            )
        if (mask := _foresighted_mask(spec, registry)) is not None:
            raise SpecError(
                f"{metric} is generated piece by piece, and the mask {mask!r} lets a position see pieces that are not "
                f"there yet: leave {metric} out of evaluate.metrics, or choose another mask",
                "model.mask",
            )


def require_reach(transformer: Transformer, spec: ResolvedSpec, registry: Registry) -> None:
    """Raises `SpecError` if the longest sequence that the data may hold has more positions than the model."""
    limit, longest = transformer.max_positions, torch.tensor([spec.data.max_pieces])
    source = torch.zeros_like(longest) if _is_text(spec, registry) else longest
    needed = int(_objective(spec, registry).lengths(source, longest))
    if limit is not None and limit < needed:
        raise SpecError(
            f"{spec.model.positional_scheme.name!r} has {limit} positions, and data.max_pieces={spec.data.max_pieces} "
            f"needs {needed}, special pieces included: give it more, or lower data.max_pieces",
            "model.positional_scheme",
        )


def _objective(spec: ResolvedSpec, registry: Registry) -> Objective:
    component = spec.train.objective
    objective: Objective = registry.plugin("objective", component.name)(component.options)
    return objective


def _is_text(spec: ResolvedSpec, registry: Registry) -> bool:
    corpus: type[Corpus] = registry.plugin("corpus", spec.data.corpus.name)
    return issubclass(corpus, TextCorpus)


def _foresighted_mask(spec: ResolvedSpec, registry: Registry) -> str | None:
    """Name the decoder's mask, if it has one that shows what comes later."""
    site = spec.model.site(*ADDRESSES[Site.DECODER_SELF])
    assert site.mixer is not None, "a site's choices are filled in"
    assert site.mask is not None, "a site's choices are filled in"
    mixer: type[Mixer] = registry.plugin("mixer", site.mixer.name)
    mask: type[Mask] = registry.plugin("mask", site.mask.name)
    return mask.name if mask.handles_causality and "mask" in mixer.takes else None
