"""Samplers: which rows of a data set, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from duograph.base.absent import says_instead

from . import config


@says_instead("Sampler")
class Sampler:
    """Base class: `indices` gives row numbers. User samplers define ``__iter__`` and may read ``self.dataset_size``.

    Args:
        num_samples (int): at most this many rows. Default ``None``: all.
    """

    def __init__(self, num_samples: int | None = None) -> None:
        if num_samples is not None:
            if isinstance(num_samples, bool) or not isinstance(num_samples, int):
                raise TypeError(f"num_samples must be integer but was: {num_samples}.")
            if num_samples < 0:
                raise ValueError(f"num_samples exceeds the boundary between 0 and 9223372036854775807: {num_samples}.")
        self.num_samples = num_samples
        self.child_sampler: Sampler | None = None
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError("a Sampler needs __iter__")

    def add_child(self, sampler: Sampler) -> None:
        """Lets this sampler choose among what ``sampler`` chooses."""
        if self.child_sampler is not None:
            raise RuntimeError("Cannot add child sampler, this sampler already has a child.")
        self.child_sampler = sampler

    def get_child(self) -> Sampler | None:
        """The sampler below, if any."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """The bound on the number of rows."""
        return self.num_samples

    def count(self, size: int) -> int:
        """The number of rows chosen from ``size`` rows."""
        return len(list(self.indices(size, np.random.default_rng(0), 0)))

    def indices(self, size: int, rng: np.random.Generator, epoch: int) -> list[int]:
        """The rows chosen from ``size`` rows."""
        below = None
        if self.child_sampler is not None:
            below = self.child_sampler.indices(size, rng, epoch)
            size = len(below)
        chosen = self._choose(size, rng, epoch)
        if self.num_samples:
            chosen = chosen[: self.num_samples]
        return chosen if below is None else [below[i] for i in chosen]

    def _choose(self, size: int, rng: np.random.Generator, epoch: int) -> list[int]:
        self.dataset_size = size
        return [int(i) for i in self]


class SequentialSampler(Sampler):
    """Rows in order.

    Args:
        start_index (int): the first. Default ``None``: 0.
        num_samples (int): Default ``None``: all.
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.start_index = start_index

    def _choose(self, size, rng, epoch):
        start = self.start_index or 0
        if start < 0 or (size and start >= size):
            raise RuntimeError(f"Invalid parameter, start_index: {start} is out of range [0, {size}).")
        return list(range(start, size))


class RandomSampler(Sampler):
    """Rows in random order.

    Args:
        replacement (bool): may rows come twice? Default ``False``.
        num_samples (int): Default ``None``: all.
    """

    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        self.replacement = replacement

    def _choose(self, size, rng, epoch):
        if self.replacement:
            return rng.integers(0, size, self.num_samples or size).tolist()
        return rng.permutation(size).tolist()


