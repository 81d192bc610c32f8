"""`Model`: training, evaluation and prediction of a network on data sets."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.absent import instead
from duograph.context.parallel import get_auto_parallel_context
from duograph.core.errors import user_error
from duograph.nn.cell import Cell
from duograph.nn.wrap import WithEvalCell, WithLossCell
from duograph.tensor.tensor import Tensor

from . import agreement
from .amp import LEVELS, build_train_network
from .callback import CallbackManager, InternalCallbackParam, RunContext
from .callback.monitors import loss_value
from .callback.progress import with_progress
from .diagnosis import Diagnosis
from .metrics import Loss, get_metrics


def batches_of(dataset: Any) -> Iterator[tuple[Any, ...]]:
    """The batches of a data set (``create_tuple_iterator``) or of any iterable, as tuples of tensors."""
    rows: Iterable[Any] = dataset.create_tuple_iterator() if hasattr(dataset, "create_tuple_iterator") else dataset
    for row in rows:
        items = tuple(row) if isinstance(row, tuple | list) else (row,)
        yield tuple(x if isinstance(x, Tensor) else Tensor(x) for x in items)


def _check_dataset(dataset: Any, method: str) -> None:
    """Raises unless batches can come from it.

    Raises:
        TypeError: it is an array.
        ValueError: it is empty.
    """
    if isinstance(dataset, np.ndarray | Tensor | str | dict):
        raise TypeError(
            f"For 'Model.{method}', the data must be a Dataset, but got {type(dataset).__name__}: "
            "mindspore.dataset.NumpySlicesDataset((inputs, labels), ['data', 'label']).batch(32) makes one of arrays."
        )
    if hasattr(dataset, "get_dataset_size") and dataset.get_dataset_size() == 0:
        raise ValueError("There is no valid data in dataset, please check dataset file firstly.")


_logger = logging.getLogger("duograph.numerics")


def _is_fine(outputs: Any) -> bool:
    first = outputs[0] if isinstance(outputs, tuple | list) and outputs else outputs
    loss = first.array().item() if isinstance(first, Tensor) and not first.shape else loss_value(first)
    return loss is None or math.isfinite(loss)


def _lost(params: Any) -> str:
    step = (params.cur_step_num - 1) % params.batch_num + 1
    return f"In epoch: {params.cur_epoch_num} step: {step}, loss is {loss_value(params.net_outputs)}."


class Model:
    """A network with loss, optimizer and metrics.

    Args:
        network (Cell): the network.
        loss_fn (Cell): its loss; ``None`` if the network returns the loss. Default ``None``.
        optimizer (Cell): for training. Default ``None``.
        metrics (Union[dict, set]): names, or metrics by name. Default ``None``.
        eval_network (Cell): for evaluation; default: network and loss. Default ``None``.
        eval_indexes (list): places of loss, output and label in its outputs. Default ``None``.
        amp_level (str): see `amp.auto_mixed_precision`. Default ``"O0"``.
        boost_level (str): kept for old programs. Default ``"O0"``.
        kwargs: ``loss_scale_manager``, ``keep_batchnorm_fp32``.

    Supported Platforms:
        ``CPU``
    """

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Cell | None = None,
        eval_indexes: list[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        if not isinstance(network, Cell):
            raise TypeError(f"For 'Model', the argument 'network' must be Cell, but got {type(network)}.")
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(f"For 'Model', the argument 'loss_fn' must be Cell or function, but got {loss_fn!r}.")
        if optimizer is not None and not isinstance(optimizer, Cell):
            raise TypeError(f"For 'Model', the argument 'optimizer' must be Optimizer, but got {type(optimizer)}.")
        if amp_level not in LEVELS:
            raise ValueError(f"The 'level' should be in : {list(LEVELS)}, but got {amp_level}.")
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp = {"level": amp_level, "boost_level": boost_level, **kwargs}
        self._metrics = get_metrics(metrics)
        self._eval_network, self._eval_indexes = eval_network, eval_indexes
        if eval_network is None and loss_fn is not None:
            self._eval_network = WithEvalCell(network, loss_fn)
        if self._metrics and self._eval_network is None:
            raise ValueError(
                "For 'Model', 'metrics' are given but neither 'loss_fn' nor 'eval_network', so there is nothing to "
                "evaluate with: give 'loss_fn', or an 'eval_network' that returns loss, output and label."
            )
        self._built: Cell | None = None

    if not TYPE_CHECKING:  # a type checker would take every name for one that is there

        def __getattr__(self, name):
            said = f"{type(self).__name__!r} object has no attribute {name!r}{instead('Model', name)}"
            raise AttributeError(said, name=name)

    @property
    def train_network(self) -> Cell:
        """The Cell that does a training step."""
        if self._built is None:
            if self._optimizer is None:
                self._built = self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
            else:
                self._built = build_train_network(self._network, self._optimizer, self._loss_fn, **self._amp)
        return self._built

    @property
    def eval_network(self) -> Cell | None:
        """The Cell that evaluates."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """The network."""
        return self._network

    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Trains.

        Args:
            epoch (int): number of epochs.
            train_dataset (Dataset): the data.
            callbacks (Union[list[Callback], Callback]): Default ``None``.
            dataset_sink_mode (bool): kept for old programs. Default ``False``.
            sink_size (int): kept for old programs. Default ``-1``.
            initial_epoch (int): number of epochs done before. Default ``0``.

        Where ``parallel_mode`` is data-parallel, and there are several processes, all of them begin with the parameters
        of rank 0 (``parameter_broadcast``), and gradients are reduced in every step.

        The first loss that is NaN or infinite is followed by a warning, or by the error of `LossMonitor`, that names
        the operator, the line and the layer which made it: the last two batches are repeated with each operator looked
        at (`duograph.check_numerics`), from the parameters as they were then or at most 16 steps before.

        Raises:
            ValueError: ``epoch`` is not positive; processes have different numbers of batches.
        """
        self._train(epoch, train_dataset, callbacks, initial_epoch)

    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: Any = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Trains, and evaluates every ``valid_frequency`` epochs (or in the epochs of a list); see `train`."""
        self._train(epoch, train_dataset, callbacks, initial_epoch, valid_dataset, valid_frequency)

    def _train(
        self, epochs: int, dataset: Any, callbacks: Any, first: int, valid: Any = None, frequency: Any = 1
    ) -> None:
        if isinstance(epochs, bool) or not isinstance(epochs, int):
            raise TypeError(f"The argument 'epoch' must be int, but got {type(epochs)}.")
        if epochs <= 0:
            raise ValueError(f"The argument 'epoch' must be > 0, but got {epochs}.")
        _check_dataset(dataset, "train")
        network = self.train_network.set_train()
        size = dataset.get_dataset_size() if hasattr(dataset, "get_dataset_size") else len(dataset)
        agreement.begin(network, size)
        params = InternalCallbackParam(
            train_network=network, epoch_num=epochs, batch_num=size, mode="train", loss_fn=self._loss_fn,
            optimizer=self._optimizer, network=self._network, train_dataset=dataset, cur_step_num=first * size,
            metrics={}, eval_results={}, net_outputs=None, cur_epoch_num=first, loss_reason=None,
            dataset_sink_mode=False, last_save_ckpt_step=None, latest_ckpt_file=None,
            parallel_mode=get_auto_parallel_context("parallel_mode"),
            device_number=get_auto_parallel_context("device_num"),
        )  # fmt: skip
        context, diagnosis = RunContext(params), Diagnosis(network)
        with CallbackManager(with_progress(callbacks)) as manager:
            params.list_callback = manager.callbacks
            manager.on_train_begin(context)
            for number in range(first, epochs):
                params.cur_epoch_num = number + 1
                manager.on_train_epoch_begin(context)
                for batch in batches_of(dataset):
                    params.cur_step_num, params.train_dataset_element = params.cur_step_num + 1, batch
                    manager.on_train_step_begin(context)
                    if params.cur_step_num == first * size + 1:
                        self._check_columns(batch)
                    diagnosis.before_step(batch)
                    params.net_outputs = network(*batch)
                    if params.loss_reason is None and not _is_fine(params.net_outputs):
                        params.loss_reason = diagnosis.reason()
                        manager.on_train_step_end(context)
                        _logger.warning(f"{_lost(params)}\n{params.loss_reason}")
                    else:
                        manager.on_train_step_end(context)
                    if context.get_stop_requested():
                        break
                if valid is not None and self._is_due(number + 1, frequency):
                    results = self._evaluate(valid, manager.outside_of_training(), params)
                    params.metrics = results
                    params.eval_results = {f"eval_{name.lower()}": value for name, value in results.items()}
                    network.set_train()
                manager.on_train_epoch_end(context)
                if context.get_stop_requested():
                    break
            manager.on_train_end(context)

    def _check_columns(self, batch: tuple[Any, ...]) -> None:
        """Raises if what trains cannot take the columns of the data set: a loss takes two, a network what it takes."""
        if self._loss_fn is not None:
            if len(batch) != 2:
                raise ValueError(
                    f"When 'loss_fn' is not None, 'train_dataset' should return two elements, but got {len(batch)}, "
                    "please check the number of elements returned by 'train_dataset'. (Model calls the network with "
                    "the first column and the loss with the second; other columns need a network that returns the "
                    "loss, and no 'loss_fn'.)"
                )
            return
        taken = inspect.signature(self._network.construct)
        try:
            taken.bind(*batch)
        except TypeError:
            raise user_error(
                TypeError,
                "DG0403",
                f"For 'Model', 'loss_fn' is None, so the network itself is called with all {len(batch)} columns of the "
                f"data set and must return the loss, but {self._network.cls_name}.construct takes {taken}. Give Model "
                "a 'loss_fn' (such as nn.MSELoss()), or a network that takes the labels and returns the loss "
                "(nn.WithLossCell).",
                f"{self._network.cls_name} is called with {len(batch)} columns",
            ) from None

    @staticmethod
    def _is_due(epoch: int, frequency: Any) -> bool:
        return epoch in frequency if isinstance(frequency, list | tuple | range) else epoch % frequency == 0

    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False) -> dict[str, Any]:
        """Evaluates.

        Args:
            valid_dataset (Dataset): the data.
            callbacks (Union[list[Callback], Callback]): Default ``None``.
            dataset_sink_mode (bool): kept for old programs. Default ``False``.

        Returns:
            dict of the metrics by name.

        Raises:
            ValueError: the Model has no metrics.
        """
        with CallbackManager(with_progress(callbacks)) as manager:
            return self._evaluate(valid_dataset, manager)

    def _evaluate(self, dataset: Any, manager: CallbackManager, known: Any = None) -> dict[str, Any]:
        if not self._metrics:
            raise ValueError(
                "For Model.eval, the model argument 'metrics' can not be None or empty, you should set it."
            )
        network: Any = self._eval_network
        if network is None:
            raise ValueError("For Model.eval, there is neither 'loss_fn' nor 'eval_network'.")
        _check_dataset(dataset, "eval")
        network.set_train(False)
        size = dataset.get_dataset_size() if hasattr(dataset, "get_dataset_size") else len(dataset)
        params = InternalCallbackParam(
            {
                **(known or {}), "eval_network": network, "valid_dataset": dataset, "batch_num": size, "mode": "eval",
                "cur_step_num": 0, "network": self._network, "list_callback": manager.callbacks,
                "parallel_mode": get_auto_parallel_context("parallel_mode"), "dataset_sink_mode": False,
                "device_number": get_auto_parallel_context("device_num"),
            }
        )  # fmt: skip
        context = RunContext(params)
        for metric in self._metrics.values():
            metric.clear()
        manager.on_eval_begin(context)
        manager.on_eval_epoch_begin(context)
        for batch in batches_of(dataset):
            params.cur_step_num = params.cur_step_num + 1
            manager.on_eval_step_begin(context)
            outputs = network(*batch)
            params.net_outputs = outputs
            manager.on_eval_step_end(context)
            self._update_metrics(outputs if isinstance(outputs, tuple) else (outputs,))
            if context.get_stop_requested():
                break
        agreement.merge_metrics(self._metrics)
        results = {name: metric.eval() for name, metric in self._metrics.items()}
        params.metrics = results
        manager.on_eval_epoch_end(context)
        manager.on_eval_end(context)
        return results

    def _update_metrics(self, outputs: tuple[Any, ...]) -> None:
        loss, *rest = outputs
        if self._eval_indexes is not None:
            loss, *rest = [outputs[i] for i in self._eval_indexes]
        for metric in self._metrics.values():
            if isinstance(metric, Loss):
                metric.update(loss)
            elif metric.indexes is not None:
                metric.update(*outputs)
            else:
                metric.update(*rest)

    def predict(self, *predict_data: Any, backend: Any = None, config: Any = None) -> Any:
        """The output of the network, which is set to evaluation.

        Args:
            predict_data (Union[Tensor, tuple]): its inputs.
            backend (str): only ``None``. Default ``None``.
            config (dict): of a backend; only ``None``. Default ``None``.

        Raises:
            ValueError: a backend, or its configuration, is given.
        """
        if backend is not None or config is not None:
            raise ValueError(f"For 'Model.predict', 'backend' and 'config' must be None, but got {backend}, {config}.")
        self._network.set_train(False)
        return self._network(*predict_data)

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Makes the Cells of training and evaluation ahead of the first step."""
        if train_dataset is not None:
            self.train_network.set_train()
