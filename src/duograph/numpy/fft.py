"""``duograph.numpy.fft``: Fourier transforms of ``duograph.ops``, with the names that NumPy gives their parameters."""

from __future__ import annotations

from typing import Any

from duograph.api.functional import spectral as _spectral
from duograph.api.functional.forms import renamed as _renamed
from duograph.base.public import missing as _missing
from duograph.core.traits import Traits as _Traits

__capture__ = _Traits(rules=True)
_NAMES = """
    fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn fftshift
    ifftshift fftfreq rfftfreq
"""


def _with_numpys_names(name: str) -> Any:
    if name.endswith("freq"):
        return _spectral.FUNCTIONS[name]
    axes = "axis" if name.endswith("fft") else "axes"
    operand = "x" if name.endswith("shift") else "a"
    return _renamed(_spectral.FUNCTIONS[name], name, False, "mnp.fft", input=operand, dim=axes)


FUNCTIONS = {name: _with_numpys_names(name) for name in _NAMES.split()}
globals().update(FUNCTIONS)
__all__ = list(FUNCTIONS)


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name, __all__)
