"""What a part of a row is refused for, word by word, and what looks like it and is right."""

from __future__ import annotations

import re

import pytest

from tests.framework.testing.rows import features, forward, said_of


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
