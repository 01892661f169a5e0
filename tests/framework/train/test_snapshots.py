import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from framework.train.errors import CheckpointUnreadable
from framework.train.snapshots import averaged_steps, load_mean, save_weights


@pytest.mark.parametrize(
    ("last", "number", "every", "steps"),
    [
        (10_000, 2, 1000, (9000, 10_000)),  # B31: by number, where names sorted as text would give 8000 and 9000
        (10_000, 1, 1000, (10_000,)),
        (2500, 3, 1000, (500, 1500, 2500)),
        (2000, 5, 1000, (1000, 2000)),
        (3, 2, 7, (3,)),
    ],
)
def test_the_last_weights_and_those_before_them_are_averaged(last, number, every, steps):
    assert averaged_steps(last, number, every) == steps


class Tied(nn.Module):
    """A matrix with two names, and a buffer that counts."""

    def __init__(self, value: float, count: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight
        nn.init.constant_(self.first.weight, value)
        self.register_buffer("count", torch.tensor(count))


@pytest.fixture
def paths(tmp_path):
    paths = [tmp_path / "weights" / f"{step}.safetensors" for step in (9000, 10_000)]
    for path, value, count in zip(paths, (1.0, 3.0), (7, 8), strict=True):
        save_weights(path, Tied(value, count))
    return paths


def test_a_tied_matrix_is_averaged_once_and_stays_tied_and_a_counter_is_the_newest(paths):
    """B31: sums in place through both names would give 1.75, and integers refuse to be divided."""
    model = Tied(0.0, 0)
    load_mean(paths, model)
    assert torch.equal(model.first.weight, torch.full((2, 2), 2.0))
    assert model.second.weight is model.first.weight
    assert model.count == 8


def test_the_mean_of_one_is_itself(paths):
    model = Tied(0.0, 0)
    load_mean(paths[:1], model)
    assert torch.equal(model.first.weight, torch.full((2, 2), 1.0))
    assert model.count == 7


def test_equal_weights_are_their_own_mean_to_the_last_bit(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(50, 50)
    paths = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for path in paths:
        save_weights(path, model)
    before = model.weight.clone()
    load_mean(paths, model)
    assert torch.equal(model.weight, before)


def test_a_weight_is_stored_once(paths):
    assert load_file(paths[0]).keys() == {"model/first.weight", "model/count"}


def test_what_cannot_be_averaged_touches_nothing(paths):
    model = Tied(5.0, 0)
    save_file({"model/first.weight": torch.zeros(3, 3), "model/count": torch.tensor(1)}, paths[0])
    with pytest.raises(CheckpointUnreadable, match=r"9000\.safetensors .* another model, which differs in first"):
        load_mean(paths, model)
    paths[0].write_bytes(b"torn")
    with pytest.raises(CheckpointUnreadable, match=r"9000\.safetensors cannot be read"):
        load_mean(paths, model)
    paths[0].unlink()
    with pytest.raises(FileNotFoundError):
        load_mean(paths, model)
    assert torch.equal(model.first.weight, torch.full((2, 2), 5.0))
