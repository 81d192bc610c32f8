"""Data pipelines: microseconds for each row, from where it lies to a batch of 32, with as many workers as PyTorch's
`DataLoader` and MindSpore have.

Rows are small arrays, arrays that go through some Python, and JPEG files that are decoded, resized and normalised.
With one worker duograph works where rows are asked for, which `DataLoader` calls none: it is measured both ways.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32
SIZES = {"JPEG 160x120 to 64x64": ((120, 160), 64, 384), "JPEG 500x375 to 224x224": ((375, 500), 224, 128)}
WORKERS = {"one worker": (1, False), "two threads": (2, False), "two processes": (2, True)}


class Rows:
    """Small arrays and their numbers, by place."""

    def __init__(self, count: int, work: Callable[[Any], Any] | None = None) -> None:
        self._count, self._work = count, work

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> tuple[Any, Any]:
        if place >= self._count:
            raise IndexError(place)
        row = np.full((3, 32, 32), place, np.float32)
        return self._work(row) if self._work else row, np.int64(place % 10)


def python_work(row: np.ndarray) -> np.ndarray:
    """Some hundred microseconds of Python."""
    total = 0.0
    for i in range(3000):
        total += i * 0.5
    return row + np.float32(total * 0)


class _Folder(tempfile.TemporaryDirectory[str]):
    """Images of two classes, smooth with some noise, as photographs are."""

    def __init__(self, size: tuple[int, int], count: int) -> None:
        from PIL import Image

        super().__init__(prefix="duograph-bench-")
        rng = np.random.default_rng(0)
        for i in range(count):
            (folder := Path(self.name, f"class{i % 2}")).mkdir(exist_ok=True)
            coarse = Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).resize(
                size[::-1], Image.Resampling.BICUBIC
            )
            noisy = np.asarray(coarse) + rng.normal(0, 6, (*size, 3))
            Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(folder / f"{i}.jpg", quality=90)


@cache
def _folder(name: str) -> _Folder:
    size, _, count = SIZES[name]
    return _Folder(size, count)


def _timed(batches: Any) -> Callable[[], float]:
    """Seconds for each row of an epoch; the first is not measured."""
    ready = False

    def case() -> float:
        nonlocal ready
        for _ in range(1 if ready else 2):
            ready, start, count = True, time.perf_counter(), 0
            for x, _ in batches():
                count += x.shape[0]
            seconds = time.perf_counter() - start
        return seconds / count

    return case


def _mindspore(package: str) -> dict[str, Callable[[], float]]:
    ds = importlib.import_module(f"{package}.dataset")
    vision = ds.vision
    found = {}

    def add(name: str, how: str, made: Any) -> None:
        made = made.batch(BATCH)
        found[f"{name}, {how}: {package}"] = _timed(lambda: made.create_tuple_iterator(num_epochs=1))

    for how, (workers, processes) in WORKERS.items():
        options = {"num_parallel_workers": workers, "python_multiprocessing": processes}
        if how != "two threads":
            source = ds.GeneratorDataset(Rows(4000), ["x", "y"], shuffle=False, **options)
            add("small rows", how, source)
            source = ds.GeneratorDataset(Rows(500), ["x", "y"], shuffle=False).map(python_work, "x", **options)
            add("rows with Python", how, source)
        for name, (_, side, _) in SIZES.items():
            steps = [
                vision.Decode(), vision.Resize((side, side), vision.Inter.BILINEAR), vision.RandomHorizontalFlip(),
                vision.Rescale(1 / 255, 0.0), vision.Normalize([0.5] * 3, [0.2] * 3), vision.HWC2CHW(),
            ]  # fmt: skip
            made = ds.ImageFolderDataset(_folder(name).name, shuffle=False, num_parallel_workers=workers)
            add(name, how, made.map(steps, "image", **options))
    return found


def cases() -> dict[str, Callable[[], float]]:
    """One, two workers; threads and processes."""
    return _mindspore("duograph")


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same rows from PyTorch's `DataLoader` or MindSpore."""
    return _torch() if package == "torch" else _mindspore(package)


class Pictures:
    """The images of a folder, as programs for PyTorch read them."""

    def __init__(self, folder: str, side: int) -> None:
        self._files, self._side = sorted(Path(folder).glob("*/*.jpg")), side

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, place: int) -> tuple[Any, int]:
        import torch
        from PIL import Image

        path = self._files[place]
        image = Image.open(path).convert("RGB").resize((self._side, self._side), Image.Resampling.BILINEAR)
        if torch.rand(1) < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        x = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float().div(255)
        x.sub_(torch.full((3, 1, 1), 0.5)).div_(torch.full((3, 1, 1), 0.2))
        return x, int(path.parent.name[-1])


def _torch() -> dict[str, Callable[[], float]]:
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    sources: dict[str, Any] = {"small rows": Rows(4000), "rows with Python": Rows(500, python_work)}
    for name, (_, side, _) in SIZES.items():
        sources[name] = Pictures(_folder(name).name, side)
    ways = {"one worker": (0, 1), "two threads": (2,), "two processes": (2,)}
    return {
        f"{name}, {how}: {'no worker' if workers == 0 else f'{workers} worker' + 's' * (workers > 1)}": _timed(
            DataLoader(source, BATCH, num_workers=workers).__iter__
        )
        for name, source in sources.items()
        for how, counts in ways.items()
        for workers in counts
        if how != "two threads" or name in SIZES
    }
