"""Failures of compiled versions that say nothing against the version."""

from __future__ import annotations

from duograph.autodiff.entries import Overwritten, Underivable
from duograph.core.dim import UnknownSizeError
from duograph.ops.scalar import UnforeseenKind
from duograph.runtime.kernels.status import NotRepeated


def is_excused(cause: BaseException | None) -> bool:
    """Whether plain Python need not raise where a version has failed with ``cause``.

    Its numbers were too small, sizes that it took to be equal are not, or its gradient needs a size that only the run
    finds out, or keeps what only the gradient of the whole call may turn out not to need.
    """
    excused = UnforeseenKind | UnknownSizeError | Overwritten | Underivable
    return isinstance(cause, excused) or (isinstance(cause, NotRepeated) and cause.excused)
