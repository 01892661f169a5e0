"""A sentence that a person may read when something is wrong is matched by a test: untested words rot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEAKS = {
    "FrameworkError", "SpecError", "MissingCorpus", "PluginError", "TrialError", "Locked", "LookupError", "Problem",
    "PydanticCustomError", "misfit", "problem",
}  # fmt: skip
"""Calls whose first sentence reaches a person; in plugins, ValueError as well, by way of Pydantic."""
WORDS_IN_A_ROW = 3


def called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literal_parts(node: ast.expr) -> list[str]:
    """The text between the holes of a string."""
    if isinstance(node, ast.JoinedStr):
        return [str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.sub(r"\{\w+\}", "\0", node.value)]
    return []


def sentences() -> Iterator[tuple[str, list[list[str]]]]:
    """Where each sentence stands, and its pieces between the holes, each as words."""
    for file in sorted([*(ROOT / "framework").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]):
        speaks = SPEAKS | {"ValueError"} if file.is_relative_to(ROOT / "plugins") else SPEAKS
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in speaks:
                texts = ["".join(literal_parts(argument)) for argument in node.args[:2]]
                pieces = [piece.split() for text in texts for piece in text.split("\0")]
                if max(map(len, pieces), default=0) >= 2:
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", pieces


SENTENCES = dict(sentences())


@pytest.fixture(scope="module")
def tested_words():
    """All strings of all tests as one text, each followed by a break, without the escapes of regular expressions."""
    texts = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if file != Path(__file__):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            texts += [
                "".join(literal_parts(node)).replace("\\", "")
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant | ast.JoinedStr)
            ]
    return "\n".join(texts)


@pytest.mark.parametrize("place", SENTENCES)
def test_a_sentence_is_matched_by_a_test(tested_words, place):
    pieces = SENTENCES[place]
    length = min(WORDS_IN_A_ROW, max(map(len, pieces)))
    runs = [" ".join(words[at : at + length]) for words in pieces for at in range(len(words) - length + 1)]
    said = " … ".join(map(" ".join, pieces))
    assert any(run in tested_words for run in runs), f"no test says {length} words in a row of: {said}"


def test_the_sentences_are_found():
    assert len(SENTENCES) > 50
