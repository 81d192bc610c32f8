"""`Callback`, and the context that is handed to it."""

from __future__ import annotations

from typing import Any, Self


class RunContext:
    """What a training or evaluation run knows: `original_args` gives its values; `request_stop` ends it.

    Args:
        original_args (dict): the values, an object with attributes.
    """

    def __init__(self, original_args: Any) -> None:
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """The values: ``cur_epoch_num``, ``cur_step_num``, ``batch_num``, ``net_outputs``, ``train_network`` ..."""
        return self._original_args

    def request_stop(self) -> None:
        """Asks the run to stop after this step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether a stop was asked for."""
        return self._stop_requested


class InternalCallbackParam(dict[str, Any]):
    """A dictionary whose items are attributes."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"the run knows no {name!r}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Callback:
    """Base class: override the methods for the moments of interest. Each takes a `RunContext`.

    The names without ``on_`` are those of old programs; a subclass that overrides ``epoch_end`` is called at the end of
    training epochs, unless it overrides ``on_train_epoch_end``.
    """

    called_in_fit = False
    """Whether a callback of this package is called for the evaluations of `Model.fit`, too."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to release."""

    def begin(self, run_context: RunContext) -> None:
        """Before the run."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before each epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """After each step."""

    def end(self, run_context: RunContext) -> None:
        """After the run."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before each epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After each epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before each step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After each step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the epoch of evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the epoch of evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before each step of evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After each step of evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After evaluation."""
        self.end(run_context)


class CallbackManager(Callback):
    """Calls each of several callbacks in order."""

    def __init__(self, callbacks: Any) -> None:
        items = callbacks if isinstance(callbacks, list | tuple) else [] if callbacks is None else [callbacks]
        for item in items:
            if not isinstance(item, Callback):
                raise TypeError(
                    "When the 'callbacks' is a list, the elements in 'callbacks' must be Callback functions, but "
                    f"got {type(item)}."
                )
        self._callbacks = list(items)

    @property
    def callbacks(self) -> list[Callback]:
        """The callbacks, in the order of their calls."""
        return list(self._callbacks)

    def outside_of_training(self) -> CallbackManager:
        """Those that are called while a run of training evaluates: as in MindSpore, the user's and `TimeMonitor`."""
        own = __name__.rpartition(".")[0]
        return CallbackManager(
            [c for c in self._callbacks if c.called_in_fit or not type(c).__module__.startswith(own)]
        )

    def __enter__(self) -> Self:
        for callback in self._callbacks:
            callback.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for callback in reversed(self._callbacks):
            callback.__exit__(*error)

    def _fire(self, moment: str, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, moment)(run_context)


def _forward(moment: str) -> Any:
    def fire(self: CallbackManager, run_context: RunContext) -> None:
        self._fire(moment, run_context)

    fire.__name__ = moment
    return fire


for _moment in [name for name in vars(Callback) if name.startswith("on_")]:
    setattr(CallbackManager, _moment, _forward(_moment))


class LambdaCallback(Callback):
    """A callback made of functions, one per moment; each takes a `RunContext`.

    Args:
        on_train_epoch_begin (Function): Default ``None``; and so on for every moment.
    """

    called_in_fit = True

    def __init__(
        self,
        on_train_epoch_begin: Any = None,
        on_train_epoch_end: Any = None,
        on_train_step_begin: Any = None,
        on_train_step_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        on_eval_epoch_begin: Any = None,
        on_eval_epoch_end: Any = None,
        on_eval_step_begin: Any = None,
        on_eval_step_end: Any = None,
        on_eval_begin: Any = None,
        on_eval_end: Any = None,
    ) -> None:
        for moment, function in list(locals().items()):
            if moment.startswith("on_"):
                setattr(self, moment, function if function is not None else lambda run_context: None)
