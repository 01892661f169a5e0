"""A property's outcome: what it raises is its failure, in a sentence, and it leaves everything else alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from framework.errors import PluginError
from framework.testing.property import Outcome, Property
from framework.testing.subject import Subject


@dataclass(frozen=True)
class Number(Subject):
    """A number to try properties on."""

    tried_on: ClassVar[str] = "a number"

    value: int = 0


def even(subject: Number) -> str | None:
    """It is even,
    and a half of it is told.

    Whatever stands here is for those who read the code.
    """
    if subject.value % 2:
        raise PluginError(f"{subject.value} is odd: add one")
    return str(subject.value // 2)


def fails(subject: Number) -> None:
    """It fails."""
    raise KeyError("a\nb")


def leaves(subject: Number) -> None:
    """It ends the program."""
    raise SystemExit(3)


def draws(subject: Number) -> str:
    """It draws a number, on one thread."""
    torch.manual_seed(0)
    return str(torch.get_num_threads())


def test_a_property_is_called_as_its_function_and_says_what_its_docstring_begins_with():
    assert (Property(even).name, Property(even).says) == ("even", "It is even, and a half of it is told.")


def test_what_holds_may_give_a_note_and_what_is_broken_says_so():
    assert Property(even).of(Number(Number, 4)) == Outcome(note="2")
    assert Property(even).of(Number(Number, 5)) == Outcome(broken="5 is odd: add one")


@pytest.mark.parametrize(("check", "words"), [(fails, "KeyError: 'a\\nb'"), (leaves, "SystemExit: 3")])
def test_whatever_is_raised_is_told_with_its_line(check, words):
    said = Property(check).of(Number(Number)).broken
    line = check.__code__.co_firstlineno + 2
    assert said == f"fails on a number: {words} ({__file__}:{line})"


def test_the_generator_and_the_number_of_threads_are_left_alone():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(5)
        expected = torch.rand(1)
        torch.manual_seed(5)
        assert Property(draws).of(Number(Number)).note == "1"
        assert torch.equal(torch.rand(1), expected)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
