"""What an author's own tests are made of: cases, each one property with one of the plugin's options at one site."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework import testing
from framework.contracts import Site
from framework.errors import PluginError, SpecError
from framework.testing.settings import in_words

MUTANTS = Path(__file__).parent / "mutants"


def cases(kind, name):
    return testing.cases(kind, name, [MUTANTS])


def test_a_right_plugin_passes_case_by_case():
    found = cases("attention_score", "right")
    for case in found:
        assert case.run() is None
    names = [str(case) for case in found]
    assert len(set(names)) == len(names)
    assert {"docstring", "pairwise at encoder.self", "pairwise scale=0.5 at decoder.cross"} <= set(names)


def test_a_broken_one_fails_with_property_plugin_and_circumstances():
    (case,) = (
        case for case in cases("attention_score", "softmaxed") if str(case) == "pairwise scale=0.5 at decoder.self"
    )
    with pytest.raises(PluginError) as broken:
        case.run()
    assert str(broken.value).startswith(
        "pairwise: plugin 'softmaxed' (scale=0.5 at decoder.self): a score sees one query and one key at a time: "
    )


def test_what_is_true_of_a_plugin_whatever_its_options_has_no_circumstances():
    (case,) = (case for case in cases("attention_score", "terse") if str(case) == "docstring")
    with pytest.raises(PluginError, match=r"^docstring: plugin 'terse': the docstring begins with 'A score\.'"):
        case.run()


def test_without_fitting_samples_there_is_only_what_needs_none():
    assert [str(case) for case in cases("attention_score", "needs_an_option")] == [
        "docstring",
        "samples",
        "unknown_option",
        "options_in_json",
    ]


def test_a_mixer_is_tried_where_it_can_stand():
    assert {case.site for case in cases("mixer", "knows_the_length")} == {None, Site.DECODER_SELF}
    assert {case.site for case in cases("mixer", "attends")} == {None, *Site}


def test_schemes_and_feed_forwards_are_tried_once_in_each_stack():
    for kind in ("positional_scheme", "feed_forward"):
        assert {case.site for case in cases(kind, "right")} == {None, Site.ENCODER_SELF, Site.DECODER_SELF}


def test_of_what_removes_its_sublayer_only_options_and_docstring_are_tried():
    for kind in ("mixer", "feed_forward"):
        assert [case.site for case in testing.cases(kind, "none")] == [None] * 4


def test_a_plugin_that_reads_files_finds_those_that_it_wrote_for_its_samples(tmp_path):
    path = tmp_path / "from_a_file.py"
    path.write_text('''"""A corpus that reads a file, made for a test."""
import framework as fw


class FromAFile(fw.Corpus):
    name = "from_a_file"

    class Options(fw.Options):
        path: str

    @classmethod
    def samples(cls, folder):
        assert not list(folder.iterdir())
        (folder / "words.txt").write_text("one two three")
        return [{"path": "words.txt"}]

    def splits(self):
        return ("train", "dev")

    def pairs(self, split):
        words = (self.base_dir / self.options.path).read_text().split()
        return [fw.Pair(split, word) for word in words]


@fw.hookimpl
def corpus():
    return FromAFile
''')
    found = testing.cases("corpus", "from_a_file", [path])
    assert "order path=words.txt" in [str(case) for case in found]
    for case in found:
        case.run()


def test_examples_in_two_splits_are_told_and_no_mistake():
    (case,) = (case for case in cases("corpus", "overlaps") if str(case) == "disjoint")
    assert case.run() == "5 of 5 of dev are in train as well"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("score", "kernel"), "no kind of plugin is called 'score'"),
        (("attention_score", "kernle"), "no attention score is named 'kernle'; did you mean 'kernel'?"),
    ],
)
def test_a_plugin_that_there_is_not(asked, words):
    with pytest.raises(SpecError) as refused:
        testing.cases(*asked)
    assert str(refused.value).startswith(words)


def test_options_in_words():
    assert in_words({"scale": False, "learned": "no", "width": 3, "bound": None}) == (
        "scale=false, learned=no, width=3, bound=null"
    )
