from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from framework.spec import INCIDENTAL, Options, Spec, identity
from framework.spec.base import distinct


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


class Sets(Spec):
    names: frozenset[str] = frozenset("hgfedcba")
    inner: tuple[Inner, ...] = (Inner(),)
    nested: dict[str, tuple[frozenset[str], ...]] = {"k": (frozenset("xyzuvw"),)}  # noqa: RUF012  # frozen with it


SORTED = {"names": list("abcdefgh"), "inner": [{"kept": 1}], "nested": {"k": [list("uvwxyz")]}}


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_identity_of_sets_is_the_same_in_every_process(hash_seed):
    program = "from tests.framework.spec.test_base import Sets, identity, json; print(json.dumps(identity(Sets())))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=root, capture_output=True, check=True)
    assert json.loads(done.stdout) == SORTED


def test_a_list_in_which_a_value_stands_twice_is_refused_at_the_second():
    assert distinct((1, 2, 3)) == (1, 2, 3)
    with pytest.raises(PydanticCustomError, match=r"^2 stands twice: write it once$") as caught:
        distinct((2, 1, 2))
    assert caught.value.context == {"value": 2, "at": (2,)}


def test_options_are_specs_without_fields():
    assert issubclass(Options, Spec)
    assert Options.model_fields == {}
