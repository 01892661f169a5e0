"""One YAML file: a base, the rows that change it, the seeds, and how the table is read."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    StringConstraints,
    model_validator,
)

from framework.spec.base import Spec, distinct, misfit
from framework.spec.data import DataSpec
from framework.spec.evaluation import EvaluateSpec
from framework.spec.model import ModelSpec
from framework.spec.suggest import choices
from framework.spec.training import TrainSpec

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
LARGEST_SEED: Final = 2**63 - 1
"""What the tables that seeds are kept in can hold."""
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(distinct)]


class ReferenceSpec(Spec):
    """What a publication printed for a row."""

    perplexity: PositiveFloat | None = None
    bleu: PositiveFloat | None = None
    parameters_millions: PositiveFloat | None = None


def rounds_to(parameters: int, printed_millions: float) -> bool:
    """Whether a parameter count, rounded as a publication rounded its own, is what it printed."""
    decimals = len(f"{printed_millions:g}".partition(".")[2])
    return round(parameters / 1e6, decimals) == printed_millions


class RowSpec(Spec):
    """A line of the table: the base and what is changed in it."""

    group: str | None = None
    """Heading under which the row is shown, such as the paper's (A) to (E)."""
    label: str | None = None
    """Words for the table; null means the row's name."""
    change: dict[str, JsonValue] = Field(default_factory=dict)
    """Dotted keys of the resolved experiment, and their new values."""
    seeds: Seeds | None = None
    """Seeds of this row; null means the experiment's."""
    reference: ReferenceSpec | None = None


class ReportSpec(Spec):
    """How the table is read."""

    margin: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.02
    """Relative perplexity within which a row counts as equivalent to the baseline."""
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """Of the intervals: of a row's own, and of all differences to the baseline together."""
    reference_threshold: NonNegativeFloat = 0.0
    """Perplexity by which a publication's row must differ from its baseline for the direction to be compared; what is
    printed of single runs differs by chance, too."""
    reference_embedding_rows: NonNegativeInt = 0
    """Rows of width d_model that the publication counted and this model has not, such as the 32-row
    target-space embedding of the authors' first code; added where parameters are compared."""

    def as_published(self, parameters: int, d_model: int) -> int:
        """A parameter count as the publication counted it, with what it had and this model has not."""
        return parameters + self.reference_embedding_rows * d_model


class ExperimentSpec(Spec):
    """A whole experiment."""

    name: Name
    plugins: tuple[str, ...] = ()
    """Plugin files and folders to load, relative to the file."""
    # Not instances: their defaults are components, which only the catalog of a validation can resolve.
    model: ModelSpec = Field(default={}, validate_default=True)
    data: DataSpec
    train: TrainSpec = Field(default={}, validate_default=True)
    evaluate: EvaluateSpec = EvaluateSpec()
    seeds: Seeds = (1,)
    baseline: str = "base"
    """The row that the others are compared with."""
    rows: Annotated[dict[Name, RowSpec], Field(min_length=1)] = Field(default_factory=lambda: {"base": RowSpec()})
    report: ReportSpec = ReportSpec()

    @model_validator(mode="after")
    def _baseline_is_a_row(self) -> ExperimentSpec:
        if self.baseline not in self.rows:
            offered = choices(self.baseline, self.rows)
            raise misfit(f"no row is named {self.baseline!r}: set baseline to one that is{offered}", at="baseline")
        return self


RESOLVED: tuple[str, ...] = ("model", "data", "train", "evaluate")
"""The sections of an experiment that a row may change, and that make up a trial."""


class ResolvedSpec(Spec):
    """The four sections of one row, its changes applied."""

    model: ModelSpec
    data: DataSpec
    train: TrainSpec
    evaluate: EvaluateSpec

    @model_validator(mode="after")
    def _embeddings_can_be_tied(self) -> ResolvedSpec:
        if self.model.tie_embeddings and not self.data.tokenizer.shared:
            raise misfit(
                "source and target have vocabularies of their own and cannot share a table: "
                "set data.tokenizer.shared: true, or model.tie_embeddings: false",
                at="model.tie_embeddings",
            )
        return self


class TrialSpec(ResolvedSpec):
    """One row with one seed: all that a worker needs to know, and the keys that identify it."""

    experiment: str
    row: str
    group: str | None
    seed: int
    changes: dict[str, Any]
    """Dotted keys in which the row differs from the experiment's own sections."""
    data_key: str | None
    """Identifies the prepared data; null without the corpus."""
    train_key: str | None
    """Identifies the weights."""
    evaluate_key: str | None
    """Identifies the scores."""
