"""Another device is played so that what would mix devices on a GPU is caught, and nothing else is."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from framework.testing.device import Elsewhere, elsewhere, moved

X = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))


def run(function, module=None):
    with elsewhere():
        if module is not None:
            moved(module)
        result = function(Elsewhere(X))
    assert isinstance(result, Elsewhere)
    return result.held


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: x + torch.arange(8), id="add"),
        pytest.param(lambda x: x.masked_fill(torch.ones(5, 8, dtype=torch.bool), 0.0), id="masked_fill"),
        pytest.param(lambda x: torch.where(x > 0, x, torch.zeros(8)), id="where"),
        pytest.param(lambda x: torch.cat((x, torch.zeros(2, 5, 8))), id="cat"),
        pytest.param(lambda x: x @ torch.eye(8), id="matmul"),
        pytest.param(lambda x: x + x.cpu(), id="to_the_cpu"),
        pytest.param(
            lambda x: F.embedding(torch.zeros(2, dtype=torch.int64, device=x.device), torch.ones(3, 8)), id="embedding"
        ),
    ],
)
def test_a_tensor_that_is_made_here_meets_none_from_elsewhere(function):
    with pytest.raises(RuntimeError, match="is given tensors on two devices, one of them made here without saying"):
        run(function)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: x + torch.arange(8, device=x.device), id="made_there"),
        pytest.param(lambda x: x + torch.arange(8).to(x.device), id="moved_there"),
        pytest.param(lambda x: x + torch.arange(8).to(x), id="moved_to_another"),
        pytest.param(lambda x: x + torch.tensor([2.0] * 8, device=x.device), id="from_numbers"),
        pytest.param(lambda x: x * torch.tensor(2.0), id="single_number"),  # a single number goes with either
        pytest.param(lambda x: x + x.new_ones(8), id="new_ones"),
        pytest.param(lambda x: x + torch.ones_like(x), id="ones_like"),
        pytest.param(lambda x: x[torch.tensor([1, 0])], id="indices"),  # indices may be on the CPU
        pytest.param(
            lambda x: x if x.abs().max() > 40 else x + 1, id="looks_at_a_number"
        ),  # looks at a number, which the meta device has none of
        pytest.param(lambda x: x.clone().mul_(2).add_(1), id="in_place"),
        pytest.param(
            lambda x: torch.zeros_like(x).index_copy_(1, torch.tensor([1], device=x.device), x[:, :1]), id="index_copy"
        ),
        pytest.param(
            lambda x: F.scaled_dot_product_attention(x, x, x, torch.ones(5, 5, device=x.device).tril().bool()),
            id="attention",
        ),
        pytest.param(lambda x: torch.einsum("bld,bmd->blm", x, x).softmax(-1), id="einsum"),
        pytest.param(lambda x: x.mT.cumsum(-1)[..., 1:], id="slices"),
    ],
)
def test_what_runs_on_a_gpu_runs_and_gives_the_same_numbers(function):
    assert torch.equal(run(function), function(X))


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (nn.Linear(8, 3), lambda module, x: module(x)),
        (nn.GRU(8, 4, batch_first=True), lambda module, x: module(x)[0]),
        (nn.LSTM(8, 4, batch_first=True, bidirectional=True), lambda module, x: module(x)[0]),
        (nn.Conv1d(8, 4, 3), lambda module, x: module(x.mT)),
        (nn.BatchNorm1d(8), lambda module, x: module(x.mT)),
        (
            nn.GRU(8, 4, batch_first=True),
            lambda module, x: pad_packed_sequence(module(pack_padded_sequence(x, [5, 4], batch_first=True))[0])[0],
        ),
    ],
    ids=["linear", "gru", "lstm", "convolution", "batch_norm", "packed"],
)
def test_modules_move_with_their_parameters_and_buffers(module, function):
    expected = function(module.eval(), X)
    assert torch.allclose(run(lambda x: function(module, x), module), expected, atol=1e-6)


def test_gradients_are_elsewhere_too():
    module = nn.Linear(8, 3)
    with elsewhere():
        moved(module)
        module(Elsewhere(X)).sum().backward()
    assert isinstance(module.weight.grad, Elsewhere)
    assert torch.allclose(module.weight.grad.held, X.sum((0, 1)).expand(3, 8), atol=1e-5)


def test_outside_of_it_all_is_as_before():
    with elsewhere():
        pass
    assert torch.arange(3).device.type == "cpu"
