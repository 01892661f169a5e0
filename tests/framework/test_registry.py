from __future__ import annotations

import sys
from pathlib import Path

import pytest

from framework.errors import PluginError
from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.sources import installed
from framework.spec import ModelSpec
from tests.framework.plugin_files import install, score

BUILT_IN_SCORES = ["additive", "bilinear", "cosine", "dot_product", "kernel"]


@pytest.fixture
def imports(monkeypatch):
    """Modules that a test imports are gone after it."""
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def from_file(folder: Path, text: str, name: str = "mine.py") -> Registry:
    file = folder / name
    file.write_text(text)
    return Registry.load([file])


def why(registry, kind="attention_score", name="mine"):
    with pytest.raises(LookupError) as caught:
        registry.options(kind, name)
    return str(caught.value.args[0])


def test_built_ins_come_by_the_road_that_anyone_s_plugins_take(registry):
    assert registry.broken == []
    assert registry.names("attention_score") == BUILT_IN_SCORES
    entry = registry.entry("attention_score", "kernel")
    assert (entry.module.__name__, entry.plugin.__name__) == ("plugins.attention_scores.kernel", "Kernel")
    assert entry.origin == "transformer-ablations 0.1.0"
    assert {entry.kind for entry in registry.entries()} == set(CONTRACTS)


def test_entries_are_in_order_of_kind_and_name(registry):
    order = list(CONTRACTS)
    keys = [(order.index(entry.kind), entry.name) for entry in registry.entries()]
    assert keys == sorted(keys)


def test_a_new_file_is_live_without_any_other_edit(tmp_path):
    registry = from_file(tmp_path, score("mine"))
    assert registry.names("attention_score") == sorted([*BUILT_IN_SCORES, "mine"])
    entry = registry.entry("attention_score", "mine")
    assert entry.origin == str(tmp_path / "mine.py")
    assert entry.summary == "A score for tests."
    spec = ModelSpec.model_validate({"attention_score": "mine"}, context={"catalog": registry})
    assert str(spec.attention_score) == "mine"


def test_two_registries_share_nothing(tmp_path):
    one, other = from_file(tmp_path, score("mine")), Registry.load()
    assert "mine" not in other.names("attention_score")
    assert one.names("attention_score") != other.names("attention_score")
    again = Registry.load([tmp_path / "mine.py"])
    assert again.plugin("attention_score", "mine") is not one.plugin("attention_score", "mine")


def test_a_summary_is_the_first_line_of_the_class_s_docstring_or_of_the_module_s(registry):
    assert registry.entry("attention_score", "kernel").summary.startswith("Gaussian kernel")
    assert registry.entry("corpus", "text_pairs").summary.startswith("Sentence pairs from files of one's own")


def test_an_unknown_name_is_told_the_near_one_and_all_of_them(registry):
    assert why(registry, "attention_score", "aditive") == (
        "no attention score is named 'aditive'; did you mean 'additive'? There are: "
        + ", ".join(registry.names("attention_score"))
    )
    assert why(registry, "mask", "zzz") == f"no mask is named 'zzz'; there are: {', '.join(registry.names('mask'))}"


