"""All that must hold of a right attention_score, each property by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework import testing

FILE = Path(__file__).with_name("my_plugin.py")
CASES = testing.cases("attention_score", "my_plugin", [FILE])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_my_plugin(case: testing.Case) -> None:
    case.run()
