from __future__ import annotations

import re
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import framework as fw
from docs.essay import cost_times
from docs.essay.components import mixer, sizes
from docs.essay.cost import DISTANCES, OPERATIONS, PATHS, WINDOW, exponents, numbers, spread
from docs.essay.cost_times import LENGTHS, MIXERS, WIDTHS
from docs.essay.page import FOLDER
from docs.essay.path_length import layers_until_it_arrives, reach


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


@pytest.mark.parametrize("name", MIXERS)
def test_multiply_adds_are_those_that_pytorch_counts(registry, name):
    n, d = 24, 16
    layer = mixer(registry, name, sizes(d, site=fw.Site.DECODER_SELF))
    plain = sdpa_kernel(SDPBackend.MATH)  # whose products the counter sees, unlike those of the fused kernel
    with plain, FlopCounterMode(display=False) as counter:
        layer(torch.randn(1, n, d), torch.arange(n)[None], torch.ones(1, n, dtype=torch.bool))
    assert counter.get_total_flops() == 2 * OPERATIONS[name](n, d)


def test_attention_is_cheaper_than_a_recurrence_while_n_is_below_d():
    for n, d in ((63, 64), (511, 512)):
        assert OPERATIONS["attention"](n, d) < OPERATIONS["recurrent"](n, d)
    for n, d in ((65, 64), (513, 512)):
        assert OPERATIONS["attention"](n, d) > OPERATIONS["recurrent"](n, d)


def test_exponents_are_those_of_a_known_cost():
    assert exponents(lambda n, d: 5 * n**2 * d**3) == pytest.approx((2.0, 3.0))


def test_counted_exponents_are_as_the_page_has_them():
    assert [round(power, 1) for power in exponents(OPERATIONS["attention"])] == [1.9, 1.2]
    for name in ("recurrent", "convolution"):
        assert exponents(OPERATIONS[name]) == pytest.approx((1.0, 2.0))


def test_measured_attention_is_cheapest_to_widen_and_dearest_to_lengthen(example):
    measured = {name: exponents(partial(example.times.of, name)) for name in MIXERS}
    assert measured["attention"] == (
        max(with_n for with_n, _ in measured.values()),
        min(with_d for _, with_d in measured.values()),
    )


def test_a_convolution_takes_a_layer_for_every_two_places(example):
    assert example.layers["convolution"] == [(length - 1) // 2 for length in PATHS] == [4, 8, 16]


@pytest.mark.parametrize("name", MIXERS)
def test_the_longest_path_on_the_page_is_layers_times_steps_of_each(example, name):
    page = (FOLDER / "cost.md").read_text(encoding="utf-8")
    cells = re.search(rf"^\| `{name}`.* \| (.+) \| (.+) \|$", page, re.M)
    assert cells is not None
    steps, path = cells.groups()
    for layers, n in zip(example.layers[name], PATHS, strict=True):
        in_numbers = {"n": n, "k": WINDOW}
        assert eval(path, in_numbers) == layers * eval(steps, in_numbers)


@pytest.mark.parametrize("name", ["attention", "recurrent"])
def test_attention_and_a_recurrence_reach_everything_in_one_layer(example, name):
    assert example.layers[name] == [1, 1, 1]


def test_a_wider_window_reaches_further(registry):
    assert layers_until_it_arrives(registry, "convolution", 17, width=5) == 4


def test_a_gradient_fades_through_a_recurrence_and_ends_with_a_convolution_s_window(example):
    gru = example.reach["recurrent"]
    assert gru[-1] / gru[0] < 1e-9
    assert example.reach["convolution"].count_nonzero() == 3


def test_attention_passes_on_about_as_much_from_every_place_before(example):
    before = example.reach["attention"][1:]
    assert spread(example.reach["attention"]) == pytest.approx((0.70, 1.36), abs=0.005)
    assert before[:31].mean() == pytest.approx(float(before[-31:].mean()), rel=0.05)


def test_places_before_differ_the_less_the_more_inputs_there_are(registry, example):
    fewer = [reach(registry, "attention", DISTANCES, 32, inputs) for inputs in (16, 64)]
    weakest, strongest = zip(*map(spread, [*fewer, example.reach["attention"]]), strict=True)
    assert list(weakest) == sorted(weakest)
    assert list(strongest) == sorted(strongest, reverse=True)


def test_spread_is_of_the_places_before_to_their_mean():
    assert spread(torch.tensor([9.0, 1.0, 2.0, 3.0])) == (0.5, 1.5)


def test_reach_is_the_norm_of_the_jacobian(registry):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        layer = mixer(registry, "attention", sizes(4, site=fw.Site.DECODER_SELF)).double()
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 5, 4, generator=generator, dtype=torch.double)
    norms = []
    for row in x:
        jacobian = torch.autograd.functional.jacobian(
            lambda row: layer(row[None], torch.arange(5)[None], torch.ones(1, 5, dtype=torch.bool))[0][0, -1], row
        )  # (4, 5, 4)
        norms.append(jacobian.square().sum((0, 2)))
    expected = torch.stack(norms).mean(0).sqrt().flip(0)
    torch.testing.assert_close(reach(registry, "attention", 5, 4, inputs=3), expected)


def test_every_mixer_is_timed_at_every_size(registry, monkeypatch):
    monkeypatch.setattr(cost_times, "LENGTHS", (4, 8))
    monkeypatch.setattr(cost_times, "WIDTHS", (8,))
    monkeypatch.setattr(cost_times, "REPEATS", 2)
    times = cost_times.measure(registry)
    assert all(times.of(name, length, 8) > 0 for name in MIXERS for length in (4, 8))


def test_times_are_of_one_thread_without_gradients_and_the_fastest_counts(registry, monkeypatch):
    now, states = 0.0, []
    lasting = {"attention": iter((3.0, 1.0, 2.0)), "recurrent": iter((6.0, 5.0, 4.0)), "convolution": iter((7.0,) * 3)}

    def slow(_, name, dims):
        def layer(x, positions, padding):
            nonlocal now
            now += next(lasting[name])
            states.append((torch.get_num_threads(), torch.is_grad_enabled(), x.dtype, x.shape))

        return layer

    monkeypatch.setattr(cost_times, "mixer", slow)
    monkeypatch.setattr(cost_times, "time", SimpleNamespace(perf_counter=lambda: now))
    monkeypatch.setattr(cost_times, "LENGTHS", (4,))
    monkeypatch.setattr(cost_times, "WIDTHS", (8,))
    monkeypatch.setattr(cost_times, "REPEATS", 3)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        times = cost_times.measure(registry)
    finally:
        torch.set_num_threads(threads)
    assert times.seconds == {"attention": [[1.0]], "recurrent": [[4.0]], "convolution": [[7.0]]}
    assert states == [(1, False, torch.float32, (1, 4, 8))] * 9


def test_kept_times_are_of_all_sizes(example):
    assert all(example.times.of(name, length, width) > 0 for name in MIXERS for length in LENGTHS for width in WIDTHS)
