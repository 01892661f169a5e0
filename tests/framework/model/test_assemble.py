from __future__ import annotations

import json

import pytest
import torch

from framework.errors import PluginError, SpecError
from framework.model import assemble, initialize, num_parameters
from framework.registry import Registry
from framework.spec import DataSpec, ModelSpec

EVERY_SITE = ("encoder.self", "decoder.self", "decoder.cross")


def differing(a, b) -> set[str]:
    """Names of weights that both models have and that start differently."""
    a, b = dict(a.named_parameters()), dict(b.named_parameters())
    return {name for name in a.keys() & b.keys() if a[name].shape != b[name].shape or not torch.equal(a[name], b[name])}


def test_a_seed_means_the_same_weights_every_time(build):
    assert not differing(build(seed=3), build(seed=3))


def test_another_seed_means_other_weights(build):
    same = {name for name, _ in build().named_parameters()} - differing(build(seed=3), build(seed=4))
    assert all(name.endswith("bias") or "norm" in name for name in same)


@pytest.mark.parametrize(
    "change",
    [
        {"num_layers": 1},
        {"attention_score": "additive"},
        {"positional_scheme": "learned"},
        {"feed_forward": "none"},
        {"norm_order": "pre_norm"},
        {"dropout": 0.3},
        {"tie_embeddings": False},
    ],
)
def test_rows_start_from_the_same_weights_where_they_share_a_module(build, change):
    assert not differing(build(), build(**change))


@pytest.mark.parametrize(("change", "parts"), [({"d_ff": 32}, ("inner", "outer")), ({"d_k": 4}, ("query", "key"))])
def test_rows_start_apart_only_where_they_differ_in_shape(build, change, parts):
    names = differing(build(), build(**change))
    assert names
    assert all(name.split(".")[-2] in parts for name in names)


def test_layers_do_not_start_alike(build):
    first, second = build().encoder.layers
    assert not torch.equal(first.self_mixing.mixer.query.weight, second.self_mixing.mixer.query.weight)


def test_building_and_initialising_leave_the_generator_alone(build):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    build()
    assert torch.equal(torch.rand(1), expected)


def test_the_generator_does_not_reach_the_weights(build):
    torch.manual_seed(1)
    first = build()
    torch.manual_seed(2)
    assert not differing(first, build())


def test_a_model_on_meta_has_sizes_and_can_be_given_its_weights_later(build, make, registry, data):
    spec = make(ModelSpec, d_model=16, d_ff=24, num_layers=2, num_heads=2, positional_scheme="learned")
    with torch.device("meta"):
        model = assemble(spec, data, registry)
    assert all(weight.is_meta for weight in model.parameters())
    late = model.to_empty(device="cpu")
    initialize(late, seed=1)
    now = build(positional_scheme="learned")
    assert num_parameters(late) == num_parameters(now)
    assert not differing(late, now)


def test_a_tied_table_is_one_parameter_under_one_name(build):
    """B23: it counts once."""
    tied, untied = build(), build(tie_embeddings=False)
    assert num_parameters(untied) - num_parameters(tied) == 2 * 300 * 16
    assert [name for name in tied.state_dict() if "table" in name] == ["source_table.weight"]


def test_the_output_projection_has_no_bias(build):
    names = [name for name in build(tie_embeddings=False).state_dict() if name.startswith("output")]
    assert names == ["output_table.weight"]


def test_no_weight_is_stored_twice(build):
    for scheme in Registry.load().names("positional_scheme"):
        stored = build(positional_scheme=scheme).state_dict().values()
        assert len({tensor.data_ptr() for tensor in stored}) == len(stored)


@pytest.mark.parametrize("site", EVERY_SITE)
@pytest.mark.parametrize("kind", ["attention_score", "mask"])
def test_a_choice_that_the_mixer_would_ignore_is_refused(build, site, kind):
    stack, place = site.split(".")
    choice = {"attention_score": "additive", "mask": "causal"}[kind]
    expected = rf"^model.sites.{site}.{kind}: the mixer 'none' takes no {kind.replace('_', ' ')}: remove this line, or"
    with pytest.raises(SpecError, match=expected):
        build(sites={stack: {place: {"mixer": "none", kind: choice}}})


def test_every_ignored_choice_is_reported_at_once(build):
    ignored = {"mixer": "none", "attention_score": "additive", "mask": "causal"}
    with pytest.raises(SpecError) as caught:
        build(sites={"decoder": {"self": ignored, "cross": ignored}})
    assert len(caught.value.problems) == 4


def test_a_choice_for_the_whole_model_passes_over_sites_that_take_none(build):
    model = build(attention_score="additive", sites={"encoder": {"self": {"mixer": "none"}}})
    assert model.encoder.layers[0].self_mixing is None
    assert model.decoder.layers[0].self_mixing.mixer.score.name == "additive"


@pytest.mark.parametrize(
    ("kind", "choice", "said"),
    [
        ("attention_score", "additive", "attention score additive"),
        (
            "attention_score",
            {"name": "dot_product", "options": {"scale": False}},
            r"attention score dot_product\(scale=False\)",
        ),
        ("mask", "causal", "mask causal"),
        ("attention_dropout", 0.1, r"attention dropout 0\.1"),
    ],
)
def test_a_choice_for_the_whole_model_that_no_site_takes_is_refused(build, kind, choice, said):
    expected = rf"^model.{kind}: no site has a mixer that takes the {said}: remove it, or choose such a mixer$"
    with pytest.raises(SpecError, match=expected):
        build(mixer="none", **{kind: choice})
    build(mixer="none")  # the defaults are nobody's choice
    build(mixer="none", attention_dropout=0.0)


