from __future__ import annotations

import json

import pytest


@pytest.fixture
def flat():
    from framework.record.params import flat_params

    return flat_params


def test_params_are_the_resolved_spec_by_dotted_key(flat, trial):
    params = flat(trial("base", 1))
    assert params["model.num_heads"] == "4"
    assert params["model.positional_scheme.name"] == "sinusoidal"
    assert params["model.tie_embeddings"] == "true"
    assert params["data.corpus.options.path"] == "pairs.tsv"
    assert params["train.gradient_clip"] == "null"
    assert params["evaluate.beam_size"] == "4"


def test_params_are_the_same_strings_however_a_number_was_written(flat, trial):
    """MLflow refuses `0.0001` where it has `1e-4`."""
    written = [json.loads(text) for text in ("1e-4", "0.0001", "0.00010")]
    assert len({flat(trial("base", 1, train={"adam_epsilon": value}))["train.adam_epsilon"] for value in written}) == 1


def test_what_may_change_between_runs_of_one_trial_is_no_param(flat, trial):
    often, seldom = (flat(trial("base", 1, train={"log_every": every})) for every in (1, 100))
    assert often == seldom
    assert "train.log_every" not in often


def test_a_long_value_says_that_it_is_cut_and_where_the_whole_is(flat, trial):
    """MLflow cuts at 6000 characters without a word."""
    path = "x" * 7000
    value = flat(trial("base", 1, data={"corpus": {"name": "text_pairs", "options": {"path": path}}}))[
        "data.corpus.options.path"
    ]
    assert len(value) == 6000
    assert value.endswith("x… (7000 characters; the whole is in spec.json)")
