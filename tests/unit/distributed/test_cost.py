"""The cost model: formulas by hand, figures that ranks measure, and what follows for many ranks."""

from __future__ import annotations

import dataclasses

import pytest

from duograph.distributed import world
from duograph.distributed.cost import Links, Training, measure, rounds
from duograph.distributed.meeting import FRAME, HEAD
from duograph.distributed.world import WORLD, simulate

CLUSTER = Links(call=10e-6, latency=2e-6, bandwidth=10e9, sums=5e9)
NETWORK = Training(parameters=100e6, row=1e-3, fixed=2e-3, optimizer=20e-3)


def test_a_large_sum_is_all_to_all_then_a_sum_then_all_gather():
    n = 8e6
    by_hand = 10e-6 + (2e-6 + FRAME / 10e9)  # the meeting
    by_hand += 2e-6 + n / 2 / 10e9  # half of the operand each way
    by_hand += n / 5e9  # two halves are added up
    by_hand += 2e-6 + n / 2 / 10e9
    assert CLUSTER.all_reduce(n, 2) == pytest.approx(by_hand)


def test_a_small_sum_travels_in_the_frames():
    assert CLUSTER.all_reduce(FRAME - HEAD, 4) == pytest.approx(CLUSTER.meeting(4), rel=0.05)
    assert CLUSTER.all_reduce(FRAME - HEAD + 1, 4) > 1.3 * CLUSTER.meeting(4)


def test_one_rank_communicates_nothing():
    assert CLUSTER.all_reduce(1e9, 1) == CLUSTER.all_gather(1e9, 1) == NETWORK.communication(CLUSTER, 1, True) == 0
    assert NETWORK.efficiency(CLUSTER, 1, 8) == 1


@pytest.mark.parametrize("nbytes", [0, 100, 10_000, 1e6, 1e9])
def test_more_ranks_and_more_bytes_take_longer(nbytes):
    times = [CLUSTER.all_reduce(nbytes, ranks) for ranks in (1, 2, 4, 8, 16, 4096)]
    assert times == sorted(times)
    assert all(CLUSTER.all_reduce(2 * nbytes, ranks) >= t for ranks, t in zip((2, 4), times[1:3], strict=True))


def test_messages_count_where_ranks_are_many():
    assert [rounds(n) for n in (1, 2, 16, 17, 4096)] == [0, 1, 15, 5, 12]
    far = dataclasses.replace(CLUSTER, latency=20e-6)
    assert far.all_reduce(1e6, 4096) - CLUSTER.all_reduce(1e6, 4096) == pytest.approx(18e-6 * (4095 + 12 + 12))


def test_a_step_is_computing_and_communication():
    alone = NETWORK.step(CLUSTER, 1, 32)
    assert alone == pytest.approx(2e-3 + 32e-3 + 20e-3)
    assert NETWORK.step(CLUSTER, 8, 32) == pytest.approx(alone + NETWORK.communication(CLUSTER, 8))


def test_rows_for_an_efficiency_are_just_enough():
    rows = NETWORK.rows_for(CLUSTER, 64, 0.9)
    assert NETWORK.efficiency(CLUSTER, 64, rows) >= 0.9 > NETWORK.efficiency(CLUSTER, 64, rows - 1)


def test_dealt_states_pay_where_the_optimizer_takes_longer_than_the_way_back():
    slow = dataclasses.replace(NETWORK, optimizer=200e-3)
    assert slow.step(CLUSTER, 8, 1, shards=True) < slow.step(CLUSTER, 8, 1)
    quick = dataclasses.replace(NETWORK, optimizer=1e-3)
    assert quick.step(CLUSTER, 8, 1, shards=True) > quick.step(CLUSTER, 8, 1)


def test_ranks_agree_on_what_they_measured():
    found = simulate(3, lambda: measure(world.current().group(WORLD), large=1 << 18, repeats=5))
    assert len(set(found)) == 1
    assert all(value > 0 for value in dataclasses.astuple(found[0]))


def test_one_rank_has_no_links():
    with pytest.raises(ValueError, match="this group has one"):
        measure(world.current().group(WORLD))
