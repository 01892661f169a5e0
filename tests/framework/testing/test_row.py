"""Parts of a row that break their contract are told apart from those that keep it, in a sentence."""

from __future__ import annotations

import json
import re
import textwrap
import time
from typing import Any

import pytest
import torch

from framework.contracts import Site
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


@pytest.mark.parametrize(("num_heads", "d_k"), [(1, 2), (1, 512), (2, 8), (3, 4), (32, 16)])
def test_every_built_in_keeps_its_contract_at_many_sizes(registry, tmp_path, num_heads, d_k):
    sizes: dict[str, Any] = {"num_heads": num_heads, "d_k": d_k, "d_v": 5, "d_model": 96}
    tried = 0
    for kind in ("attention_score", "positional_scheme", "mask", "mixer", "feed_forward"):
        for name in registry.names(kind):
            plugin = registry.plugin(kind, name)
            if kind == "mixer" and plugin.sites != frozenset(Site):
                continue  # it stands at some sites only, where the kit's cases try it
            for options in plugin.samples(tmp_path):
                for part in parts(registry, kind, **sizes, **{kind: {"name": name, "options": options}}):
                    assert broken(part, registry) is None, (name, options)
                    tried += 1
    assert tried > 40


def test_a_part_takes_milliseconds(registry):
    for kind, name in (("attention_score", "additive"), ("mixer", "attention"), ("feed_forward", "relu_mlp")):
        part = parts(registry, kind, d_model=512, d_ff=2048, num_heads=8, d_k=64, d_v=64, **{kind: name})[0]
        took = []
        for _ in range(5):
            started = time.perf_counter()
            broken(part, registry)
            took.append(time.perf_counter() - started)
        assert min(took) < 0.2


def test_trying_a_part_leaves_the_generator_alone(registry):
    part = parts(registry, "attention_score", attention_score="additive")[0]
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    broken(part, registry)
    assert torch.equal(torch.rand(1), expected)


def test_each_part_is_tried_at_the_key_that_names_it(registry):
    spec = model(registry, sites={"encoder": {"self": {"mixer": "none"}}, "decoder": {"cross": {"mask": "causal"}}})
    found = [(part.path, part.kind, part.component.name, part.dims.site) for part in parts_of(spec, registry)]
    assert found == [
        ("model.attention_score", "attention_score", "dot_product", "decoder.self"),
        ("model.mask", "mask", "full", "decoder.self"),
        ("model.mixer", "mixer", "attention", "decoder.self"),
        ("model.attention_score", "attention_score", "dot_product", "decoder.cross"),
        ("model.sites.decoder.cross.mask", "mask", "causal", "decoder.cross"),
        ("model.mixer", "mixer", "attention", "decoder.cross"),
        ("model.positional_scheme", "positional_scheme", "sinusoidal", "encoder.self"),
        ("model.feed_forward", "feed_forward", "relu_mlp", "encoder.self"),
        ("model.positional_scheme", "positional_scheme", "sinusoidal", "decoder.self"),
        ("model.feed_forward", "feed_forward", "relu_mlp", "decoder.self"),
    ]


def test_what_is_removed_is_not_tried(registry):
    assert {part.kind for part in parts_of(model(registry, mixer="none", feed_forward="none"), registry)} == {
        "positional_scheme"
    }


def test_rows_share_parts_that_differ_in_channels_layers_and_dropout_only(registry):
    base = {part.identity for part in parts_of(model(registry, num_heads=2), registry)}
    wide = {"d_model": 64, "d_ff": 256, "num_layers": 3, "dropout": 0.3}
    assert {part.identity for part in parts_of(model(registry, **wide), registry)} == base
    assert {part.identity for part in parts_of(model(registry, d_k=4), registry)}.isdisjoint(base)


def test_heads_and_what_they_divide_are_kept(registry):
    (dims,) = {
        part.dims for part in parts(registry, "mixer", num_heads=12, d_model=768, d_k=64, architecture="decoder_only")
    }
    assert (dims.num_heads, dims.d_k, dims.d_model) == (12, 64, 48)
    (dims,) = {
        part.dims for part in parts(registry, "mixer", num_heads=3, d_model=100, d_k=7, architecture="decoder_only")
    }
    assert (dims.num_heads, dims.d_k, dims.d_model) == (3, 7, 100)


WIDTHS = """
def __init__(self, options, dims):
    super().__init__(options, dims)
    if dims.d_model % 32:
        raise fw.SpecError(f"needs a multiple of 32, not {dims.d_model}")

def forward(self, x):
    return x"""


@pytest.mark.parametrize(("wrong", "words"), [("", None), (".cumsum(1)", "forward mixes positions")])
def test_a_part_that_takes_no_few_channels_is_tried_at_the_row_s_own(tmp_path, wrong, words):
    path = plugin_file(tmp_path, "FeedForward", WIDTHS + wrong)
    registry = Registry.load([path])
    found = parts(registry, "feed_forward", feed_forward="mine", d_model=512, num_heads=8, d_k=8, d_v=8)
    assert {part.dims.d_model for part in found} == {512}
    for part in found:
        said = broken(part, registry)
        assert (said is None) if words is None else (said is not None and words in said)


