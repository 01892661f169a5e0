"""Attention scores that are wrong in their options, or in what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

import framework as fw
from tests.framework.testing.mutants.scores import Right


class TakesAnyOption(Right):
    """Its options take whatever there is."""

    name = "takes_any_option"

    class Options(Right.Options):
        model_config = ConfigDict(extra="allow")


class Loose(BaseModel):
    """Takes whatever key there is."""

    bound: float = 1.0


class TakesAnyOptionInside(Right):
    """One of its options takes whatever there is inside of it."""

    name = "takes_any_option_inside"

    class Options(Right.Options):
        clip: Loose | None = None


class ReadsBackOther(Right):
    """Its options change each time that they are read."""

    name = "reads_back_other"

    class Options(Right.Options):
        @field_validator("scale")
        @classmethod
        def _half(cls, scale: float) -> float:
            return scale / 2


class NeedsAnOption(Right):
    """Its options need what its samples do not give."""

    name = "needs_an_option"

    class Options(Right.Options):
        exponent: int


class NoSamples(Right):
    """Gives no options to be tried with."""

    name = "no_samples"

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ()


class Terse(Right):
    """A score."""

    name = "terse"


@fw.hookimpl
def attention_score() -> tuple[type[fw.AttentionScore], ...]:
    return (
        TakesAnyOption, TakesAnyOptionInside, ReadsBackOther, NeedsAnOption, NoSamples, Terse,
    )  # fmt: skip
