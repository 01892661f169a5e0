"""What README and docs show is what the program does."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import framework as fw
from framework.cli import app
from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.spec.base import Spec

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language, also those that are indented under a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.M | re.S)
    return ["\n".join(line.removeprefix(indent) for line in body.splitlines()) + "\n" for indent, body in found]


def code_blocks() -> list[tuple[str, str]]:
    return [(page.name, block) for page in PAGES for block in blocks(page, "python")]


@pytest.fixture
def mine(tmp_path):
    block, _ = blocks(ROOT / "README.md", "yaml")
    path = tmp_path / "mine.yaml"
    path.write_text(block)
    return path


def test_readme_s_experiment_is_fine(mine, tmp_path):
    lines = fw.load(mine, home=tmp_path).survey()
    assert len({line.trial.row for line in lines}) == 6
    assert {line.status for line in lines} == {"to do"}


def test_readme_s_language_model_is_fine(tmp_path):
    _, block = blocks(ROOT / "README.md", "yaml")
    (tmp_path / "texts.yaml").write_text(block, encoding="utf-8")
    for name in ("train", "dev"):
        (tmp_path / f"{name}.txt").write_text("a line\nand another\n", encoding="utf-8")
    assert len(fw.load(tmp_path / "texts.yaml", home=tmp_path).survey()) == 2


def test_readme_s_experiment_is_short():
    block, _ = blocks(ROOT / "README.md", "yaml")
    assert len(block.splitlines()) <= 20


def test_readme_s_plugin_is_a_file_of_about_25_lines_that_loads(mine, tmp_path):
    plugin = next(block for block in blocks(ROOT / "README.md", "python") if "hookimpl" in block)
    assert len([line for line in plugin.splitlines() if line]) <= 25
    path = tmp_path / "softcap.py"
    path.write_text(plugin)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    added = re.search(r"^    plugins: .*\n    rows:\n    (  softcap: .*)$", text, re.M)
    assert added is not None
    mine.write_text(f"plugins: [softcap.py]\n{mine.read_text()}{added[1]}\n")
    survey = fw.load(mine, home=tmp_path).survey()
    assert {line.trial.model.attention_score.name for line in survey if line.trial.row == "softcap"} == {"softcap"}


@pytest.mark.parametrize(("page", "code"), [block for block in code_blocks() if "hookimpl" in block[1]])
def test_a_plugin_on_a_page_loads(page, code, tmp_path):
    path = tmp_path / "on_a_page.py"
    path.write_text(code)
    assert Registry.load([path]).broken == []


@pytest.mark.parametrize(("page", "code"), code_blocks())
def test_code_on_a_page_uses_names_that_exist(page, code):
    used = {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "fw"
    }
    assert used <= set(fw.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_on_a_page_exist(page):
    for command in re.findall(r"(?:^ {4}|`)ablate ([a-z]+(?: [a-z]+)?)", page.read_text(encoding="utf-8"), re.M):
        verb, *rest = command.split()
        assert verb in app.resolved_commands(), command
        if verb == "plugins" and rest:
            assert rest[0] in app[verb].resolved_commands(), command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_on_a_page_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_leads_to_every_page_and_experiment():
    pages = [path for path in PAGES if path.name != "README.md" and path.parent.name != "essay"]
    read_me_s = [path for path in PAGES if path.name == "README.md"][1:]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in (*pages, *read_me_s, *(ROOT / "experiments" / "models").iterdir()):
        assert f"]({path.relative_to(ROOT)})" in text, path
    for path in (ROOT / "experiments").glob("*.yaml"):
        assert f"experiments/{path.name}" in text, path


def test_a_page_that_cites_results_of_an_earlier_version_says_so():
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    earlier = [path.name for path, text in texts.items() if "**Of an earlier version:**" in text]
    for path, text in texts.items():
        if any(f"/{name})" in text for name in earlier):
            assert "earlier version of the program" in " ".join(text.split()), path


def test_contributing_names_every_make_target_with_a_description_and_what_the_gate_is_made_of():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    (gate,) = re.findall(r"^gate: (.*?) ##", makefile, re.M)
    assert f"must pass: {gate.replace(' ', ', ')}\n" in pages
    for target in re.findall(r"^([a-z-]+):.* ## ", makefile, re.M):
        assert target in gate.split() or f"make {target} " in pages, target


def test_design_names_every_module():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (.+?) \| .+ \|$", text, re.M)
    named = {name.rstrip("/") for cell in table for name in re.findall(r"`(.+?)`", cell)}
    modules = {path.name for path in (ROOT / "framework").iterdir() if not path.name.startswith("__")}
    assert named == modules - {"py.typed"}


def test_readme_s_tasks_are_those_of_the_objectives(registry):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| .+ \| (.+) \|$", text, re.M)
    objectives = [entry.plugin for entry in registry.entries() if entry.kind == "objective"]
    expected = [
        (architecture, objective.name, "pairs" if objective.needs_sources else "texts, pairs")
        for objective in objectives
        for architecture in objective.architectures
    ]
    assert sorted(rows) == sorted(expected)


def test_readme_lists_every_plugin(registry):
    for entry in registry.entries():
        row = re.search(rf"^\| `{entry.kind}` \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
        assert row is not None, entry.kind
        assert f"`{entry.name}`" in row[1], f"{entry.kind} {entry.name}"


def test_every_hook_and_its_base_stand_in_the_plugin_guide():
    text = (ROOT / "docs" / "write-a-plugin.md").read_text(encoding="utf-8")
    for kind, contract in CONTRACTS.items():
        assert f"| `{kind}` | `fw.{contract.__name__}` |" in text


def test_the_experiment_page_is_what_the_specs_say():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page(), "run `make docs`"
    assert all(issubclass(section, Spec) for section, _ in generate.SECTIONS.values())