@pytest.mark.parametrize(
    ("scores", "entry", "event"),
    [
        ("query @ key.roll(-1, dims=2).mT", r"\(\d, 3\)", "key 0 did"),  # the next position
        ("query @ key.mT + query @ key.mT.roll(-1, dims=-1)", r"\(\d, 3\)", "key 0 did"),
        ("(query @ key.mT).softmax(-1)", r"\(\d, 1\)", "key 0 did"),
        ("(query @ key.mT) - (query @ key.mT).amax(-1, keepdim=True)", r"\(\d, \d\)", r"key \d did"),
        ("query @ F.normalize(key, dim=2).mT", r"\(\d, 1\)", "key 0 did"),
        ("query.cumsum(dim=2) @ key.mT", r"\(1, 0\)", "query 0 did"),
        ("query @ key.mT / key.size(2)", r"\(0, 0\)", "key 3 was left out"),
        ("query @ key.mT + torch.arange(key.size(2))", r"\(0, 1\)", "key 0 was left out"),
        ("query @ key.mT + torch.arange(query.size(2))[:, None]", r"\(2, 0\)", "other queries were left out"),
    ],
)
def test_a_score_that_sees_more_than_a_pair_is_refused(tmp_path, scores, entry, event):
    said = said_of(tmp_path, "AttentionScore", forward(f"return {scores}"))
    assert re.fullmatch(
        rf"plugin 'mine': a score sees one query and one key at a time: entry {entry} changed when {event}; "
        r"compute it from query \d and key \d alone",
        said,
    ), said


def test_what_is_normalised_over_the_batch_in_training_only_is_refused(tmp_path):
    body = """
    def __init__(self, options, dims):
        super().__init__(options, dims)
        self.norm = torch.nn.BatchNorm1d(dims.num_heads)

    def forward(self, query, key):
        return self.norm((query @ key.mT).flatten(2)).view(*query.shape[:3], -1)
    """
    assert "a score sees one query and one key at a time" in said_of(tmp_path, "AttentionScore", body)


def test_a_score_that_sees_other_rows_is_refused(tmp_path):
    assert said_of(tmp_path, "AttentionScore", forward("return (query - query.mean(dim=0)) @ key.mT")) == (
        "plugin 'mine': forward lets rows of a batch meet: row 0 changed at (0, 0, 0) when the others did; "
        "compute each row from its own numbers alone"
    )


def test_dropout_inside_a_score_is_no_leak(tmp_path):
    assert said_of(tmp_path, "AttentionScore", forward("return F.dropout(query @ key.mT, 0.5, self.training)")) is None


@pytest.mark.parametrize(
    ("result", "got"),
    [
        ("key @ query.mT", "shape (B, H, 4, 3)"),
        ("(query @ key.mT).sum(-1)", "shape (2, 2, 3)"),
        ("(query @ key.mT)[:1]", "shape (1, H, 3, 4)"),
        ("None", "a NoneType"),
    ],
)
def test_a_score_of_the_wrong_shape_is_refused(tmp_path, result, got):
    assert said_of(tmp_path, "AttentionScore", forward(f"return {result}")) == (
        f"plugin 'mine': forward gives {got} for 3 queries and 4 keys, and must give a score for each pair, of shape "
        "(B, H, Q, K)"
    )


@pytest.mark.parametrize("dtype", ["torch.int64", "torch.float16", "torch.float64", "torch.bool"])
def test_a_score_of_another_dtype_is_refused(tmp_path, dtype):
    assert said_of(tmp_path, "AttentionScore", forward(f"return (query @ key.mT).to({dtype})")) == (
        f"plugin 'mine': forward gives {dtype} for torch.float32, and must keep the dtype that it is given"
    )


@pytest.mark.parametrize(
    ("result", "value", "entry", "way_out"),
    [
        ("query @ key.mT / 0 * 0", "nan", "(0, 0, 0, 0)", "bound what is divided by or taken a root of"),
        (
            "(query @ key.mT).masked_fill(torch.arange(4) == 2, float('-inf'))",
            "-inf",
            "(0, 0, 0, 2)",
            "leave hiding to the mask",
        ),
    ],
)
def test_a_score_that_is_not_finite_is_refused(tmp_path, result, value, entry, way_out):
    assert said_of(tmp_path, "AttentionScore", forward(f"return {result}")) == (
        f"plugin 'mine': forward gives {value} at {entry} for a random input, and must be finite: {way_out}"
    )


@pytest.mark.parametrize(("contract", "method"), [("AttentionScore", "forward"), ("DotProductForm", "features")])
@pytest.mark.parametrize("changed", ["query", "key"])
def test_a_score_that_changes_its_input_is_refused(tmp_path, contract, method, changed):
    result = "query @ key.mT" if method == "forward" else "query, key"
    body = f"def {method}(self, query, key):\n    {changed} *= 2\n    return {result}\n"
    assert said_of(tmp_path, contract, body) == (
        f"plugin 'mine': {method} changes its {changed} in place: make a new tensor, others read this one"
    )


