"""NumPy's numbers that are only known at run time: ``np.float32(0.1)`` as an argument that is another one in each call.

Operators of tensors take a NumPy number for the Python number that it holds. So does this class: ``number`` is the
`Scalar` of it. Everything else that can be done with a NumPy number (its own arithmetic and text, attributes, use as a
key) depends on its class and its value, and is refused: `SymbolicValueError`.
"""

from __future__ import annotations

from typing import Any

from duograph.core.dtype import DType
from duograph.tensor.tensor import SymbolicValueError

from .scalar import BINARY, Scalar


class NumpyScalar:
    """A number of NumPy's class ``numpy_type`` with the value of ``number``.

    Args:
        number: the Python number that it holds.
        numpy_type: its class.
        dtype: that of a tensor made of it.
        source: where it is found outside of the program; ``None``: the program has made it of an array's element.
    """

    __slots__ = ("dtype", "number", "numpy_type", "source")
    __array_ufunc__ = None  # NumPy's numbers ask this class

    def __init__(self, number: Scalar, numpy_type: type, dtype: DType, source: Any) -> None:
        self.number, self.numpy_type, self.dtype, self.source = number, numpy_type, dtype, source

    @property
    def kind(self) -> str:
        """The kind of Python number that it holds."""
        return self.number.kind

    def to_tensor(self, dtype: DType) -> Any:
        """A 0-d tensor of ``dtype`` with its value."""
        return self.number.to_tensor(dtype)

    def _no_value(self, *_: Any) -> Any:
        raise SymbolicValueError(f"the value of this {self.numpy_type.__name__} is only known at run time")

    __bool__ = __index__ = __int__ = __float__ = __complex__ = __hash__ = __iter__ = __len__ = _no_value  # type: ignore[assignment]
    __repr__ = __str__ = __format__ = __getitem__ = __contains__ = __reduce_ex__ = __copy__ = _no_value  # type: ignore[assignment]
    __deepcopy__ = __round__ = __floor__ = __ceil__ = __trunc__ = _no_value
    __neg__ = __pos__ = __abs__ = __invert__ = __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = _no_value


for _fn in BINARY:
    if _fn not in ("max", "min"):
        setattr(NumpyScalar, f"__{_fn}__", NumpyScalar._no_value)
        setattr(NumpyScalar, f"__r{_fn}__", NumpyScalar._no_value)
