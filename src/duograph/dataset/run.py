"""Running a pipeline: the random numbers of a run, and the iterators that users get."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.tensor.tensor import SUPPORTED, Tensor, with_known_dtype, wrap

from . import config
from .workers import prefetched

if TYPE_CHECKING:
    from .dataset import Dataset

Row = tuple[np.ndarray, ...]


class Run:
    """One pass of an iterator over a tree of data sets; knows the epoch of the node that asks.

    Random numbers come from the seed, the node's number in the tree (in pre-order) and the epoch alone.
    """

    def __init__(self, numbers: dict[int, int], entropy: tuple[int, ...], epoch: int = 0) -> None:
        self._numbers, self.entropy, self.epoch = numbers, entropy, epoch
        self._words = [word for number in entropy for word in _words_of(number)]

    @classmethod
    def of(cls, root: Dataset) -> Run:
        """A run of the tree under ``root``."""
        seed = config.chosen_seed()
        fresh: Any = np.random.SeedSequence().entropy  # an int, if nothing is given
        return cls(_numbers_of(root), (fresh if seed is None else seed,))

    @classmethod
    def fixed(cls, root: Dataset) -> Run:
        """A run that is the same whenever it is asked for, also if no seed was set."""
        return cls(_numbers_of(root), (config.get_seed(),))

    def rng(self, node: Dataset, extra: int = 0) -> np.random.Generator:
        """The random numbers of ``node`` in this epoch."""
        words = [*self._words, self._numbers.get(id(node), 0), self.epoch, *_words_of(extra)]
        seed = np.random.SeedSequence(np.array(words, np.uint32))  # as of a list of the numbers, which takes longer
        return np.random.Generator(np.random.PCG64(seed))

    def seed(self, node: Dataset) -> int | None:
        """A seed for generators that are not ours, of ``node`` in this epoch; ``None`` if nobody chose one."""
        return None if config.chosen_seed() is None else int(self.rng(node, 2**63).integers(2**62))

    def at(self, epoch: int) -> Run:
        """The same run in another epoch."""
        return Run(self._numbers, self.entropy, epoch)


def _words_of(number: int) -> list[int]:
    """A number in words of 32 bits, the lowest first, as `numpy.random.SeedSequence` takes it apart."""
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


def _numbers_of(root: Dataset) -> dict[int, int]:
    numbers: dict[int, int] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        numbers.setdefault(id(node), len(numbers))
        stack.extend(reversed(node.children))
    return numbers


def _has_workers(root: Dataset) -> bool:
    return root.workers > 1 or any(_has_workers(child) for child in root.children)


class TextArray(np.ndarray):
    """Texts of a row. There are no Tensors of strings; scripts ask MindSpore's for their contents."""

    def asnumpy(self) -> np.ndarray:
        """A plain NumPy array of the texts."""
        return self.view(np.ndarray)

    def __repr__(self) -> str:
        shown = np.array2string(self.asnumpy(), separator=", ")
        return f"Tensor(shape={list(self.shape)}, dtype=String, value= {shown})"


class DatasetIterator:
    """Iterates over rows. It ends after each epoch, and starts the next one when iterated again.

    Args:
        dataset (Dataset): what to run.
        num_epochs (int): how often; -1: without end.
        output_numpy (bool): give arrays instead of Tensors.
    """

    def __init__(self, dataset: Dataset, num_epochs: int, output_numpy: bool) -> None:
        self._dataset, self._left, self._numpy = dataset, num_epochs, output_numpy
        self._run = Run.of(dataset)
        self._rows: Iterator[Row] | None = None
        self._given, self._owned = 0, dataset.makes_arrays()
        self._asked = threading.RLock()  # a generator that runs is asked by nobody else

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        with self._asked:
            row = self._next()
        return self._shown(row)

    def _next(self) -> Row:
        if self._rows is None:
            if self._left == 0:
                raise RuntimeError("Getting data from an iterator whose epochs (num_epochs) are all done.")
            rows = self._dataset.rows(self._run)
            rows = prefetched(rows, config.get_prefetch_size()) if _has_workers(self._dataset) else rows
            self._rows = islice(rows, self._given, None)
        try:
            row = next(self._rows)
        except StopIteration:
            self._rows, self._left = None, self._left - 1 if self._left > 0 else self._left
            self._run, self._given = self._run.at(self._run.epoch + 1), 0
            raise
        self._given += 1
        return row

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is: `load_state_dict` of another one over the same pipeline goes on from there."""
        return {"entropy": self._run.entropy, "epoch": self._run.epoch, "row": self._given, "left": self._left}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where the iterator was whose `state_dict` this is: with the rows, the order and the random numbers
        that it would have given."""
        self._run = Run(_numbers_of(self._dataset), tuple(state["entropy"]), state["epoch"])
        self._rows, self._given, self._left = None, state["row"], state["left"]

    def _shown(self, row: Row) -> Any:
        return [self._value(x) for x in row]

    def _value(self, x: np.ndarray) -> Any:
        if x.dtype == object and x.ndim == 0:
            return x.item()  # a dict, or whatever else rows of Python have
        if self._numpy or (x.dtype.kind not in "biufc" and x.dtype not in SUPPORTED):
            return x if self._numpy or x.dtype.kind not in "SU" else x.view(TextArray)
        if self._owned and type(x) is np.ndarray and x.flags.owndata and x.flags.c_contiguous and x.dtype in SUPPORTED:
            return wrap(with_known_dtype(x))  # a copy of a batch takes as long as making it
        return Tensor(x)

    def stop(self) -> None:
        """Ends the iteration."""
        self._rows, self._left = None, 0

    release = stop

    def get_next(self) -> Any:
        """The next row."""
        return next(self)


class TupleIterator(DatasetIterator):
    """Rows as lists, of the chosen columns."""

    def __init__(self, dataset: Dataset, columns: list[str] | None, num_epochs: int, output_numpy: bool) -> None:
        super().__init__(dataset.project(columns) if columns else dataset, num_epochs, output_numpy)


class DictIterator(DatasetIterator):
    """Rows as dictionaries by column."""

    def _shown(self, row: Row) -> Any:
        return {name: self._value(x) for name, x in zip(self._dataset.get_col_names(), row, strict=True)}
