"""Targets as data: what the code generator must know of a processor is one row of `TARGETS`.

A generator asks the row (how wide is a vector, is there a fused multiply-add, how large is a GEMM tile) and never the
name of the processor; another processor is another row. Nothing here may change the *meaning* of a kernel: the order
of sums is a function of shape and dtype alone, and a target decides only how many of them are under way at once.

`host_target()` is the row that fits this machine, with its exact CPU name and features; the option `target`
(DUOGRAPH_TARGET) takes a lesser one, as on a machine that has no more than that.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from duograph.base.config import config
from duograph.base.imports import import_whole
from duograph.base.once import once

__all__ = ["TARGETS", "Caches", "Target", "Tile", "current_target", "host_target", "target_named"]


@dataclass(frozen=True, slots=True)
class Tile:
    """The micro-kernel of the GEMM: `rows` x `columns` accumulators, the columns a whole number of vectors."""

    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Caches:
    """Sizes of the data caches in bytes: L1 and L2 of one core, L3 of all."""

    l1: int = 32 << 10
    l2: int = 512 << 10
    l3: int = 8 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """A processor as the code generator sees it.

    Attributes:
        name: the key in `TARGETS`.
        arch: "x86-64" or "aarch64".
        cpu: LLVM's name of the processor, which decides about scheduling.
        features: LLVM's feature string; the code uses nothing else than these and what `cpu` implies.
        has_fma: a fused multiply-add is one instruction. Without it `llvm.fma` is a library call for each lane.
        has_f16: conversions between float16 and float32 are instructions.
        vector_bits: width of a vector register.
        vector_registers: how many there are.
        tiles: GEMM micro-kernel for each dtype name.
        caches: typical sizes; blocking is tuned by them.
        spins: how many pauses a worker waits for the next region before it sleeps (about 0.1 ms).
    """

    name: str
    arch: str
    cpu: str
    features: str
    has_fma: bool
    has_f16: bool
    vector_bits: int
    vector_registers: int
    tiles: Mapping[str, Tile] = field(hash=False)
    caches: Caches = Caches()
    spins: int = 4000

    @property
    def has_masks(self) -> bool:
        """Whether masked vectors cost no more than whole ones. (AVX2 has some, which AMD's processors store slowly.)"""
        return self.vector_bits >= 512

    def lanes(self, itemsize: int) -> int:
        """How many elements of `itemsize` bytes a vector register holds."""
        return self.vector_bits // (8 * itemsize)

    @property
    def key(self) -> str:
        """What makes machine code for this target differ from code for another."""
        return f"{self.name}|{self.cpu}|{self.features}"


def _tiles(**tiles: tuple[int, int]) -> Mapping[str, Tile]:
    return MappingProxyType({dtype: Tile(*shape) for dtype, shape in tiles.items()})


TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        row.name: row
        for row in (
            Target(
                "x86-64-avx512",
                "x86-64",
                cpu="x86-64-v4",
                features="",
                has_fma=True,
                has_f16=True,
                vector_bits=512,
                vector_registers=32,
                tiles=_tiles(float32=(12, 32), float64=(12, 16)),
                caches=Caches(l2=1 << 20),
            ),
            Target(
                "x86-64-avx2",
                "x86-64",
                cpu="x86-64-v3",
                features="",
                has_fma=True,
                has_f16=True,
                vector_bits=256,
                vector_registers=16,
                tiles=_tiles(float32=(6, 16), float64=(6, 8)),
            ),
            Target(
                "x86-64",
                "x86-64",
                cpu="x86-64",
                features="",
                has_fma=False,
                has_f16=False,
                vector_bits=128,
                vector_registers=16,
                tiles=_tiles(float32=(4, 8), float64=(4, 4)),
            ),
            Target(
                "aarch64-neon",
                "aarch64",
                cpu="generic",
                features="+neon",
                has_fma=True,
                has_f16=True,
                vector_bits=128,
                vector_registers=32,
                tiles=_tiles(float32=(8, 12), float64=(8, 6)),
                caches=Caches(l1=64 << 10, l2=1 << 20),
                spins=40000,  # a yield is one cycle where x86's pause is forty and more
            ),
        )
    }
)
"""All targets, best first within an architecture."""

_SHORT = {"avx512": "x86-64-avx512", "avx2": "x86-64-avx2", "baseline": "x86-64", "neon": "aarch64-neon"}
_NEEDS = {
    "x86-64-avx512": ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx2", "fma", "f16c"),
    "x86-64-avx2": ("avx2", "fma", "f16c"),
    "x86-64": (),
    "aarch64-neon": (),
}


def target_named(name: str) -> Target:
    """The row of a key of `TARGETS` or its short name (avx512, avx2, baseline, neon), fit for this machine or not."""
    return TARGETS[_SHORT.get(name, name)]


@once
def host_target() -> Target:
    """The best row for this machine, with the machine's own CPU name and features.

    A fork waits for it: llvmlite has a lock of its own, which would stay locked in the child.

    Raises:
        RuntimeError: an architecture without a row.
    """
    binding = import_whole("llvmlite.binding")
    features = binding.get_host_cpu_features()
    for row in TARGETS.values():
        if row.arch == _host_arch() and all(features.get(need, False) for need in _NEEDS[row.name]):
            return replace(row, cpu=binding.get_host_cpu_name(), features=features.flatten(), caches=_host_caches(row))
    raise RuntimeError(f"no code generator for processors of type {platform.machine()!r}")


def current_target() -> Target:
    """The target to compile for: the host's, or the one that the option `target` names.

    Raises:
        ValueError: this machine cannot run the code of the named target.
    """
    return _chosen(config().target)


@functools.cache
def _chosen(name: str) -> Target:
    host = host_target()
    if name in ("", "host"):
        return host
    row = target_named(name)
    if row.name == host.name:
        return host
    order = list(TARGETS)
    if row.arch != host.arch or order.index(row.name) < order.index(host.name):
        raise ValueError(f"target {name!r}: this machine runs {host.name} and less, not {row.name}")
    return replace(row, caches=host.caches)


def _host_arch() -> str:
    machine = platform.machine().lower()
    return {"amd64": "x86-64", "x86_64": "x86-64", "arm64": "aarch64", "aarch64": "aarch64"}.get(machine, machine)


def _host_caches(row: Target) -> Caches:
    """The sizes Linux tells of the first core, or the row's."""
    sizes: dict[int, int] = {}
    for index in range(4):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}/"
        try:
            kind, level, size = (_line(folder + name) for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[-1:] in ("K", "M"):
            sizes[int(level)] = int(size[:-1]) << {"K": 10, "M": 20}[size[-1]]
    typical = row.caches
    return Caches(sizes.get(1, typical.l1), sizes.get(2, typical.l2), sizes.get(3, typical.l3))


def _line(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.readline().strip()