BREAKS = {
    "ImportError": ("import a_module_that_is_not_there\n", "ModuleNotFoundError: No module named"),
    "SyntaxError": ("def (:\n", "SyntaxError: invalid syntax (mine.py, line 1)"),
    "SystemExit": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "ZeroDivisionError": ("1 / 0\n", "ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize("kind_of_failure", BREAKS)
def test_a_plugin_that_fails_to_import_costs_nothing_until_it_is_used(tmp_path, kind_of_failure):
    text, words = BREAKS[kind_of_failure]
    (tmp_path / "a_good.py").write_text(score("a_good"))
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "z_good.py").write_text(score("z_good"))
    registry = Registry.load([tmp_path])
    assert registry.names("attention_score") == sorted(["a_good", *BUILT_IN_SCORES, "z_good"])
    (broken,) = registry.broken
    assert str(broken).startswith(f"mine ({tmp_path / 'mine.py'}) failed to load: {words}")
    assert why(registry) == f"the plugin {broken}"
    assert why(registry, "attention_score", "other").endswith(f"; not loaded: {broken}")


def test_a_plugin_that_fails_leaves_no_half_of_it_behind(tmp_path):
    before = set(sys.modules)
    from_file(tmp_path, "1 / 0\n")
    assert set(sys.modules) == before


CLASS = "@fw.hookimpl\ndef attention_score():\n    return {}\n"
HEAD = '"""For tests."""\nimport framework as fw\n\n'
FORWARD = "    def forward(self, query, key): return query\n"
RULES = {
    "a misspelt hook": (
        HEAD + "@fw.hookimpl\ndef atention_score(): return None\n",
        "no kind of plugin is called 'atention_score'; did you mean 'attention_score'?",
    ),
    "an unknown hook": (HEAD + "@fw.hookimpl\ndef zzz(): return None\n", "no kind of plugin is called 'zzz'"),
    "a hook with an argument": (
        HEAD + "@fw.hookimpl\ndef attention_score(dims): return None\n",
        "the hook attention_score takes no arguments: it returns a class",
    ),
    "an instance": (
        HEAD + CLASS.format("3"),
        "hook attention_score must return a subclass of AttentionScore, not 3",
    ),
    "a class of another kind": (
        HEAD + "class Mine(fw.Mask): name = 'mine'\n" + CLASS.format("Mine"),
        "hook attention_score must return a subclass of AttentionScore, not <class",
    ),
    "nothing": (HEAD + CLASS.format("None"), "hook attention_score must return a subclass of AttentionScore, not None"),
    "no name": (
        HEAD + "class Mine(fw.AttentionScore):\n" + FORWARD + CLASS.format("Mine"),
        'Mine has no name: give it `name = "…"`',
    ),
    "no docstring": (
        "import framework as fw\nclass Mine(fw.AttentionScore):\n    name = 'mine'\n" + FORWARD + CLASS.format("Mine"),
        "Mine has no docstring: its first line says what it is and from where",
    ),
    "an abstract method left": (
        HEAD + "class Mine(fw.DotProductForm): name = 'mine'\n" + CLASS.format("Mine"),
        "Mine lacks features, which every AttentionScore has",
    ),
    "an attribute left": (
        HEAD
        + "class Mine(fw.Objective):\n    name = 'mine'\n    metrics = ()\n    def batch(self, s, t): ...\n"
        + CLASS.replace("attention_score", "objective").format("Mine"),
        "Mine lacks lengths, architectures, which every Objective has",
    ),
    "options of another kind": (
        HEAD + "class Mine(fw.AttentionScore):\n    name = 'mine'\n    class Options: ...\n" + CLASS.format("Mine"),
        "Mine.Options must be a subclass of framework.Options",
    ),
    "options that are no class": (
        HEAD + "class Mine(fw.AttentionScore):\n    name = 'mine'\n    Options = {}\n" + CLASS.format("Mine"),
        "Mine.Options must be a subclass of framework.Options",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_plugin_that_breaks_its_contract_is_told_the_rule(tmp_path, rule):
    text, words = RULES[rule]
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "z_good.py").write_text(score("z_good"))
    registry = Registry.load([tmp_path])
    (broken,) = registry.broken
    assert broken.error.startswith(f"{PluginError.__name__}: {words}")
    assert words in why(registry)
    assert registry.names("attention_score") == [*BUILT_IN_SCORES, "z_good"]


def test_a_hook_may_return_several_classes(tmp_path):
    two = score("one", "One").replace("return One", "return One, Two")
    registry = from_file(tmp_path, two.replace("@fw.hookimpl", "class Two(One):\n    name = 'two'\n\n\n@fw.hookimpl"))
    assert registry.broken == []
    assert {"one", "two"} <= set(registry.names("attention_score"))


def test_one_wrong_class_of_two_makes_the_module_unusable(tmp_path):
    registry = from_file(tmp_path, score("one", "One").replace("return One", "return One, 3"))
    assert registry.names("attention_score") == BUILT_IN_SCORES
    assert "not 3" in registry.broken[0].error


@pytest.mark.parametrize("text", ["x = 1\n", HEAD + CLASS.format("()")])
def test_a_file_that_is_named_and_offers_nothing_says_so(tmp_path, text):
    (broken,) = from_file(tmp_path, text).broken
    assert str(broken) == (
        f"mine ({tmp_path / 'mine.py'}) failed to load: PluginError: it offers no plugin: "
        "a hook, marked @fw.hookimpl, returns the plugin's class"
    )


def test_a_file_of_a_folder_may_offer_nothing(tmp_path):
    (tmp_path / "shared.py").write_text("x = 1\n")
    (tmp_path / "mine.py").write_text(score("mine"))
    registry = Registry.load([tmp_path])
    assert (registry.names("attention_score"), registry.broken) == (sorted([*BUILT_IN_SCORES, "mine"]), [])


@pytest.mark.parametrize("name", ["", " ", "two words", "a.b", "-a", "é"])
def test_a_name_is_a_plain_word(tmp_path, name):
    (broken,) = from_file(tmp_path, score(name)).broken
    assert broken.error == f"PluginError: Score.name is {name!r}: a name is a word of letters, digits, _ and -"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("x: Path = Path('a')", "the default of x: Input should be a valid string"),
        ("x: int = 'a'", "the default of x: Input should be a valid integer"),
        ("x: int\n        y: int = 'a'", "the default of y: Input should be a valid integer"),
        ("x: bytes = b'\\xff'", "PydanticSerializationError: Error serializing to JSON: invalid utf-8 sequence of 1 "
         "bytes from index 0"),
        ("x: 'Undefined' = 1", "PydanticUserError: `Options` is not fully defined; you should define `Undefined`, then "
         "call `Options.model_rebuild()`."),
    ],
)  # fmt: skip
def test_options_whose_defaults_no_file_could_hold_are_refused(tmp_path, fields, words):
    text = score("mine").replace("    name =", f"    class Options(fw.Options):\n        {fields}\n\n    name =")
    (broken,) = from_file(tmp_path, f"from pathlib import Path\n{text}").broken
    assert broken.error == f"PluginError: Score.Options cannot be read from JSON and written to it: {words}"


