from __future__ import annotations

import pytest
import torch

from docs.essay.page import Page, number, table, vector


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(1.006, 2, "1.01"), (-0.001, 2, "0.00"), (-1.34, 1, "-1.3"), (torch.tensor(2.0), 0, "2")],
)
def test_a_number_has_its_digits_and_zero_no_sign(value, digits, text):
    assert number(value, digits) == text


def test_a_vector_is_written_in_brackets():
    assert vector(torch.tensor([6.698, -0.0]), 1) == "(6.7, 0.0)"


def test_a_table_is_markdown():
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| :--- | ---: |\n| 1 | 2 |"


def test_a_page_without_one_of_its_values_is_refused():
    with pytest.raises(KeyError, match="letters"):
        _ = Page("sinusoids").text
