"""Memory plans: blocks that are alive at the same time never overlap, others share; the table."""

from __future__ import annotations

import random

from duograph.core.dim import Symbol
from duograph.runtime.programs.arena import ALIGN, RED_ZONE, Block, plan_arena
from tests.unit.runtime.programs import compiled


def blocks(*spans: tuple[int, int, int]) -> list[Block]:
    return [Block(f"b{i}", n, begin=a, end=z, number=i) for i, (n, a, z) in enumerate(spans)]


def overlap(a: Block, b: Block) -> bool:
    alive = a.begin <= b.end and b.begin <= a.end
    return alive and a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes


def test_a_chain_needs_two_places():
    plan = plan_arena(blocks((256, 0, 1), (256, 1, 2), (256, 2, 3), (256, 3, 4)))
    assert plan.size == 512


def test_random_plans():
    rng = random.Random(0)
    for _ in range(50):
        made = []
        for _ in range(rng.randint(1, 40)):
            begin = rng.randint(0, 30)
            made.append((rng.choice([1, 4, 64, 100, 4096, 10_000]), begin, begin + rng.randint(0, 10)))
        plan = plan_arena(blocks(*made))
        assert not any(overlap(a, b) for i, a in enumerate(plan.blocks) for b in plan.blocks[:i])
        assert all(b.offset % ALIGN == 0 for b in plan.blocks)
        assert plan.size <= sum(max(ALIGN, -(-n // ALIGN) * ALIGN) for n, _, _ in made)


def test_blocks_of_symbolic_size_share_slots_of_their_size():
    n = Symbol("n")
    made = [Block("a", n * 4, begin=0, end=1), Block("b", n * 4, begin=2, end=3), Block("c", n * 8, begin=2, end=3)]
    plan = plan_arena(made)
    assert [b.offset for b in made] == [0, 0, 1]
    assert plan.slots == [n * 4, n * 8]
    assert "slot 1: 8*n bytes" in plan.table()


def test_debug_plans_share_nothing():
    plan = plan_arena(blocks((256, 0, 1), (100, 2, 3)), debug=True)
    assert [b.offset for b in plan.blocks] == [0, 256 + RED_ZONE]
    assert plan.red_zones() == [(256, RED_ZONE), (256 + RED_ZONE + 128, RED_ZONE)]


def test_values_follow_each_other_in_place():
    text = "graph @main(%x: f32[1024]) -> f32[1024] {\n"
    for i in range(20):
        text += f"  %{i} = sin({f'%{i - 1}' if i else '%x'}) : f32[1024]\n"
    executable = compiled(text + "  return %19\n}", level=0)
    assert executable.build.plan.size <= 4096
    table = executable.memory_table()
    assert table.startswith("arena of 4096 bytes for 1 blocks") and "sin" in table
