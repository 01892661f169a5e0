from __future__ import annotations

import pytest

from framework import errors
from framework.errors import FrameworkError, Place, Problem, SpecError

FAMILY = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
]  # fmt: skip


def test_one_except_catches_all_that_is_raised_on_purpose():
    assert all(issubclass(kind, FrameworkError) for kind in FAMILY)


@pytest.mark.parametrize("kind", FAMILY)
def test_the_tree_in_the_docstring_is_the_tree_of_classes(kind):
    assert errors.__doc__ is not None
    lines = errors.__doc__.splitlines()
    (line,) = [line for line in lines if line.strip("│├└─ ").split()[:1] == [kind.__name__]]
    depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
    assert depth == len(kind.__mro__) - len(FrameworkError.__mro__)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("x.yaml", 3, 7), "x.yaml:3:7"),
        (Place("x.yaml", 3), "x.yaml:3"),
        (Place("--set a=1"), "--set a=1"),
    ],
)
def test_a_place_reads_as_editors_and_compilers_write_it(place, text):
    assert str(place) == text


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("is wrong", "a.b", Place("x.yaml", 3, 7)), "x.yaml:3:7: a.b: is wrong"),
        (Problem("is wrong", "a.b"), "a.b: is wrong"),
        (Problem("is wrong", place=Place("x.yaml")), "x.yaml: is wrong"),
        (Problem("is wrong"), "is wrong"),
    ],
)
def test_a_problem_is_one_line(problem, text):
    assert str(problem) == text


def test_a_spec_error_carries_and_prints_every_problem():
    one, two = Problem("is wrong", "a"), Problem("is missing", "b")
    assert SpecError([one, two]).problems == (one, two)
    assert str(SpecError([one, two])) == "a: is wrong\nb: is missing"
    assert SpecError(one).problems == SpecError("is wrong", "a").problems == (one,)
    assert SpecError(problem for problem in (one, two)).problems == (one, two)
