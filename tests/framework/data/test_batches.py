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
    sources, targets = torch.tensor(lengths).unbind(1)
    return TrainingBatches(torch.maximum(sources, targets) + 1, sources - targets, batch_tokens, seed)  # with the end


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
    others = lengths.flip(0)
    reader = TrainingBatches(torch.maximum(lengths, others) + 1, lengths - others, batch_tokens=20, seed=1)
    found = reader.epoch(2)
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


def sentences(pairs):
    """Lengths as translations have them: the longer the source, the longer the target, give or take a fifth."""
    generator = torch.Generator().manual_seed(0)
    sources = (24 * torch.randn(pairs, generator=generator).mul(0.5).exp()).clamp(1, 100)
    targets = (sources * torch.randn(pairs, generator=generator).mul(0.2).exp()).clamp(1, 100)
    return torch.stack([sources, targets], 1).int().tolist()


def waste(pairs, found):
    sides = torch.tensor(pairs) + 1  # with the end
    padded = sum(int(sides[batch].amax(0).sum()) * len(batch) for batch in found)
    return 1 - int(sides.sum()) / padded


@pytest.mark.parametrize("batch_tokens", [500, 1000, 2000])
@pytest.mark.parametrize("epoch", [0, 1])
def test_less_than_a_twentieth_of_both_sides_is_padding(batch_tokens, epoch):
    pairs = sentences(20_000)
    assert waste(pairs, training(pairs, batch_tokens).epoch(epoch)) < 0.05


def test_the_shorter_sides_of_a_batch_are_alike():
    pairs = sentences(20_000)
    sides = torch.tensor(pairs)
    lengths = sides.amax(1) + 1
    by_longer_side = TrainingBatches(lengths, torch.zeros_like(lengths), 1000, seed=1)
    assert waste(pairs, training(pairs, 1000).epoch(0)) < 0.7 * waste(pairs, by_longer_side.epoch(0))


def test_batch_mates_change_where_lengths_differ_too():
    reader = training(sentences(5000), 500)
    batch_of = [torch.empty(5000, dtype=torch.int64) for _ in range(2)]
    for epoch, batch_numbers in enumerate(batch_of):
        for number, batch in enumerate(reader.epoch(epoch)):
            batch_numbers[batch] = number
    mates, mates_again = ((numbers[:, None] == numbers).fill_diagonal_(False) for numbers in batch_of)
    assert int((mates & mates_again).sum()) < int(mates.sum()) / 2


def one_by_one(lengths, batch_tokens):
    """Cut a sequence of lengths by the definition: where one more would not fit."""
    cuts: list[list[int]] = [[]]
    for length in lengths:
        if cuts[-1] and max(*cuts[-1], length) * (len(cuts[-1]) + 1) > batch_tokens:
            cuts.append([])
        cuts[-1].append(length)
    return cuts


@given(st.lists(st.integers(1, 40), min_size=1, max_size=200), st.integers(1, 400))
def test_a_batch_ends_where_one_more_would_not_fit(lengths, batch_tokens):
    found = length_sorted_batches(torch.tensor(lengths), batch_tokens)
    assert [[lengths[index] for index in batch.tolist()] for batch in found] == one_by_one(
        sorted(lengths), batch_tokens
    )


def test_a_batch_that_begins_with_the_end_of_a_pool_ends_where_one_more_would_not_fit(monkeypatch):
    monkeypatch.setattr(batches, "POOL_SIZE", 10)
    lengths = torch.tensor(sample(200)).amax(1) + 1
    found = TrainingBatches(lengths, torch.zeros_like(lengths), 300, seed=1).epoch(0)
    for batch in found:  # in any order
        assert len(batch) == 1 or int(lengths[batch].max()) * len(batch) <= 300
    assert any(lengths[batch].tolist() != sorted(lengths[batch].tolist()) for batch in found)


def test_pools_hold_together_when_there_are_many(monkeypatch):
    monkeypatch.setattr(batches, "POOL_SIZE", 16)
    found = training(sample(200), batch_tokens=100).epoch(0)
    assert sorted(torch.cat(found).tolist()) == list(range(200))


def test_a_sequence_longer_than_the_budget_stands_alone():
    assert [batch.tolist() for batch in length_sorted_batches(torch.tensor([90, 3, 3]), 10)] == [[1, 2], [0]]
