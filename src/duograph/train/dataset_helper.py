"""Feeding networks from data sets: `DatasetHelper`, `connect_network_with_dataset`, `data_sink`.

There is no device with a queue of its own: in "sink mode" too, batches come from the host, one per step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from duograph.context.jit_config import JitConfig
from duograph.jit import jit
from duograph.nn.cell import Cell

from .model import batches_of


class DatasetHelper:
    """Iterates over the batches of one epoch.

    Args:
        dataset (Dataset): the data.
        dataset_sink_mode (bool): kept for old programs. Default ``True``.
        sink_size (int): batches of an "epoch", -1: all. Default ``-1``.
        epoch_num (int): number of epochs to come. Default ``1``.

    Raises:
        TypeError: ``dataset_sink_mode`` is not a bool, or ``sink_size`` is not an int.
        ValueError: ``sink_size`` is 0 or below -1.
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(f"The type of 'dataset_sink_mode' should be 'bool', but got {type(dataset_sink_mode)}.")
        _check_size(sink_size)
        self._dataset, self._sink_size, self.epoch_num = dataset, sink_size, epoch_num
        self.dataset_sink_mode = dataset_sink_mode

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if not self.dataset_sink_mode or self._sink_size == -1:
            yield from batches_of(self._dataset)
            return
        feed = endless(self._dataset)
        for _ in range(self._sink_size):
            yield next(feed)

    def sink_size(self) -> int:
        """The number of batches of an epoch."""
        if self._sink_size != -1:
            return self._sink_size
        return self._dataset.get_dataset_size() if hasattr(self._dataset, "get_dataset_size") else len(self._dataset)

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """Dtypes and shapes of the columns."""
        first = next(iter(batches_of(self._dataset)))
        return [x.dtype for x in first], [tuple(x.shape) for x in first]

    def get_data_info(self) -> tuple[list[Any], list[Any]]:
        """Dtypes and shapes of the columns."""
        return self.types_shapes()

    def stop_send(self) -> None:
        """Nothing is sent ahead."""

    def release(self) -> None:
        """Nothing is held."""

    def continue_send(self) -> None:
        """Nothing is sent ahead."""


def _check_size(sink_size: Any) -> None:
    if isinstance(sink_size, bool) or not isinstance(sink_size, int):
        raise TypeError(f"The type of 'sink_size' should be 'int', but got {type(sink_size)}.")
    if sink_size < -1 or sink_size == 0:
        raise ValueError(f"The 'sink_size' must be -1 or positive, but got sink_size {sink_size}.")


def endless(dataset: Any) -> Iterator[tuple[Any, ...]]:
    """The batches of a data set, over and over."""
    while True:
        count = 0
        for batch in batches_of(dataset):
            count += 1
            yield batch
        if not count:
            raise ValueError("The data set has no batches.")


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """The network to call with what ``dataset_helper`` yields: itself.

    Args:
        network (Cell): the network.
        dataset_helper (DatasetHelper): the data.

    Raises:
        TypeError: an argument has the wrong type.
    """
    if not isinstance(network, Cell):
        raise TypeError(f"The type of 'network' should be 'Cell', but got {type(network)}.")
    if not isinstance(dataset_helper, DatasetHelper):
        raise TypeError(f"The type of 'dataset_helper' should be 'DatasetHelper', but got {type(dataset_helper)}.")
    return network


def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: int = 1,
    jit_config: JitConfig | None = None,
    input_signature: Any = None,
) -> Callable[[], Any]:
    """A function without arguments that calls ``fn`` with the next batches.

    Args:
        fn (Function): takes the columns of a batch.
        dataset (Dataset): the data; it starts again at its end.
        sink_size (int): batches of one call. Default ``1``.
        jit_config (JitConfig): compile ``fn``. Default ``None``: as it is.
        input_signature (Union[Tensor, list, tuple]): of the compiled function. Default ``None``.

    Returns:
        Function that gives the last result.

    Raises:
        ValueError: ``sink_size`` is not positive.
    """
    if isinstance(sink_size, bool) or not isinstance(sink_size, int):
        raise TypeError(f"The type of 'sink_size' should be 'int', but got {type(sink_size)}.")
    if sink_size <= 0:
        raise ValueError(f"The 'sink_size' must be positive, but got sink_size {sink_size}.")
    step = fn if jit_config is None else jit(fn, jit_config=jit_config, input_signature=input_signature)
    feed = endless(dataset)

    def run() -> Any:
        result = None
        for _ in range(sink_size):
            result = step(*next(feed))
        return result

    return run
