from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import ValidationError

from framework.spec import INCIDENTAL, Options, Spec, identity


class Inner(Spec):
    kept: int = 1
    left_out: Annotated[int, INCIDENTAL] = 2


class Outer(Spec):
    inner: Inner = Inner()
    width: float = 1.0
    words: tuple[str, ...] = ()
    note: Annotated[str, INCIDENTAL] = ""


def test_a_spec_cannot_be_changed():
    with pytest.raises(ValidationError, match="Instance is frozen"):
        Outer().width = 2.0  # type: ignore[misc]  # that is the point


@pytest.mark.parametrize(
    "fields",
    [
        {"width": True},
        {"width": "1"},
        {"width": float("nan")},
        {"width": float("inf")},
        {"words": "text"},
        {"words": (1,)},
        {"other": 1},
        {"inner": {"other": 1}},
        {"inner": {"kept": 1.0}},
        {"inner": {"kept": True}},
    ],
)
def test_a_spec_takes_nothing_for_something_else(fields):
    with pytest.raises(ValidationError):
        Outer(**fields)


def test_a_whole_number_is_a_number():
    assert Outer(width=2) == Outer(width=2.0)


def test_identity_leaves_incidental_fields_out_at_every_depth():
    assert identity(Outer()) == {"inner": {"kept": 1}, "width": 1.0, "words": []}
    assert identity(Outer(note="x", inner=Inner(left_out=7))) == identity(Outer())
    assert identity(Outer(inner=Inner(kept=7))) != identity(Outer())


def test_options_are_specs_without_fields():
    assert issubclass(Options, Spec)
    assert Options.model_fields == {}
