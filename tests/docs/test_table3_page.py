"""The page about Table 3 shows the printed figures, our counts, and what the profiles hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from framework.spec.load import read, validate
from tests.experiments.shipped import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "table3.md").read_text(encoding="utf-8")
GOLDEN, COUNTED = (
    json.loads((ROOT / "tests" / "golden" / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("table3", "table3_parameters")
)
TARGET_SPACE_ROWS = 32


def table(title: str) -> list[list[str]]:
    """The cells of the table whose first heading is this, its head left out."""
    lines = re.search(rf"^\| {title} \|.*\n\|[-:|]+\n((?:\|.*\n)+)", PAGE, re.M)
    assert lines is not None
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines[1].splitlines()]


def written(column: str, value: str | float | None) -> str:
    if value is None:
        return ""
    if column == "perplexity":
        return f"{value:.2f}"
    return f"{value}K" if column == "kilosteps" else str(value)


def test_the_rows_are_those_that_are_printed():
    columns = GOLDEN["columns"]
    expected = [[written(column, value) for column, value in zip(columns, row, strict=True)] for row in GOLDEN["rows"]]
    assert [row[: len(columns)] for row in table("row")] == expected


def test_the_counts_are_those_of_the_paper_s_equations():
    for row, counted in zip(table("row"), COUNTED["rows"].values(), strict=True):
        width = counted["change"].get("d_model", 512)
        count = (counted["num_parameters"] + TARGET_SPACE_ROWS * width) / 1e6
        assert row[-1] == ("" if counted["printed_millions"] is None else f"{count:.3f}")


@pytest.mark.parametrize(
    "field",
    [
        "train.adam_beta2",
        "data.tokenizer.vocabulary_size",
        "train.batch_tokens",
        "model.positional_scheme.options.layout",
        "model.mixer.options.initialization",
    ],
)
def test_the_profiles_decide_as_the_page_says(field):
    (row,) = (row for row in table("decision") if row[1] == field)
    assert row[2:5] == [str(decisions[field]) for decisions in GOLDEN["profiles"].values()]


def test_the_page_s_experiment_is_one(registry, tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    path = tmp_path / "mine.yaml"
    path.write_text(block.replace("profiles/", f"{EXPERIMENTS}/profiles/"), encoding="utf-8")
    model = validate(read(path), registry).rows["base"].spec.model
    assert (model.d_model, model.norm_order) == (256, "pre_norm")
