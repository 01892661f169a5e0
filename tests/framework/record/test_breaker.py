from __future__ import annotations

import pytest


@pytest.fixture
def breaker(clock):
    from framework.record.breaker import Breaker

    return Breaker(clock)


def test_pauses_grow_to_a_longest_one(breaker, clock):
    pauses = []
    for _ in range(9):
        breaker.trip()
        start = clock.now
        while breaker.is_open:
            clock.now += 1
        pauses.append(clock.now - start)
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]


def test_success_ends_the_pause(breaker):
    breaker.trip()
    assert breaker.is_open
    breaker.reset()
    assert not breaker.is_open
    assert not breaker.has_tripped


def test_one_call_may_be_let_through_a_pause(breaker):
    breaker.trip()
    breaker.let_one_through()
    assert not breaker.is_open
    assert breaker.has_tripped
    breaker.trip()
    assert breaker.is_open