BIASED = '''
"""A bias, and mixers that take it or not."""

import torch

import framework as fw


class Near(fw.PositionalScheme):
    name = "near"

    def bias(self, query_positions, key_positions):
        return -(query_positions[:, None, :, None] - key_positions[:, None, None, :]).abs().float()


class Deaf(fw.Mixer):
    name = "deaf"

    def start(self): ...
    def forward(self, x, *_, **__): ...


@fw.hookimpl
def positional_scheme():
    return Near


@fw.hookimpl
def mixer():
    return Deaf
'''


def test_a_bias_that_a_mixer_would_drop_is_refused(tmp_path, data):
    (tmp_path / "biased.py").write_text(BIASED)
    registry = Registry.load([tmp_path / "biased.py"])

    def build(**sites):
        fields = {"d_model": 16, "num_layers": 1, "num_heads": 2, "positional_scheme": "near", "sites": sites}
        spec = ModelSpec.model_validate_json(json.dumps(fields), context={"catalog": registry})
        with torch.device("meta"):
            return assemble(spec, data, registry)

    expected = (
        r"^model.positional_scheme: 'near' adds a bias to scores, which the mixer 'deaf' at encoder.self would drop: "
        r"choose another scheme, or a mixer that takes it$"
    )
    with pytest.raises(SpecError, match=expected):
        build(encoder={"self": {"mixer": "deaf"}})
    build()
    build(encoder={"self": {"mixer": "none"}})  # no mixing, no scores
    build(decoder={"cross": {"mixer": "deaf"}})  # biases act where queries and keys come from one sequence


def test_a_rotation_that_a_mixer_would_drop_is_refused(build):
    expected = (
        r"^model.positional_scheme: 'rotary' rotates queries and keys, which the mixer 'linear_attention' at "
        r"decoder.self would drop: choose another scheme, or a mixer that takes it$"
    )
    with pytest.raises(SpecError, match=expected):
        build(positional_scheme="rotary", sites={"decoder": {"self": {"mixer": "linear_attention"}}})
    build(positional_scheme="rotary", sites={"decoder": {"cross": {"mixer": "linear_attention"}}})


def test_a_mixer_where_it_cannot_stand_is_refused_at_the_line_that_puts_it_there(build):
    expected = (
        r"^model.sites.encoder.self.mixer: the mixer 'bottleneck' cannot stand at encoder.self, only at "
        r"decoder.cross: choose another$"
    )
    with pytest.raises(SpecError, match=expected):
        build(sites={"encoder": {"self": {"mixer": "bottleneck"}}})
    expected = (
        r"^model.mixer: the mixer 'convolution' cannot stand at decoder.cross, only at encoder.self and "
        r"decoder.self: name another as model.sites.decoder.cross.mixer$"
    )
    with pytest.raises(SpecError, match=expected):
        build(mixer="convolution")
    build(mixer="convolution", sites={"decoder": {"cross": {"mixer": "attention"}}})


@pytest.mark.parametrize(
    ("architecture", "there"), [("decoder_only", "decoder.self"), ("encoder_only", "encoder.self")]
)
def test_what_is_written_for_a_stack_that_is_not_there_is_refused(build, architecture, there):
    expected = (
        rf"^model.sites.decoder.cross.mask: model.architecture={architecture} has no site decoder.cross, "
        rf"only {there}: remove this$"
    )
    with pytest.raises(SpecError, match=expected):
        build(architecture=architecture, sites={"decoder": {"cross": {"mask": "causal"}}})


def test_one_sequence_has_one_vocabulary(make, registry):
    data = make(DataSpec, corpus="toy_translation", tokenizer={"vocabulary_size": 300, "shared": False})
    expected = (
        r"^data.tokenizer.shared: model.architecture=decoder_only reads everything in one sequence and has one "
        r"vocabulary: set it to true$"
    )
    with pytest.raises(SpecError, match=expected), torch.device("meta"):
        assemble(make(ModelSpec, architecture="decoder_only"), data, registry)


FORGETFUL = '''
"""Scales the channels, and forgets how it starts."""

import torch
from torch import Tensor, nn

import framework as fw


class Forgetful(fw.FeedForward):
    name = "forgetful"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.gain = nn.Parameter(torch.ones(dims.d_model))

    def forward(self, x: Tensor) -> Tensor:
        return self.gain * x


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return Forgetful
'''


def test_a_plugin_whose_weights_no_seed_would_reach_is_named(tmp_path, data):
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    registry = Registry.load([tmp_path / "forgetful.py"])
    spec = ModelSpec.model_validate_json('{"feed_forward": "forgetful"}', context={"catalog": registry})
    expected = (
        r"^plugin 'forgetful': Forgetful at encoder.layers.0.feed_forward.feed_forward owns parameters or buffers and "
        r"has no reset_parameters\(\) to fill them from the trial's seed$"
    )
    with pytest.raises(PluginError, match=expected), torch.device("meta"):
        assemble(spec, data, registry)


def test_heads_that_do_not_divide_the_width_name_both_numbers_and_the_ways_out(make):
    expected = r"model.d_model=512 is not divisible by model.num_heads=3: choose a divisor, or set model.d_k"
    with pytest.raises(ValueError, match=expected):
        make(ModelSpec, d_model=512, num_heads=3)