class SubsetSampler(Sampler):
    """The rows of a list, in its order.

    Args:
        indices (Union[Iterable, int]): row numbers.
        num_samples (int): Default ``None``: all.
    """

    def __init__(self, indices: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        items = [indices] if isinstance(indices, int) else list(indices)
        for i in items:
            if isinstance(i, bool) or not isinstance(i, int | np.integer):
                raise TypeError(f"SubsetSampler: Type of indices element must be int, but got list[0]: {i}, {type(i)}.")
        self.chosen = [int(i) for i in items]

    def _choose(self, size, rng, epoch):
        for i in self.chosen:
            if not 0 <= i < size:
                raise RuntimeError(f"Invalid indices, the sample index {i} is out of range [0, {size}).")
        return list(self.chosen)


class SubsetRandomSampler(SubsetSampler):
    """The rows of a list, in random order."""

    def _choose(self, size, rng, epoch):
        return rng.permutation(super()._choose(size, rng, epoch)).tolist()


class WeightedRandomSampler(Sampler):
    """Rows drawn with the given weights.

    Args:
        weights (list[float]): one per row; they need not sum to 1.
        num_samples (int): Default ``None``: as many as weights.
        replacement (bool): Default ``True``.
    """

    def __init__(self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__(num_samples)
        if not isinstance(weights, list | tuple | np.ndarray):
            raise TypeError("weights must be a list of numbers.")
        if len(weights) == 0:
            raise ValueError("weights size must not be 0")
        if min(weights) < 0:
            raise ValueError(f"weights must not contain negative numbers, but got {min(weights)}")
        if sum(weights) == 0:
            raise ValueError("elements of weights must not be all zero")
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        self.weights, self.replacement = np.asarray(weights, np.float64), replacement

    def _choose(self, size, rng, epoch):
        p = self.weights / self.weights.sum()
        return rng.choice(len(p), self.num_samples or len(p), replace=self.replacement, p=p).tolist()


class DistributedSampler(Sampler):
    """The rows of one of several processes.

    Args:
        num_shards (int): number of processes.
        shard_id (int): this one.
        shuffle (bool): Default ``True``.
        num_samples (int): Default ``None``.
        offset (int): which process gets the first row. Default ``-1``: 0.
    """

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:
        super().__init__(num_samples)
        for name, value in (("num_shards", num_shards), ("shard_id", shard_id)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be integer but was: {value}.")
        if num_shards <= 0:
            raise RuntimeError(f"Invalid parameter, num_shards must be greater than 0, but got {num_shards}.")
        if not 0 <= shard_id < num_shards:
            raise RuntimeError(f"Invalid parameter, shard_id must be in range [0, {num_shards}), but got {shard_id}.")
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle must be a boolean value but was: {shuffle}.")
        self.num_shards, self.shard_id, self.shuffle, self.offset = num_shards, shard_id, shuffle, offset

    def _choose(self, size, rng, epoch):
        if self.shuffle and config.chosen_seed() is None:  # processes must not deal different orders
            rng = np.random.default_rng([config.get_seed(), epoch])
        order = rng.permutation(size).tolist() if self.shuffle else list(range(size))
        each = -(-size // self.num_shards)
        first = (self.shard_id - max(self.offset, 0)) % self.num_shards
        return [order[(first + i * self.num_shards) % size] for i in range(each)] if size else []


class PKSampler(Sampler):
    """``num_val`` rows of every class; the data set must know its ``labels``.

    Args:
        num_val (int): rows of each class.
        num_class (int): only ``None``: all.
        shuffle (bool): order of classes. Default ``False``.
        class_column (str): only ``"label"``, whose classes data sets know. Default ``"label"``.
        num_samples (int): Default ``None``.
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        if isinstance(num_val, bool) or not isinstance(num_val, int):
            raise TypeError(f"num_val must be integer but was: {num_val}.")
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")
        if class_column != "label":
            raise ValueError(f"For 'PKSampler', the 'class_column' must be 'label', but got {class_column!r}.")
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column
        self.labels: Sequence[int] | None = None

    def _choose(self, size, rng, epoch):
        if self.labels is None:
            raise RuntimeError("PKSampler needs a data set that knows the class of every row.")
        labels = np.asarray(self.labels)
        classes = np.unique(labels)
        classes = rng.permutation(classes) if self.shuffle else classes
        return [int(i) for c in classes for i in rng.choice(np.flatnonzero(labels == c), self.num_val)]


class IterableSampler(Sampler):
    """What a user gave as sampler: any iterable of row numbers."""

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__(None)
        self.numbers = numbers

    def __iter__(self):
        return iter(self.numbers)


def sampler_of(
    sampler: Any, shuffle: Any, num_samples: int | None, num_shards: int | None, shard_id: int | None
) -> Sampler:
    """The sampler that these arguments of a data set mean.

    Raises:
        RuntimeError: a sampler together with what it already says.
        ValueError: ``num_shards`` or ``shard_id`` alone, or out of range.
        TypeError: an argument has the wrong type.
    """
    if shuffle is not None and not isinstance(shuffle, bool) and not hasattr(shuffle, "name"):
        raise TypeError(f"Argument shuffle with value {shuffle} is not of type [<class 'bool'>], but got "
                        f"{type(shuffle)}.")  # fmt: skip
    if (num_shards is None) != (shard_id is None):
        raise ValueError("num_shards and shard_id need to be passed in together.")
    if num_shards is not None and not (num_shards > 0 and 0 <= (shard_id or 0) < num_shards):
        raise ValueError(f"shard_id is not within the required interval of [0, {num_shards - 1}].")
    if sampler is not None:
        if shuffle is not None:
            raise RuntimeError(
                f"sampler and shuffle cannot be specified at the same time, sampler: {sampler}, shuffle: {shuffle}."
            )
        if num_shards is not None:
            raise RuntimeError("sampler and sharding cannot be specified at the same time.")
        if isinstance(sampler, Sampler):
            return sampler
        if not isinstance(sampler, Iterable):
            raise TypeError(f"Unsupported sampler object of type ({type(sampler)})")
        return IterableSampler(sampler)
    mixed = shuffle is not False
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id or 0, mixed, num_samples)
    return RandomSampler(num_samples=num_samples) if mixed else SequentialSampler(num_samples=num_samples)
