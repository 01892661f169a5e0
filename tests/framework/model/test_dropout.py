from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from framework.model.dropout import Dropout, dropout

ENTRIES = 400_000


def drawn(probability: float, *, seed: int = 0, entries: int = ENTRIES) -> torch.Tensor:
    torch.manual_seed(seed)
    return dropout(torch.ones(entries), probability)


@pytest.mark.parametrize("probability", [0.001, 0.1, 0.5, 0.9])
def test_entries_are_dropped_as_often_as_asked_and_the_others_scaled(probability):
    x = drawn(probability)
    dropped = x == 0
    deviation = (probability * (1 - probability) / ENTRIES) ** 0.5
    assert float(dropped.float().mean()) == pytest.approx(probability, abs=4 * deviation)
    torch.testing.assert_close(x[~dropped], torch.full_like(x[~dropped], 1 / (1 - probability)), rtol=1e-4, atol=0)


def test_a_probability_that_16_bits_cannot_show_is_scaled_as_it_is_drawn():
    used = round(0.1 * 2**16) / 2**16
    x = drawn(0.1)
    assert x.max().item() == torch.tensor(1 / (1 - used), dtype=torch.float32).item()
    assert x[x > 0].unique().numel() == 1


def test_a_probability_next_to_one_leaves_a_few():
    x = drawn(1 - 2**-30)
    assert 0 < (x > 0).sum() < 100  # 2^-16 of them: 6 on average
    assert x.max() == 2**16


def test_neighbours_that_share_a_random_word_are_dropped_independently():
    dropped = (drawn(0.3) == 0).view(-1, 4).double()
    correlation = torch.corrcoef(dropped.T)
    torch.testing.assert_close(correlation, torch.eye(4, dtype=torch.float64), atol=0.015, rtol=0)  # 4 deviations
    torch.testing.assert_close(dropped.mean(0), torch.full((4,), 0.3, dtype=torch.float64), atol=0.006, rtol=0)


def test_the_global_generator_says_what_is_dropped():
    assert torch.equal(drawn(0.5, seed=1), drawn(0.5, seed=1))
    assert not torch.equal(drawn(0.5, seed=1), drawn(0.5, seed=2))


def test_a_generator_put_back_goes_on_where_it_was():
    drawn(0.5)
    state = torch.get_rng_state()
    expected = dropout(torch.ones(7), 0.5)
    torch.set_rng_state(state)
    assert torch.equal(dropout(torch.ones(7), 0.5), expected)


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 3, 4), (0, 4)])
def test_any_shape_keeps_itself(shape):
    assert dropout(torch.ones(shape), 0.5).shape == shape


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_any_number_format_keeps_itself(dtype):
    x = dropout(torch.ones(1000, dtype=dtype), 0.5)
    assert x.dtype == dtype
    assert x.unique().tolist() == [0.0, 2.0]


def test_what_is_dropped_has_no_gradient_and_what_is_kept_the_scale():
    x = torch.randn(50, 3).T.requires_grad_()  # not contiguous
    y = dropout(x, 0.5)
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad * x, y)
    assert x.grad.unique().tolist() == [0.0, 2.0]


def test_nothing_is_dropped_without_a_probability_or_outside_training():
    x = torch.ones(100)
    assert dropout(x, 0.0) is x
    assert dropout(x, 0.5, training=False) is x
    assert Dropout(0.5).eval()(x) is x
    assert (Dropout(0.5)(x) == 0).any()


def test_a_compiled_model_and_other_devices_are_left_to_torch(monkeypatch):
    assert dropout(torch.ones(3, device="meta"), 0.5).is_meta
    monkeypatch.setattr("torch.compiler.is_compiling", lambda: True)
    torch.manual_seed(0)
    x = dropout(torch.ones(100), 0.5)
    torch.manual_seed(0)
    assert torch.equal(x, F.dropout(torch.ones(100), 0.5))
