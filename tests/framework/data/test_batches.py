from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from framework.data import batches
from framework.data.batches import Position, TrainingBatches, length_sorted_batches

LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=200)


def training(lengths, batch_tokens=60, seed=1):
    return TrainingBatches(torch.tensor(lengths).amax(1) + 1, batch_tokens, seed)  # with the end piece


def sample(pairs=1000):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 50, (pairs, 2), generator=generator).tolist()


@given(LENGTHS, st.integers(41, 400), st.integers(0, 3), st.integers(0, 3))
def test_an_epoch_holds_every_pair_once_within_the_budget(lengths, batch_tokens, seed, epoch):
    found = training(lengths, batch_tokens, seed).epoch(epoch)
    assert sorted(torch.cat(found).tolist()) == list(range(len(lengths)))
    for batch in found:
        for side in torch.tensor(lengths)[batch].unbind(1):
            assert (int(side.max()) + 1) * len(batch) <= batch_tokens  # with the end piece


@given(st.lists(st.integers(0, 40), max_size=200), st.integers(1, 400))
def test_sorted_batches_hold_every_sequence_once(lengths, batch_tokens):
    found = length_sorted_batches(torch.tensor(lengths, dtype=torch.int64), batch_tokens)
    order = [index for batch in found for index in batch.tolist()]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[index] for index in order] == sorted(lengths)
    assert all(len(batch) == 1 or lengths[batch[-1]] * len(batch) <= batch_tokens for batch in found)


def test_the_order_is_a_function_of_seed_and_epoch():
    def order(seed, epoch):
        return torch.cat(training(sample(), seed=seed).epoch(epoch)).tolist()

    torch.manual_seed(7)  # the global generator has no say
    first = order(1, 0)
    torch.manual_seed(8)
    assert order(1, 0) == first
    assert order(2, 0) != first
    assert order(1, 1) != first


def test_the_order_is_the_one_that_earlier_trials_were_trained_in():
    golden = json.loads((Path(__file__).parents[2] / "golden" / "data.json").read_bytes())
    lengths = torch.arange(12) % 5
    found = TrainingBatches(torch.maximum(lengths, lengths.flip(0)) + 1, batch_tokens=20, seed=1).epoch(2)
    assert [batch.tolist() for batch in found] == golden["batches"]


def test_reading_does_not_disturb_the_global_generator():
    before = torch.get_rng_state()
    training(sample()).epoch(0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("stop", [0, 1, 7, 97, 200])
def test_a_resumed_reader_goes_on_where_it_stopped(stop):
    reader = training(sample(300), batch_tokens=200)
    straight = list(islice(reader.after(Position()), 260))
    position = straight[stop - 1][0] if stop else Position()
    resumed = list(islice(training(sample(300), batch_tokens=200).after(position), 260 - stop))
    assert [found for found, _ in resumed] == [found for found, _ in straight[stop:]]
    assert all(torch.equal(batch, known) for (_, batch), (_, known) in zip(resumed, straight[stop:], strict=True))


def test_an_epoch_that_is_used_up_is_followed_by_the_next():
    reader = training(sample(50))
    last = Position(0, len(reader.epoch(0)))
    position, batch = next(reader.after(last))
    assert position == Position(1, 1)
    assert torch.equal(batch, reader.epoch(1)[0])


def test_batch_mates_change_from_epoch_to_epoch():
    reader = training([(5, 5)] * 100)
    mates = [{frozenset(batch.tolist()) for batch in reader.epoch(epoch)} for epoch in (0, 1)]
    assert not mates[0] & mates[1]


def test_short_and_long_batches_alternate_by_chance():
    lengths = torch.tensor(sample(2000)).max(1).values
    longest = [int(lengths[batch].max()) for batch in training(sample(2000), batch_tokens=200).epoch(0)]
    assert longest != sorted(longest)


def test_little_is_padding():
    pairs = [(length, length) for length, _ in sample(5000)]
    found = training(pairs, batch_tokens=500).epoch(0)
    lengths = torch.tensor(pairs)[:, 0] + 1
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in found)
    assert int(lengths.sum()) > 0.95 * padded


def test_pools_hold_together_when_there_are_many(monkeypatch):
    monkeypatch.setattr(batches, "POOL_SIZE", 16)
    found = training(sample(200), batch_tokens=100).epoch(0)
    assert sorted(torch.cat(found).tolist()) == list(range(200))


def test_a_sequence_longer_than_the_budget_stands_alone():
    assert [batch.tolist() for batch in length_sorted_batches(torch.tensor([90, 3, 3]), 10)] == [[1, 2], [0]]
