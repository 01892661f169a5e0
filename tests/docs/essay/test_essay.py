"""The pages and pictures as they are committed are those that the code computes and draws."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys

import numpy
import pytest
import yaml
from matplotlib import image

import framework as fw
from docs.essay import cost_times, essay
from docs.essay.page import FOLDER
from docs.essay.picture import svg

ROOT = FOLDER.parents[1]
WRITTEN = sorted(FOLDER.glob("*.md"))
NAMES = [path.name for path in WRITTEN]


def rows(path):
    (block,) = re.findall(r"^```yaml\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    return yaml.safe_load(block)


def test_every_page_is_what_the_code_computes(pages):
    assert [f"{page.name}.md" for page in sorted(pages, key=lambda page: page.name)] == NAMES
    for page in pages:
        assert (FOLDER / f"{page.name}.md").read_text(encoding="utf-8") == page.text, "run `make docs`"


def test_no_value_is_computed_and_left_out(pages):
    for page in pages:
        assert set(page.template.get_identifiers()) == set(page.values), page.name


def test_every_picture_is_there_and_shown_by_its_page(pages):
    for page in pages:
        assert set(re.findall(r"^!\[.+\]\((.+)\)$", page.text, re.M)) == set(page.pictures), page.name
        for name in page.pictures:
            assert (FOLDER / name).read_bytes().startswith(b"<?xml"), name
    assert {path.name for path in FOLDER.glob("*.svg")} == {name for page in pages for name in page.pictures}


def embedded(picture):
    """The images in a picture, `(height, width, 4)` each."""
    found = re.findall(r"data:image/png;base64,([^\"]+)", picture)
    return [image.imread(io.BytesIO(base64.b64decode(data))) for data in found]


def words_and_numbers(picture):
    """What a picture is made of and says, and the numbers between, without names made of digests of numbers."""
    plain = re.sub(r'data:image/png;base64,[^"]+|\bid="[^"]*"|#[mp][0-9a-f]{8,}\b', "", picture)
    number = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
    return re.split(number, plain), [float(found) for found in re.findall(number, plain)]


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.svg")))
def test_a_picture_is_what_the_code_draws(pages, name):
    (drawing,) = (page.pictures[name] for page in pages if name in page.pictures)
    drawn, committed = svg(drawing).decode(), (FOLDER / name).read_text(encoding="utf-8")
    (words, drawn_numbers), (expected_words, expected_numbers) = map(words_and_numbers, (drawn, committed))
    assert words == expected_words, "run `make docs`"
    assert drawn_numbers == pytest.approx(expected_numbers, abs=0.05), "run `make docs`"  # of a point, 1/72 inch
    for pixels, expected in zip(embedded(drawn), embedded(committed), strict=True):
        numpy.testing.assert_allclose(pixels, expected, atol=0.02, err_msg="run `make docs`")


def test_a_picture_is_the_same_each_time(pages):
    drawing = pages[1].pictures["two-tokens.svg"]
    assert svg(drawing) == svg(drawing)
    assert b"<dc:date>" not in svg(drawing)


def test_writing_makes_every_page_and_picture(tmp_path, monkeypatch, registry, pages):
    monkeypatch.setattr(essay, "PAGES", essay.PAGES[:2])
    essay.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "README.md",
        "two-tokens.md",
        "two-tokens.svg",
        "not-good.md",
        "not-good.svg",
    }


def test_the_index_leads_to_every_page_in_order(pages):
    listed = re.findall(r"^\d\. \[(.+)\]\((.+)\.md\)", pages[0].text, re.M)
    assert listed == [(page.text.splitlines()[0].removeprefix("# "), page.name) for page in pages[1:]]


@pytest.mark.parametrize("path", WRITTEN, ids=NAMES)
def test_the_rows_at_the_end_of_a_page_are_rows_of_an_experiment(path, tmp_path):
    experiment = {"extends": str(ROOT / "experiments" / "quickstart.yaml"), "name": "essay", "seeds": [1], **rows(path)}
    mine = tmp_path / "mine.yaml"
    mine.write_text(yaml.safe_dump(experiment), encoding="utf-8")
    wanted = list(experiment["rows"])
    survey = fw.load(mine, home=tmp_path, rows=wanted).survey()
    assert {line.trial.row: line.status for line in survey} == dict.fromkeys(wanted, "to do")
    keys = {line.trial.train_key for line in survey}
    assert len(keys) == len(wanted), "every row changes something"


def test_the_command_that_measures_is_the_one_that_the_page_names():
    done = subprocess.run([sys.executable, "docs/essay/cost.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--measure" in done.stderr


def test_measured_times_are_kept_as_they_are_read(tmp_path, monkeypatch):
    times = cost_times.kept()
    monkeypatch.setattr(cost_times, "KEPT", tmp_path / "cost.json")
    cost_times.keep(times)
    assert cost_times.kept() == times
