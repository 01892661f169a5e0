"""`ablate plugins`, and `--plugin`: what is listed, shown and checked, and the words for what there is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.framework.plugin_files import score
from tests.framework.tiny_experiment import ablate, write

MISHAPS = Path(__file__).parent / "launchers" / "mishaps.py"
MUTANTS = Path(__file__).parent / "testing" / "mutants"


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


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def (:", "SyntaxError: invalid syntax (bad_plug.py, line 1)"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_an_installed_plugin_that_fails_costs_nothing_until_an_experiment_uses_it(
    tmp_path, install_bad_and_good, failure, words
):
    install_bad_and_good(failure)
    cause = f"bad_plug (bad-dist 1.0) failed to load: {words}"
    said = ablate("plugins", "list")
    assert said.code == 0
    assert any(line.split(maxsplit=1) == ["good", "A score for tests."] for line in said.out.splitlines())
    assert said.out.splitlines()[-1] == f"FAILED {cause}"
    assert ablate("check", write(tmp_path)).code == 0
    assert ablate("check", write(tmp_path, model={"attention_score": "good"})).code == 0
    for name in ("bad", "bad_plug"):
        said = ablate("run", write(tmp_path, model={"attention_score": name}), "--home", tmp_path / "home")
        assert (said.code, said.out) == (2, "")
        assert cause in said.err
    assert not (tmp_path / "home").exists()


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
    assert ablate("plugins", "show", "positional_scheme", "none").out.endswith("\nNo options.\n")


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


def test_a_plugin_is_checked_by_kind_and_name_with_a_line_per_property_and_its_cost():
    said = ablate("plugins", "check", "attention_score", "bilinear")
    assert (said.code, said.err) == (0, "")
    first, *lines, last = said.out.splitlines()
    assert (first, last) == ("attention_score bilinear", "1 checked, 0 broken")
    assert lines[:2] == ["  pass  docstring", "  pass  samples"]
    assert re.fullmatch(r"  pass  cost +at encoder\.self: .* ms at 256, .*: grows as length\^\d\.\d", lines[-1])
    assert {line[:6] for line in lines} == {"  pass"}


def test_a_broken_plugin_of_a_file_is_told_by_property_with_what_was_seen_and_the_way_out(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(score("mine").replace("return query @", "return 0 / query @"))
    said = ablate("plugins", "check", path)
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0] == "attention_score mine"
    assert lines[-1] == "1 checked, 1 broken"
    (broken,) = (line for line in lines if " zero_vectors " in line)
    assert broken == (
        "  FAIL  zero_vectors        at encoder.self: forward gives nan at (0, 0, 0, 0) for vectors of zeros, and must "
        "be finite: bound what is divided by or taken a root of"
    )
    assert not any(" cost " in line for line in lines)


def test_what_rests_on_a_broken_property_is_not_tried(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(score("mine").replace("return query @ key.transpose(-2, -1)", "return query"))
    said = ablate("plugins", "check", path)
    assert said.code == 1
    lines = said.out.splitlines()
    assert any(line.startswith("  FAIL  shape               at encoder.self: forward gives shape") for line in lines)
    assert "        pairwise            not tried: what it rests on is broken" in lines


def test_all_plugins_of_a_folder_are_checked():
    said = ablate("plugins", "check", MUTANTS.parent / "mutants" / "corpora.py")
    assert said.code == 1
    assert said.out.splitlines()[-1] == "11 checked, 9 broken"


def test_a_file_of_an_installed_plugin_is_not_taken_for_another_of_that_name():
    import plugins.masks.causal

    said = ablate("plugins", "check", plugins.masks.causal.__file__)
    assert (said.code, said.out.splitlines()[0]) == (0, "mask causal")


def test_a_plugin_that_is_checked_by_name_may_come_from_a_file():
    said = ablate("plugins", "check", "mask", "inverted", "--plugin", MUTANTS / "masks.py")
    assert said.code == 1
    assert "  FAIL  sees_something      at decoder.self: position 1 of 64 may see nothing" in said.out


def test_checking_all_counts_what_did_not_load_as_broken(tmp_path, monkeypatch):
    """With a few plugins for all: that every built-in keeps its contract is tried one by one."""
    from framework.registry import Registry
    from framework.sources import named

    (tmp_path / "mine.py").write_text(score("mine"))
    monkeypatch.setattr(Registry, "load", classmethod(lambda cls, paths=(): cls(named([tmp_path, *paths]))))
    said = ablate("plugins", "check", "--all")
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 checked, 0 broken")
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    said = ablate("plugins", "check", "--all")
    assert said.code == 1
    assert said.out.splitlines()[-1] == "1 checked, 0 broken, 1 not loaded"
    assert said.out.splitlines()[-2].startswith("FAILED broken (")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((), "plugins check: name a KIND and a NAME, or the PATH of a plugin file or folder, or --all"),
        (("mask", "full", "more"), "plugins check: name a KIND and a NAME, or the PATH of a plugin"),
        (("mask", "full", "--all"), "plugins check: name a KIND and a NAME, or the PATH of a plugin"),
        (("nowhere.py",), "the plugin nowhere.py does not exist"),
        (("masks", "full"), "no kind of plugin is called 'masks'; did you mean 'mask'?"),
        (("mask", "ful"), "no mask is named 'ful'; did you mean 'full'?"),
    ],
)
def test_what_cannot_be_checked_is_bad_input(asked, words):
    said = ablate("plugins", "check", *asked)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import nothing_of_that_name\n",
            "failed to load: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        ("x = 1\n", "failed to load: PluginError: it offers no plugin: a hook, marked @fw.hookimpl, returns the"),
    ],
)
def test_a_file_that_does_not_load_is_bad_input(tmp_path, text, words):
    path = tmp_path / "mine.py"
    path.write_text(text)
    said = ablate("plugins", "check", path)
    assert (said.code, said.out) == (2, "")
    assert words in said.err


def test_a_folder_without_plugins_is_bad_input(tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    said = ablate("plugins", "check", tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"{tmp_path} offers no plugin: a hook, marked @fw.hookimpl, returns the plugin's class\n"
