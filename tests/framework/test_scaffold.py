"""`ablate plugins new`: for every kind a file that works, its test, and words for what cannot be written."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

import framework as fw
from framework import testing
from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.scaffold import scaffold
from framework.spec.component import KINDS
from tests.framework.tiny_experiment import TWO_ROWS, ablate, write

ROOT = Path(__file__).parents[2]


@pytest.fixture
def new(tmp_path, registry):
    def written(kind, name, folder=tmp_path):
        return scaffold(kind, name, folder, registry)

    return written


def test_there_is_a_template_for_every_kind_and_one_for_tests():
    names = {file.name for file in files("framework.scaffold").joinpath("templates").iterdir() if file.is_file()}
    assert names == {f"{kind}.py" for kind in CONTRACTS} | {"test_my_plugin.py"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_keeps_its_contract(new, kind):
    written = new(kind, "mine")
    tried = testing.cases(kind, "mine", [written.plugin])
    assert {case.property.name for case in tried} > {"docstring", "samples", "unknown_option"}
    for case in tried:
        case.run()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_has_an_option_and_says_where_it_comes_from(new, kind):
    (entry,) = (e for e in Registry.load([new(kind, "mine").plugin]).entries() if (e.kind, e.name) == (kind, "mine"))
    assert entry.plugin.Options.model_fields
    assert any(source in entry.summary for source in ("arXiv", "JMLR"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_row_that_is_shown_is_one_that_an_experiment_takes(new, tmp_path, kind):
    added = yaml.safe_load(new(kind, "mine").experiment)
    path = write(tmp_path, rows={**TWO_ROWS, **added["rows"]}, plugins=added["plugins"])
    (line,) = (line for line in fw.load(path, home=tmp_path).survey() if line.trial.row == "mine")
    assert line.status == "to do"
    assert '"name":"mine"' in line.trial.model_dump_json()


@pytest.mark.parametrize("name", ["mine", "the_bandwidth_is_learned_for_every_layer_of_its_own"])
def test_what_is_written_is_formatted_as_the_house_is(new, tmp_path, name):
    for kind in KINDS:
        new(kind, name, tmp_path / kind)
    for command in (["format", "--check"], ["check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", ROOT / "pyproject.toml", tmp_path]
        said = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout


def test_the_test_that_is_written_passes(new, tmp_path):
    written = new("feed_forward", "mine")
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", written.test.name]
    said = subprocess.run(pytest_run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout
    assert " passed" in said.stdout


@pytest.mark.parametrize(
    ("name", "class_name"),
    [("my_score", "MyScore"), ("l2_norm", "L2Norm"), ("tensor", "TensorMask"), ("options", "OptionsMask")],
)
def test_the_class_is_named_after_the_plugin_unless_its_file_has_another_of_that_name(new, name, class_name):
    text = new("mask", name).plugin.read_text()
    assert f"class {class_name}(fw.Mask):" in text
    assert f"return {class_name}\n" in text
    assert f'name = "{name}"' in text
    assert "MyPlugin" not in text
    assert "my_plugin" not in text


def test_the_verb_writes_where_it_is_called_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ablate("plugins", "new", "attention_score", "my_score")
    assert (said.code, said.err) == (0, "")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["my_score.py", "test_my_score.py"]
    assert said.out == (
        "Wrote my_score.py and test_my_score.py. To try it, now and after each change:\n"
        "\n"
        "  ablate plugins check my_score.py\n"
        "  pytest test_my_score.py\n"
        "\n"
        "To use it in an experiment beside it, which may have rows already:\n"
        "\n"
        "  plugins: [my_score.py]\n"
        "  rows:\n"
        "    my_score: {change: {model.attention_score: my_score}}\n"
    )


def test_the_verb_makes_the_folder_that_it_is_told(tmp_path):
    folder = tmp_path / "scores" / "mine"
    said = ablate("plugins", "new", "attention_score", "my_score", "--folder", folder)
    assert said.code == 0
    assert f"ablate plugins check {folder / 'my_score.py'}" in said.out
    assert (folder / "test_my_score.py").exists()


@pytest.mark.parametrize("there", ["my_mask.py", "test_my_mask.py"])
def test_nothing_is_overwritten(new, tmp_path, there):
    (tmp_path / there).write_text("mine")
    with pytest.raises(fw.SpecError, match="is there already, and stays as it is: choose another name") as error:
        new("mask", "my_mask")
    assert str(tmp_path / there) in str(error.value)
    assert [file.name for file in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


def test_a_kind_that_there_is_not_is_answered_with_the_nearest(new):
    with pytest.raises(fw.SpecError, match="no kind of plugin is called 'atention_score'; did you mean 'attention_s"):
        new("atention_score", "my_score")


@pytest.mark.parametrize("name", ["My_Score", "my-score", "2d", "_mine", "a/b", "a.b", "", "größe", "class", "none "])
def test_a_name_is_a_word_that_can_name_a_file_and_a_module(new, tmp_path, name):
    with pytest.raises(fw.SpecError, match="cannot be the name of a plugin and its file") as error:
        new("mask", name)
    assert repr(name) in str(error.value)
    assert str(error.value).endswith("such as my_mask")
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_taken_is_refused_and_its_owner_named(new, tmp_path, registry):
    with pytest.raises(fw.SpecError, match="the mask 'causal' is there already, from transformer-ablations"):
        new("mask", "causal")
    with pytest.raises(fw.SpecError, match=r"the mask 'mine' is there already, from .*mine\.py: choose another name"):
        scaffold("mask", "mine", tmp_path / "other", Registry.load([new("mask", "mine").plugin]))


def test_a_name_of_another_kind_is_free(new):
    assert new("mixer", "causal").plugin.name == "causal.py"


def test_a_file_that_would_hide_a_module_is_refused_unless_it_is_inside_a_package(new, tmp_path):
    with pytest.raises(
        fw.SpecError, match=r"random\.py would hide the module 'random' from Python: choose another name"
    ):
        new("mixer", "random")
    (tmp_path / "__init__.py").touch()
    assert new("mixer", "random").plugin.exists()


@pytest.mark.parametrize("name", ["conftest", "test_mine"])
def test_a_name_that_would_make_the_plugin_a_test_is_refused(new, tmp_path, name):
    with pytest.raises(fw.SpecError, match="would be passed over in a folder of plugins, as tests are: choose a name"):
        new("mask", name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("folder", ["taken", "taken/below"])
def test_a_folder_in_whose_place_is_a_file_is_refused(tmp_path, folder):
    (tmp_path / "taken").write_text("mine")
    said = ablate("plugins", "new", "mask", "mine", "--folder", tmp_path / folder)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"{tmp_path / folder} cannot be made: a file is in its place: choose another --folder\n"
    assert (tmp_path / "taken").read_text() == "mine"
