"""A small model, its parts, and a plugin of one's own in it."""

from __future__ import annotations

import json
import textwrap

from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.spec import ModelSpec
from framework.testing.row import broken, parts_of

KINDS = {contract.__name__: kind for kind, contract in CONTRACTS.items()} | {"DotProductForm": "attention_score"}


def model(registry, **fields):
    sizes = {"d_model": 16, "d_ff": 16, "num_heads": 2, "d_k": 8, "d_v": 8}
    return ModelSpec.model_validate_json(json.dumps(sizes | fields), context={"catalog": registry})


def parts(registry, kind, **fields):
    return [part for part in parts_of(model(registry, **fields), registry) if part.kind == kind]


def plugin_file(folder, contract, body):
    """Write a plugin named `mine` with this class body."""
    path = folder / "mine.py"
    path.write_text(
        '"""Made for a test."""\n\nimport torch\nimport torch.nn.functional as F\n\nimport framework as fw\n\n\n'
        f'class Mine(fw.{contract}):\n    name = "mine"\n\n'
        + textwrap.indent(textwrap.dedent(body), "    ")
        + f"\n\n@fw.hookimpl\ndef {KINDS[contract]}():\n    return Mine\n"
    )
    return path


def said_of(folder, contract, body):
    """What a plugin named `mine` with this class body is told, or None."""
    registry = Registry.load([plugin_file(folder, contract, body)])
    told = (broken(part, registry) for part in parts(registry, KINDS[contract], **{KINDS[contract]: "mine"}))
    return next(filter(None, told), None)


def forward(*lines):
    return "def forward(self, query, key):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def features(*lines):
    return "def features(self, query, key):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"
