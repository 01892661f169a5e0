from __future__ import annotations

import re

import pytest

from framework.spec import ModelSpec


def test_a_derived_width_and_a_stated_one_resolve_to_the_same_model(make):
    derived = make(ModelSpec, d_model=512, num_heads=8)
    stated = make(ModelSpec, d_model=512, num_heads=8, d_k=64, d_v=64)
    assert derived != stated
    assert derived.resolved() == stated.resolved() == stated


def test_the_width_of_keys_and_values_may_be_set_apart_from_the_model(make):
    resolved = make(ModelSpec, d_model=512, num_heads=8, d_k=16).resolved()
    assert (resolved.d_k, resolved.d_v) == (16, 64)


def test_a_site_holds_its_own_exceptions_and_the_model_s_choices_otherwise(make):
    model = make(ModelSpec, attention_score="kernel", sites={"decoder": {"cross": {"attention_score": "additive"}}})
    cross, own = model.site("decoder", "cross"), model.site("encoder", "self")
    assert str(cross.attention_score) == "additive"
    assert str(own.attention_score) == "kernel"
    assert cross.mixer == own.mixer == model.mixer
    assert cross.mask == model.mask


def test_what_is_left_out_is_the_paper_s_base_model(make):
    model = make(ModelSpec)
    sizes = (model.d_model, model.d_ff, model.num_layers, model.num_heads, model.dropout)
    assert sizes == (512, 2048, 6, 8, 0.1)
    parts = (model.attention_score, model.positional_scheme, model.mask, model.mixer, model.feed_forward)
    assert list(map(str, parts)) == ["dot_product", "sinusoidal", "full", "attention", "relu_mlp"]
    assert (model.norm_order, model.residual, model.tie_embeddings) == ("post_norm", True, True)


@pytest.mark.parametrize("name", ModelSpec.model_fields)
def test_a_field_cites_where_it_comes_from(name):
    cited = ModelSpec.model_fields[name].description
    assert re.search(r"([Ss]ections?|[Ee]quation|figure) \d|arXiv:", cited or "")