def test_features_that_fit_keep_the_contract(tmp_path):
    """Whatever number of a query's own they leave out: the softmax does not see it."""
    body = (
        features("return query, key") + "\n" + forward("return query @ key.mT - query.square().sum(-1, keepdim=True)")
    )
    assert said_of(tmp_path, "DotProductForm", body) is None


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("query, key[..., 1:]", "gives shapes (B, H, 3, 8) and (B, H, 4, 7) for 3 queries and 4 keys, and must give "),
        ("key, query", "gives shapes (B, H, 4, 8) and (B, H, 3, 8) for 3 queries and 4 keys, and must give "),
        ("query[0], key", "gives shapes (2, 3, 8) and (B, H, 4, 8) for 3 queries and 4 keys, and must give "),
        ("query @ key.mT", "gives a tensor of torch.float32, and must give a pair of tensors"),
        ("query, None", "gives a tuple, and must give a pair of tensors"),
        ("query.double(), key.double()", "gives torch.float64 for torch.float32, and must keep the dtype that it is"),
    ],
)
def test_features_that_cannot_be_multiplied_are_refused(tmp_path, result, said):
    told = said_of(tmp_path, "DotProductForm", features(f"return {result}"))
    assert told.startswith(f"plugin 'mine': features {said}")


def test_features_that_are_not_the_score_are_refused(tmp_path):
    body = features("return query, key") + "\n" + forward("return 2 * query @ key.mT")
    assert re.fullmatch(
        r"plugin 'mine': features and forward give contexts 0\.\d+ apart: the dot product of the features must be "
        r"the score, up to a number of each query's own",
        said_of(tmp_path, "DotProductForm", body),
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("query @ self.options.gama", "AttributeError: 'Options' object has no attribute 'gama'"),
        (
            "query @ key",
            "RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [4, 8] but got: ",
        ),
        ("F.linear(query, key[0, 0, 0, :3])", "RuntimeError: "),
        ("exit(3)", "SystemExit: 3"),
    ],
)
def test_what_a_score_raises_is_told_with_its_line(tmp_path, line, words):
    said = said_of(tmp_path, "AttentionScore", forward("scores = None", f"return {line}"))
    assert said.startswith(f"plugin 'mine': fails on a small random input: {words}")
    assert said.endswith(f" ({tmp_path / 'mine.py'}:14)")
    assert "\n" not in said


@pytest.mark.parametrize(
    "result",
    [
        "None",
        "torch.ones(1, 1, query_positions.size(1), key_positions.size(1), device=key_positions.device).bool()",
        "(key_positions[:, None, None] < 1).expand(-1, -1, query_positions.size(1), -1)",
    ],
)
def test_a_mask_that_fits_keeps_the_contract(tmp_path, result):
    assert (
        said_of(tmp_path, "Mask", f"def allowed(self, query_positions, key_positions):\n    return {result}\n") is None
    )


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            "torch.ones(1, 1, 3, 4)",
            "allowed gives a tensor of torch.float32, and must give a boolean tensor, True = may attend, or None where "
            "all is allowed",
        ),
        (
            "True",
            "allowed gives a bool, and must give a boolean tensor, True = may attend, or None where all is allowed",
        ),
        (
            "key_positions[:, None, :, None] <= query_positions[:, None, None, :]",
            "allowed gives shape (B, 1, 4, 3) for 3 queries and 4 keys, and must give (B|1, H|1, Q, K)",
        ),
        (
            "key_positions[:, None, None] < 1",
            "allowed gives shape (B, 1, 1, 4) for 3 queries and 4 keys, and must give (B|1, H|1, Q, K)",
        ),
        (
            "key_positions[0] <= query_positions[0][:, None]",
            "allowed gives shape (3, 4) for 3 queries and 4 keys, and must give (B|1, H|1, Q, K)",
        ),
        (
            "(key_positions[:, None] <= query_positions[..., None])[:, None, None]",
            "allowed gives shape (1, 1, 1, 3, 4) for 3 queries and 4 keys, and must give (B|1, H|1, Q, K)",
        ),
    ],
)
def test_a_mask_that_is_no_rule_over_pairs_is_refused(tmp_path, result, said):
    body = f"def allowed(self, query_positions, key_positions):\n    return {result}\n"
    assert said_of(tmp_path, "Mask", body) == f"plugin 'mine': {said}"


def test_what_a_mask_raises_is_told_with_its_line(tmp_path):
    body = "def allowed(self, query_positions, key_positions):\n    return query_positions <= key_positions\n"
    said = said_of(tmp_path, "Mask", body)
    assert said.startswith("plugin 'mine': fails on a small random input: RuntimeError: The size of tensor a (3) must ")
    assert said.endswith(f"({tmp_path / 'mine.py'}:13)")
