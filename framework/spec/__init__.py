"""WHAT is asked: frozen descriptions, validated; no torch."""

from framework.spec.base import INCIDENTAL, Options, Spec, identity
from framework.spec.component import Catalog, Component
from framework.spec.data import DataSpec, TokenizerSpec
from framework.spec.evaluation import EvaluateSpec
from framework.spec.experiment import (
    RESOLVED,
    ExperimentSpec,
    ReferenceSpec,
    ReportSpec,
    ResolvedSpec,
    RowSpec,
    TrialSpec,
)
from framework.spec.model import Architecture, ModelSpec, SiteSpec
from framework.spec.training import TrainSpec

__all__ = [
    "INCIDENTAL",
    "RESOLVED",
    "Architecture",
    "Catalog",
    "Component",
    "DataSpec",
    "EvaluateSpec",
    "ExperimentSpec",
    "ModelSpec",
    "Options",
    "ReferenceSpec",
    "ReportSpec",
    "ResolvedSpec",
    "RowSpec",
    "SiteSpec",
    "Spec",
    "TokenizerSpec",
    "TrainSpec",
    "TrialSpec",
    "identity",
]
