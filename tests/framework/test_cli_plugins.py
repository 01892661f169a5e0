"""`ablate plugins`, and `--plugin`: what is listed and shown, and the words for what there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.framework.plugin_files import score
from tests.framework.tiny_experiment import ablate, write

MISHAPS = Path(__file__).parent / "launchers" / "mishaps.py"


def test_plugins_are_listed_by_kind_with_those_that_failed(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    said = ablate("plugins", "list", "--plugin", broken, "--plugin", MISHAPS)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "attention_score"
    said_of_it = "Raises, exits, dies or talks, as asked, the first time that it scores in training."
    assert any(line.split(maxsplit=1) == ["mishap", said_of_it] for line in lines)
    assert lines[-1] == (
        f"FAILED broken ({broken}) failed to load: ModuleNotFoundError: No module named 'nothing_of_that_name'"
    )


def test_a_name_that_is_offered_twice_is_listed_as_unusable(tmp_path):
    (tmp_path / "mine.py").write_text(score("kernel"))
    said = ablate("plugins", "list", "--plugin", tmp_path)
    mine, built_in = sorted(line for line in said.out.splitlines() if line.startswith("  kernel "))[::-1]
    assert built_in.endswith("  OFFERED TWICE, unusable: plugins.attention_scores.kernel (transformer-ablations 0.1.0)")
    assert "  OFFERED TWICE, unusable: transformer_ablations_file_mine_" in mine
    assert mine.endswith(f" ({tmp_path / 'mine.py'})")
    assert said.out.count("OFFERED TWICE") == 2


def test_a_plugin_is_shown_with_its_options():
    said = ablate("plugins", "show", "attention_score", "mishap", "--plugin", MISHAPS)
    assert said.code == 0
    assert said.out.startswith(f"attention_score mishap, from {MISHAPS}: ")
    assert "Raises, exits, dies or talks" in said.out
    assert said.out.endswith("\nOptions:\n  how: `raises` or `exits` or `exits_hard` or `dies` or `talks`; required.\n")
    assert ablate("plugins", "show", "positional_scheme", "sinusoidal").out.endswith("\nNo options.\n")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            ("atention_score", "additive"),
            "no kind of plugin is called 'atention_score'; did you mean 'attention_score'?",
        ),
        (("attention_score", "aditive"), "no attention score is named 'aditive'; did you mean 'additive'?"),
    ],
)
def test_a_plugin_that_there_is_not(asked, words):
    said = ablate("plugins", "show", *asked)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(words)


def test_a_plugin_named_twice_over_is_loaded_once(tmp_path):
    path = write(
        tmp_path, plugins=[str(MISHAPS)], model={"attention_score": {"name": "mishap", "options": {"how": "talks"}}}
    )
    assert ablate("check", path, "--plugin", MISHAPS).code == 0
