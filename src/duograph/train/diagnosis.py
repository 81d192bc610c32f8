"""Why a loss is NaN or infinite: steps are run again with every operator looked at (`tensor.numerics`).

By the time the loss is seen, the step has written what came of it to the parameters; and it may be the gradients of
the step before that had spoiled them. So `Diagnosis` keeps copies of finite parameters from before the first steps, and
then from before every `EVERY` steps; the last two batches are repeated from there. What they write (parameters, states
of the optimizer, the random generator) is put back; what else the program does happens again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.common.generator import get_rng_state, set_rng_state
from duograph.distributed import world
from duograph.nn.cell import Cell
from duograph.tensor.eager import write
from duograph.tensor.numerics import check_numerics
from duograph.tensor.tensor import Tensor, wrap

__all__ = ["Diagnosis"]

FIRST, EVERY = 8, 16
"""Copies are made before each of the first steps, and then before every so many."""
MOST_BYTES = 64 << 20
"""Larger networks are not copied."""

_OTHERWISE = "DUOGRAPH_CHECK_NUMERICS=raise runs the whole program with every operator looked at, and names it"


class Diagnosis:
    """Watches the steps of a run.

    Args:
        network (Cell): does a step; its parameters are those of the model and of the optimizer.
    """

    def __init__(self, network: Cell) -> None:
        self._network = network
        self._parameters: list[Tensor] = list(network.get_parameters())
        self._copies: list[np.ndarray] = []
        self._random: Any = None
        self._step = self._kept = 0
        self._batches: list[tuple[Any, ...]] = []
        self._may_copy = sum(p.nbytes for p in self._parameters) <= MOST_BYTES

    def before_step(self, batch: tuple[Any, ...]) -> None:
        """A step is about to run."""
        self._batches = [*self._batches[-1:], batch]
        if self._may_copy and (self._step < FIRST or self._step % EVERY == 0):
            copies = _copied(self._parameters)
            if all(map(_is_finite, copies)):
                self._copies, self._kept, self._random = copies, self._step, get_rng_state()
        self._step += 1

    def reason(self) -> str:
        """What made the loss of this step NaN or infinite, as far as that can be found."""
        for i, column in enumerate(self._batches[-1]):
            if not _is_finite(values := column.asnumpy()):
                n = int((~np.isfinite(values)).sum())
                return f"column {i} of the batch itself has {n} NaN or Inf among {values.size} elements"
        if not self._copies or world.current().size > 1:  # other processes would wait for what only one repeats
            return _OTHERWISE
        late = self._step - self._kept - len(self._batches)
        found = self._repeated(self._batches[-late:] if late < 0 else self._batches)
        return f"{found}\n(with the parameters of {late} steps before)" if found and late > 0 else found or _OTHERWISE

    def _repeated(self, batches: list[tuple[Any, ...]]) -> str:
        """What is found in the steps of these batches."""
        now, random = _copied(self._parameters), get_rng_state()
        try:
            _put_back(self._parameters, self._copies)
            set_rng_state(self._random)
            with check_numerics():
                for batch in batches:
                    self._network(*batch)
        except FloatingPointError as error:
            return "\n".join([str(error), *getattr(error, "__notes__", ())])
        except Exception:  # noqa: BLE001 - an error of the program that only the repetition has is no diagnosis
            return ""
        finally:
            _put_back(self._parameters, now)
            set_rng_state(random)
        return ""


def _copied(parameters: list[Tensor]) -> list[np.ndarray]:
    return [p.asnumpy().copy() for p in parameters]


def _put_back(parameters: list[Tensor], values: list[np.ndarray]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        write(parameter, wrap(value))


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind in "biuSUO" or bool(np.isfinite(array).all())
