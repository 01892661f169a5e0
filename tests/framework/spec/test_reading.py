from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from framework.errors import SpecError
from framework.spec.reading import UnreadableParts, read_file, read_text


def value(text):
    return read_text(f"key: {text}", "x.yaml").mapping["key"].plain()


def fault(text):
    with pytest.raises(SpecError) as caught:
        read_text(text, "x.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e-4", 1e-4),
        ("1e4", 1e4),
        ("1E+4", 1e4),
        ("-1.5e-3", -0.0015),
        (".5", 0.5),
        ("1.", 1.0),
        ("+3", 3),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
    ],
)
def test_a_number_is_what_it_looks_like(text, number):
    assert value(text) == number
    assert type(value(text)) is type(number)


@pytest.mark.parametrize(
    "text", ["no", "off", "on", "yes", "NO", "y", "none", "None", "1:30", "1_000", "2024-01-01", "1e", "0b1", "."]
)
def test_what_other_readers_turn_into_something_else_stays_text(text):
    assert value(text) == text


@pytest.mark.parametrize("text", ["no", "on", "1e-4", "null", "2024-01-01"])
def test_a_key_is_always_text(text):
    assert read_text(f"{text}: 1", "x.yaml").plain() == {text: 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("null", None), ("~", None), ("", None), ("NULL", None), ("true", True), ("False", False), ("TRUE", True)],
)
def test_null_true_and_false_have_the_spellings_of_yaml_1_2(text, expected):
    assert value(text) is expected


@pytest.mark.parametrize("text", ["'1'", '"1"', "|-\n  1", ">-\n  1"])
def test_quoted_text_is_text(text):
    assert value(text) == "1"


@pytest.mark.parametrize("text", [".inf", "-.inf", "+.Inf", ".nan", ".NaN", "1e999", "9" * 5000])
def test_a_number_that_is_not_finite_is_refused_where_it_stands(text):
    assert fault(f"train:\n  steps: {text}\n") == "x.yaml:2:3: train.steps: a number must be finite"


def test_a_duplicate_key_is_reported_its_first_value_stays_and_reading_goes_on():
    with pytest.raises(UnreadableParts) as caught:
        read_text("a: 1\nb: {c: 2, c: 3}\na: 4\nd: .inf\n", "x.yaml")
    assert str(caught.value).splitlines() == [
        "x.yaml:2:11: b.c: duplicate key; it stands first in line 2",
        "x.yaml:3:1: a: duplicate key; it stands first in line 1",
        "x.yaml:4:1: d: a number must be finite",
    ]
    assert caught.value.root.plain() == {"a": 1, "b": {"c": 2}, "d": 0.0}


@pytest.mark.parametrize("text", ["a: 1\n'a': 2\n", "1: a\n1: b\n", "&k a: 1\n*k : 2\n"])
def test_keys_are_duplicates_by_their_text(text):
    assert "duplicate key; it stands first in line 1" in fault(text)


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 1\n", "é:\n\tb: 1\n"])
def test_a_tab_in_the_indentation_is_called_a_tab(text):
    line = text[: text.index("\t")].count("\n") + 1
    assert fault(text) == f"x.yaml:{line}:1: a tab; YAML is indented with spaces"


def test_a_tab_that_does_not_indent_is_allowed():
    assert read_text("a:\t1\nb: x\ty\n", "x.yaml").plain() == {"a": 1, "b": "x\ty"}


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("!!python/object/apply:os.system [ls]", "!!python/object/apply:os.system"),
        ("!!python/name:os.system", "!!python/name:os.system"),
        ("!custom 1", "!custom"),
        ("!!str 5", "!!str"),
        ("!!int '5'", "!!int"),
        ("!!set {a}", "!!set"),
        ("!!binary aGk=", "!!binary"),
    ],
)
def test_a_tag_is_refused(text, tag):
    assert fault(f"key: {text}") == f"x.yaml:1:1: key: the tag {tag} is not allowed: write a plain value"


def test_an_alias_repeats_what_it_names():
    assert read_text("a: &x {b: [1, 2]}\nc: *x\n", "x.yaml").plain() == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}


def test_a_value_says_where_it_was_written():
    root = read_text("a: 1\nb:\n  c: [x, {d: 2}]\n", "x.yaml")
    node, beyond = root.follow(("b", "c", 1, "d"))
    assert beyond == ()
    assert (str(node.place), node.path) == ("x.yaml:3:11", "b.c[1].d")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: {c: *a}}\n", BOMB])
def test_aliases_that_never_end_are_refused_quickly(text):
    start = time.monotonic()
    assert "aliases make this document endless, or nearly so" in fault(text)
    assert time.monotonic() - start < 10


def test_a_document_that_is_nested_absurdly_deep_is_refused():
    assert fault("a: " + "[" * 500 + "]" * 500) == "x.yaml:1:103: is nested more than 100 levels deep"
    assert "exceeded maximum nesting depth" in fault("[" * 50_000)


@pytest.mark.parametrize("text", ["? [a, b]\n: 1\n", "{{a: 1}: 1}\n"])
def test_a_key_that_is_no_text_is_refused(text):
    assert "a key is text, not a list or a mapping" in fault(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1: is no YAML: but found another document"),
        ("a: [1\nb: 2\n", "x.yaml:2:2: is no YAML: did not find expected ',' or ']'"),
        ("a: b: c\n", "x.yaml:1:5: is no YAML: mapping values are not allowed in this context"),
        ("a: *b\n", "x.yaml:1:4: is no YAML: found undefined alias"),
        ("a: \x00\n", "x.yaml: is no YAML: unacceptable character #x0000: control characters are not allowed"),
    ],
)
def test_what_is_no_yaml_is_said_where_it_shows(text, words):
    assert fault(text) == words


def test_line_ends_of_windows_change_nothing(tmp_path):
    text = "a: 1\nb:\n  c: x\n  d: |-\n    e\n    f\n"
    (tmp_path / "x.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    assert read_file(tmp_path / "x.yaml").plain() == read_text(text, "x.yaml").plain()


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path):
    """B20"""
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfname: x\n")
    assert read_file(tmp_path / "x.yaml").plain() == {"name": "x"}


@pytest.mark.parametrize("text", ["", "\n", "# a comment\n", "---\n", "null\n"])
def test_an_empty_file_is_an_empty_mapping(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    assert read_file(tmp_path / "x.yaml").plain() == {}


@pytest.mark.parametrize("text", ["- a\n", "text\n", "3\n"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(SpecError, match=r"x\.yaml:1:1: an experiment is a mapping of keys to values$"):
        read_file(tmp_path / "x.yaml")


def test_bytes_that_are_not_utf_8_are_refused_with_their_line(tmp_path):
    (tmp_path / "x.yaml").write_bytes("name: x\n# é\n".encode("latin-1"))
    with pytest.raises(SpecError, match=r"x\.yaml:2: is not UTF-8 text$"):
        read_file(tmp_path / "x.yaml")


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(SpecError, match=r"x\.yaml: cannot be read: No such file or directory$"):
        read_file(tmp_path / "x.yaml")
    with pytest.raises(SpecError, match=r"cannot be read: Is a directory$"):
        read_file(tmp_path)


def test_the_machine_s_locale_does_not_matter(tmp_path):
    """B20"""
    file = tmp_path / "x.yaml"
    file.write_text("# naïve — ключ\nname: x\nlabel: é\n", encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from framework.spec.reading import read_file;"
        "print(ascii(read_file(Path(sys.argv[1])).plain()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == r"{'name': 'x', 'label': '\xe9'}"
