from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.verses.prepare import align, clean, split_of, verses

SCRIPT = Path(__file__).parents[3] / "experiments" / "verses" / "prepare.py"

DUMP = """$$$[ Module Heading ]

$$$Fables 0:0
<title>Fables</title> An introduction.
$$$Fables 1:0
<chapter osisID="Fables.1"/>
$$$Fables 1:1
<w lemma="strong:H1">The fox</w> <w lemma="strong:H2">saw</w>
<w>the grapes</w>.
$$$Fables 1:2
<div type="paragraph"/>
$$$II Fables 10:12
They were sour.
"""


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<w>The fox</w> <w>saw</w> <w>it</w>, <w>and left</w>.", "The fox saw it, and left."),
        ("<w>there</w><transChange>also</transChange><w>gold</w>", "there also gold"),
        ('The fox<note placement="foot"><w>A</w> kind\nof dog.</note> saw', "The fox saw"),
        ('<title type="psalm">A <w>song</w>.</title> <l>Sing</l><l>loud</l>', "Sing loud"),
        ("said, “<w>Let</w> <w>it be</w>,” and", "said, “Let it be,” and"),
        ("¿<w>Qué</w> <w>es</w>? (<w>dijo</w>)", "¿Qué es? (dijo)"),
        ("<w>said</w> ’twas", "said ’twas"),
        ("the <w>foxes</w>’ den", "the foxes’ den"),
        ("bread &amp; wine", "bread & wine"),
        ("cafe\u0301 \u00a0 con\n\tleche ", "café con leche"),
        ('<div eID="gen1" type="x-p"/> <milestone type="line"/>', ""),
    ],
)
def test_a_verse_is_its_words_alone(markup, text):
    assert clean(markup) == text


def test_a_dump_is_read_verse_by_verse_without_headings_and_empty_verses():
    assert verses(DUMP) == {"Fables 1:1": "The fox saw the grapes.", "II Fables 10:12": "They were sour."}


def test_verses_of_one_language_alone_are_left_out():
    table = align({"A 1:1": "one", "A 1:2": "two", "B 1:1": "three"}, {"B 1:1": "tres", "A 1:1": "uno"})
    assert table.select("reference", "en", "es").rows() == [("A 1:1", "one", "uno"), ("B 1:1", "three", "tres")]


def test_the_split_of_a_verse_depends_on_its_reference_alone():
    splits = [split_of(f"Fables {chapter}:{verse}") for chapter in range(1, 101) for verse in range(1, 101)]
    assert {"train", "dev", "test"} == set(splits)
    for name in ("dev", "test"):
        assert 250 < splits.count(name) < 380  # 312 expected
    assert [split_of("Genesis 1:1"), split_of("Genesis 1:3")] == ["train", "test"]


@pytest.mark.parametrize(
    ("mod2imp", "message"),
    [
        (None, "mod2imp is not installed; install it with: apt-get install sword-text-web libsword-utils"),
        ("exit 255", "the SWORD module engWEB2015eb is not installed; install it with: apt-get install sword-text-web"),
    ],
)
def test_what_is_not_installed_is_named_with_the_way_to_get_it(tmp_path, mod2imp, message):
    if mod2imp:
        (tmp_path / "mod2imp").write_text(f"#!/bin/sh\n{mod2imp}\n")
        (tmp_path / "mod2imp").chmod(0o755)
    ran = subprocess.run(
        [sys.executable, SCRIPT], env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert message in ran.stderr
