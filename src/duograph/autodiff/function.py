"""`Function`: a class whose two static methods are a computation and its gradient (MindSpore's ``_Function``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core.op import no_recording, state
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from .custom import fitted, identity_with
from .hooks import call_on_gradients, call_user


class Function:
    """Base of functions with a gradient of their own; subclasses define ``forward`` and ``backward``.

    ``apply`` makes an instance, the context, which both methods get first: ``forward(ctx, *args)`` computes,
    ``backward(ctx, *douts)`` gives one gradient (or None) per argument of ``forward``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph.autodiff.function import Function
        >>> class Cube(Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...     @staticmethod
        ...     def backward(ctx, dout):
        ...         (x,) = ctx.saved_tensors
        ...         return 3 * x * x * dout
        >>> print(ms.grad(Cube.apply)(ms.Tensor(2.0)))
        12.0
    """

    def __init__(self) -> None:
        self.saved_tensors: tuple[Any, ...] = ()
        self.dirty_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.needs_input_grad: tuple[bool, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """The computation; defined by subclasses."""
        raise NotImplementedError("You must implement the forward function for custom _Function.")

    @staticmethod
    def backward(ctx: Any, *grad_output: Any) -> Any:
        """The gradients of the arguments of ``forward``; defined by subclasses."""
        raise NotImplementedError("You must implement the backward function for custom _Function.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs ``forward`` and remembers ``backward`` for the gradient.

        Args:
            args: what ``forward`` gets after the context.
            kwargs: keyword arguments of ``forward``; they have no gradient.

        Returns:
            What ``forward`` returns.
        """
        ctx = cls()
        ctx.needs_input_grad = tuple([isinstance(x, Tensor) and _is_recorded(x) for x in args])
        with no_recording():
            out = call_user(cls.forward, (ctx, *args), kwargs)
        if not state.tapes and state.binder is None:
            return out
        outs = out if isinstance(out, tuple) else (out,)
        inputs = [x for x in args if isinstance(x, Tensor)]
        places = [i for i, x in enumerate(outs) if isinstance(x, Tensor) and not _among(x, ctx.non_differentiable)]

        def pull(_inputs: Sequence[Any], _outputs: Sequence[Any], douts: Sequence[Any]) -> Sequence[Any]:
            cotangents: list[Any] = [None] * len(outs)
            for place, dout in zip(places, douts, strict=True):
                cotangents[place] = dout
            grads = call_on_gradients(cls.backward, (ctx, *cotangents))
            grads = tuple(grads) if isinstance(grads, tuple | list) else (grads,)
            if len(grads) < len(args):
                raise RuntimeError(
                    f"Function backward should return a gradient for each of the {len(args)} arguments of forward, "
                    f"but returned {len(grads)}."
                )
            pairs = zip(args, grads, strict=False)
            return [fitted(grad, x) for x, grad in pairs if isinstance(x, Tensor)]

        made = list(outs)
        found = identity_with(inputs, [outs[i] for i in places], pull, ctx.materialize_grads)
        for place, value in zip(places, found, strict=True):
            if _among(outs[place], ctx.dirty_tensors):
                write(outs[place], value)
            else:
                made[place] = value
        return tuple(made) if isinstance(out, tuple) else made[0]

    def save_for_backward(self, *args: Any) -> None:
        """Keeps tensors for ``backward``, where they are ``saved_tensors``."""
        self.saved_tensors = args

    def mark_dirty(self, *args: Tensor) -> None:
        """Names arguments that ``forward`` changes in place and returns."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Names outputs that have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether outputs through which no gradient flows have zeros in ``backward`` (the default), or ``None``."""
        if not isinstance(value, bool):
            raise TypeError(f"For '_Function', the 'value' of set_materialize_grads must be bool, but got {value!r}.")
        self.materialize_grads = value


def _is_recorded(x: Tensor) -> bool:
    return any(tape.variable(x) is not None for tape in state.tapes)


def _among(x: Tensor, tensors: Sequence[Any]) -> bool:
    return any(x is other for other in tensors)