@pytest.mark.parametrize("field", ["x: int", "x: Path", "x: frozenset[str] = frozenset('ab')", "x: bytes = b'a'"])
def test_options_may_be_required_and_of_any_type_that_json_can_say(tmp_path, field):
    text = score("mine").replace("    name =", f"    class Options(fw.Options):\n        {field}\n\n    name =")
    assert from_file(tmp_path, f"from pathlib import Path\n{text}").broken == []


@pytest.mark.usefixtures("imports")
@pytest.mark.parametrize("order", [("one", "other"), ("other", "one")])
def test_a_name_offered_by_two_distributions_is_unusable_whichever_is_found_first(tmp_path, monkeypatch, order):
    install(tmp_path / "one", "first-dist", "1.2", "scores = first_scores", first_scores=score("gaussian"))
    install(tmp_path / "other", "second-dist", "3.4", "scores = second_scores", second_scores=score("gaussian"))
    for folder in order:
        monkeypatch.syspath_prepend(tmp_path / folder)
    registry = Registry.load()
    assert registry.broken == []
    assert why(registry, "attention_score", "gaussian") == (
        "the attention score 'gaussian' is offered twice, "
        "by first_scores (first-dist 1.2) and second_scores (second-dist 3.4): remove or rename one"
    )
    assert [entry.name for entry in registry.entries()].count("gaussian") == 2


@pytest.mark.usefixtures("imports")
def test_a_built_in_s_name_cannot_be_taken_over(tmp_path, monkeypatch):
    install(tmp_path, "taker", "0.1", "a = taker_scores", taker_scores=score("dot_product"))
    monkeypatch.syspath_prepend(tmp_path)
    words = why(Registry.load(), "attention_score", "dot_product")
    assert words == (
        "the attention score 'dot_product' is offered twice, by plugins.attention_scores.dot_product "
        "(transformer-ablations 0.1.0) and taker_scores (taker 0.1): remove or rename one"
    )


@pytest.mark.usefixtures("imports")
def test_the_order_in_which_plugins_are_found_decides_nothing(tmp_path, monkeypatch):
    """Hooks are called last registered first; a name that two offer belongs to neither, not to the one in front."""
    install(tmp_path / "a", "first-dist", "1.2", "scores = first_scores", first_scores=score("gaussian"))
    install(tmp_path / "b", "second-dist", "3.4", "scores = second_scores", second_scores=score("gaussian"))
    install(tmp_path / "c", "taker", "0.1", "scores = taker_scores", taker_scores=score("dot_product"))
    for folder in "abc":
        monkeypatch.syspath_prepend(tmp_path / folder)
    sources = list(installed())
    forwards, backwards = Registry(sources), Registry(reversed(sources))
    found = [{(entry.kind, entry.name, entry.plugin) for entry in order.entries()} for order in (forwards, backwards)]
    assert found[0] == found[1]
    for name in ("gaussian", "dot_product"):
        assert why(forwards, name=name) == why(backwards, name=name)
        assert f"the attention score {name!r} is offered twice, by " in why(backwards, name=name)


@pytest.mark.usefixtures("imports")
def test_an_installed_plugin_that_fails_stops_none_of_those_after_it(tmp_path, monkeypatch):
    install(tmp_path / "a", "bad", "1.0", "aaa = bad_plug", bad_plug="import a_module_that_is_not_there\n")
    install(tmp_path / "b", "good", "2.0", "bbb = good_plug", good_plug=score("good"))
    for folder in "ab":
        monkeypatch.syspath_prepend(tmp_path / folder)
    registry = Registry.load()
    assert registry.entry("attention_score", "good").origin == "good 2.0"
    assert str(registry.broken[0]) == (
        "bad_plug (bad 1.0) failed to load: ModuleNotFoundError: No module named 'a_module_that_is_not_there'"
    )
    assert why(registry, "attention_score", "bad_plug") == f"the plugin {registry.broken[0]}"
