"""Plugin files and installed distributions, written by tests."""

from __future__ import annotations

from pathlib import Path

SCORE = '''\
"""A score for tests."""
import framework as fw


class {cls}(fw.AttentionScore):
    """{doc}"""

    name = "{name}"

    def forward(self, query, key):
        return query @ key.transpose(-2, -1)


@fw.hookimpl
def attention_score():
    return {cls}
'''


def score(name: str, cls: str = "Score", doc: str = "A score for tests.") -> str:
    """The text of a plugin file with one attention score."""
    return SCORE.format(name=name, cls=cls, doc=doc)


def install(folder: Path, distribution: str, version: str, entry_points: str, **modules: str) -> Path:
    """Lay a distribution out as an installer would; `pkg__mod` is `pkg/mod.py`. Give the folder to put on the path."""
    info = folder / f"{distribution}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[transformer_ablations]\n{entry_points}\n")
    for name, text in modules.items():
        file = folder / f"{name.replace('__', '/', 1) if not name.startswith('__') else name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


PLUGIN = '''\
"""A {kind} for tests."""
import framework as fw


class Plugin(fw.{contract}):
    name = "{name}"
{body}

@fw.hookimpl
def {kind}():
    return Plugin
'''

ONE_OF_EACH = {
    "attention_score": ("dot_product", "AttentionScore", "    def forward(self, query, key): return query @ key.mT\n"),
    "positional_scheme": ("sinusoidal", "PositionalScheme", "    def embed(self, x, positions): return x + 1\n"),
    "mask": ("full", "Mask", "    def allowed(self, query_positions, key_positions): return None\n"),
    "mixer": (
        "attention",
        "Mixer",
        "    takes = frozenset({'attention_score', 'mask', 'bias'})\n"
        "    def start(self): ...\n    def forward(self, x, *rest): return x, None\n",
    ),
    "feed_forward": ("relu_mlp", "FeedForward", "    def forward(self, x): return x\n"),
    "objective": (
        "translation",
        "Objective",
        "    architectures = frozenset({'encoder_decoder'})\n    metrics = ('perplexity', 'bleu')\n"
        "    def lengths(self, source_lengths, target_lengths): ...\n"
        "    def batch(self, sources, targets, generator): ...\n",
    ),
    "corpus": (
        "toy_translation",
        "Corpus",
        "    class Options(fw.Options): twice: bool = False\n    def splits(self): return ('train', 'dev')\n"
        "    def pairs(self, split): return [fw.Pair(split, 'b')]\n",
    ),
}
"""Kind → a plugin named as the default of that kind: its name, contract and body."""


def plugin(kind: str) -> str:
    """The text of a plugin file with a plugin of this kind."""
    name, contract, body = ONE_OF_EACH[kind]
    return PLUGIN.format(kind=kind, name=name, contract=contract, body=body)


def write_one_of_each(folder: Path) -> Path:
    """Write a file per kind, `mask.py` and so on: enough for an experiment, and independent of the built-ins."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ONE_OF_EACH:
        (folder / f"{kind}.py").write_text(plugin(kind))
    return folder
