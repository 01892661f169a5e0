"""The plugin guide, gone through step by step: its files are written, its commands run, what it shows is what they say.

Outputs are compared without the times that they hold; `…` alone on a line stands for any number of lines.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

import framework as fw
from tests.framework.tiny_experiment import ablate

PAGE = (Path(__file__).parents[2] / "docs" / "write-a-plugin.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
CODE = [body for language, body in BLOCKS if language == "python"]
WHOLE_FILES = [body for body in CODE if "hookimpl" in body]


def without_times(said: str) -> str:
    return re.sub(r"[\d.]+( ms at)|(length\^)[\d.-]+", r"\1\2", said)


def as_pattern(shown: str) -> str:
    """A regular expression for what is shown, in which a line of `…` stands for any lines."""
    lines = [r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + r"\n" for line in shown.splitlines()]
    return "".join(lines)


def member(beginning: str) -> str:
    """The block that is a method, or some lines of one."""
    (found,) = (body for body in CODE if body.startswith(beginning))
    return found


def with_method(text: str, method: str) -> str:
    """A file whose class has a method more, in front of `forward`."""
    return text.replace("    def forward", f"{textwrap.indent(method, '    ')}\n    def forward")


def instead_of_forward(text: str, method: str) -> str:
    return re.sub(r"    def forward.*?\n(?=\n\n@)", textwrap.indent(method, "    "), text, flags=re.S)


def standardised(text: str) -> str:
    return re.sub(r"        return query.*\n", textwrap.indent(member("scores = "), " " * 8), text)


def with_samples(text: str) -> str:
    imports = member("from collections")
    return with_method(text.replace("\nimport torch\n", f"\n{imports}\nimport torch\n"), member("@classmethod"))


def in_dot_product_form(text: str) -> str:
    return instead_of_forward(text, member("def features")).replace("(fw.AttentionScore)", "(fw.DotProductForm)")


def stages() -> list[str]:
    """The plugin at each command that is shown: as written by `new`, then as the guide has changed it."""
    least, weighted = WHOLE_FILES
    started = with_method(weighted, member("def reset_parameters"))
    sampled = with_samples(started)
    return [standardised(least), weighted, sampled, in_dot_product_form(sampled)]


def test_the_guide_says_what_its_commands_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    transcripts = [body for language, body in BLOCKS if language == "console"]
    for text, transcript in zip([None, None, *stages()], transcripts, strict=True):
        if text is not None:
            (tmp_path / "my_score.py").write_text(text)
        command, _, shown = transcript.partition("\n")
        said = ablate(*shlex.split(command.removeprefix("$ ablate ")))
        assert re.fullmatch(as_pattern(without_times(shown)), without_times(said.out)), f"{command}\n{said.out}"
        assert said.code == (1 if " FAIL " in shown else 0)
        assert said.err == ""


@pytest.mark.parametrize("stage", range(3))
def test_what_is_right_in_the_guide_keeps_its_contract(tmp_path, stage):
    (tmp_path / "my_score.py").write_text([WHOLE_FILES[0], *stages()[2:]][stage])
    said = ablate("plugins", "check", tmp_path / "my_score.py")
    assert said.code == 0, said.out


def test_the_test_in_the_guide_is_the_one_that_is_written():
    written = files("framework.scaffold").joinpath("templates", "test_my_plugin.py").read_text(encoding="utf-8")
    _, _, code = written.replace("my_plugin", "my_score").partition("import annotations\n\n")
    assert member("from pathlib") == code


def test_the_experiment_in_the_guide_is_fine(tmp_path):
    (text,) = (body for language, body in BLOCKS if language == "yaml")
    (tmp_path / "mine.yaml").write_text(text)
    (tmp_path / "my_score.py").write_text(stages()[-1])
    survey = fw.load(tmp_path / "mine.yaml", home=tmp_path).survey()
    assert [(line.trial.row, line.status) for line in survey] == [
        (row, "to do") for row in yaml.safe_load(text)["rows"]
    ]


def test_an_experiment_is_told_of_the_mistake_in_the_guide(tmp_path):
    (text,) = (body for language, body in BLOCKS if language == "yaml")
    (tmp_path / "mine.yaml").write_text(text.replace(", options: {temperature: 0.5}", ""))
    (tmp_path / "my_score.py").write_text(standardised(WHOLE_FILES[0]))
    said = ablate("check", tmp_path / "mine.yaml", "--home", tmp_path)
    assert said.code == 2
    assert "a score sees one query and one key at a time" in said.err
