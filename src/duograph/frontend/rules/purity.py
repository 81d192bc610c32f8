"""Which foreign code may run while a program is captured: a table of functions known to be pure.

A *pure* function depends on nothing but its arguments and changes nothing but containers that were handed to it.
It is pure by itself, never by its module: ``numpy`` has ``add``, but also ``geterr`` and ``datetime64("now")``.
The rule for what is not in the table:

    Whatever is not known is left to Python. A function, class or method that stands here by module and name, and is
    still what its module gives under that name, may run on constants; any other foreign one makes the whole compiled
    function run as plain Python, with the reason "not known to be free of effects".

The same holds for objects (`is_constant`): code that is not interpreted may look into what the program made itself,
into tensors, and into objects that never change. Into any other object from outside it may not, as nothing of what it
reads there would be guarded.
"""

from __future__ import annotations

import collections
import sys
import types
from typing import Any

import numpy as np

from duograph.base.lookup import raw_getattr
from duograph.core.traits import traits_of

ALL = ("*",)
_EXCEPTIONS = tuple(
    name for name, value in vars(__import__("builtins")).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)  # fmt: skip

NAMES: dict[str, tuple[str, ...]] = {
    "math": ALL,
    "cmath": ALL,
    "_operator": ALL,
    "operator": ALL,
    "itertools": ALL,
    "builtins": (
        *("abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod"),
        *("complex", "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr"),
        *("hash", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next"),
        *("object", "oct", "ord", "pow", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted"),
        *("staticmethod", "str", "sum", "super", "tuple", "type", "zip"),
        *_EXCEPTIONS,
    ),
    "functools": ("cmp_to_key", "partial", "partialmethod", "reduce", "total_ordering", "update_wrapper", "wraps"),
    "_functools": ("cmp_to_key", "reduce"),
    "re": (
        *("compile", "escape", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"),
        *("Pattern", "Match"),
    ),
    "_sre": ALL,
    "collections": ("ChainMap", "Counter", "OrderedDict", "defaultdict", "deque"),
    "_collections": ALL,
    "copy": ("copy", "deepcopy", "replace"),
    "string": ("Template", "capwords"),
    "sys": ("intern",),
    "fractions": ("Fraction",),
    "decimal": ("Decimal",),
    "_io": ("BytesIO", "StringIO", "_BufferedIOBase", "_IOBase", "_TextIOBase"),
    "_hashlib": ("HASH", *(f"openssl_{n}" for n in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"))),
    "json": ("dumps", "loads"),
    "textwrap": ("dedent", "fill", "indent", "shorten", "wrap"),
    "statistics": (
        *("fmean", "geometric_mean", "harmonic_mean", "mean", "median", "median_grouped", "median_high"),
        *("median_low", "mode", "multimode", "pstdev", "pvariance", "quantiles", "stdev", "variance"),
    ),
    "_bisect": ALL,
    "bisect": ALL,
    "_heapq": ALL,
    "heapq": ALL,
    "array": ("array",),
    "_struct": ("calcsize", "iter_unpack", "pack", "unpack", "unpack_from"),
    "keyword": ALL,
    "base64": (
        *("b16decode", "b16encode", "b32decode", "b32encode", "b64decode", "b64encode", "b85decode", "b85encode"),
        *("urlsafe_b64decode", "urlsafe_b64encode", "a85decode", "a85encode"),
    ),
    "binascii": ALL,
    "zlib": ("adler32", "compress", "crc32", "decompress"),
    "ast": ("literal_eval",),
    "posixpath": ("basename", "commonprefix", "dirname", "isabs", "join", "normcase", "normpath", "split", "splitdrive",
                  "splitext"),
    "genericpath": ("commonprefix",),
    "types": ("MethodType", "SimpleNamespace"),
    "typing": ("cast", "get_args", "get_origin"),
    "inspect": ("isbuiltin", "isclass", "isfunction", "ismethod", "ismodule"),
    "contextlib": ("contextmanager", "nullcontext", "suppress"),
    "dataclasses": ("asdict", "astuple", "fields", "is_dataclass", "replace", "dataclass", "field"),
    "abc": ("abstractmethod",),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "uuid": ("UUID",),
    "random": ("Random",),
    "_random": ("Random",),
    "numpy.random._generator": ("Generator",),
    "numpy.random": ("RandomState",),
    "pathlib": ("PurePath", "PurePosixPath", "PureWindowsPath"),
    "pathlib._local": ("PurePath", "PurePosixPath", "PureWindowsPath"),
    "pathlib._abc": ("PurePathBase",),
    "ml_dtypes": ALL,
}  # fmt: skip
"""Names by module. A class stands for its construction and all its methods."""

_NUMPY_NAMES = """
    all allclose amax amin any append apply_over_axes arange argmax argmin argpartition argsort argwhere around
    array array_equal array_equiv array_split asanyarray asarray ascontiguousarray asfortranarray astype
    atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr bincount blackman block
    broadcast_arrays broadcast_shapes broadcast_to can_cast choose clip column_stack common_type compress concat
    concatenate convolve copy copyto corrcoef correlate count_nonzero cov cross cumprod cumsum cumulative_prod
    cumulative_sum delete diag diag_indices diag_indices_from diagflat diagonal diff digitize dot dsplit dstack
    ediff1d einsum empty empty_like expand_dims extract eye fill_diagonal finfo fix flatnonzero flip fliplr
    flipud frombuffer fromiter fromstring full full_like geomspace gradient hamming hanning histogram
    histogram_bin_edges hsplit hstack i0 identity iinfo imag indices inner insert interp intersect1d isclose
    iscomplex iscomplexobj isdtype isfortran isin isneginf isposinf isreal isrealobj isscalar issubdtype ix_
    kaiser kron lexsort linspace logspace mask_indices matrix_transpose max mean median meshgrid min
    min_scalar_type moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar ndim nonzero ones ones_like outer packbits pad
    partition percentile permute_dims place poly polyadd polyder polydiv polyint polymul polysub polyval prod
    promote_types ptp put put_along_axis putmask quantile ravel ravel_multi_index real real_if_close repeat
    require reshape resize result_type roll rollaxis roots rot90 round row_stack searchsorted select setdiff1d
    setxor1d shape sinc size sort sort_complex split squeeze stack std sum swapaxes take take_along_axis
    tensordot tile trace transpose trapezoid trapz tri tril tril_indices tril_indices_from trim_zeros triu
    triu_indices triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values
    unpackbits unravel_index unstack unwrap vander var vdot vecdot vsplit vstack where zeros zeros_like bool
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp longlong ulonglong float16 float32
    float64 longdouble complex64 complex128 dtype str_ bytes_ ndarray generic number integer floating
    signedinteger inexact unsignedinteger complexfloating s_ index_exp ndindex ndenumerate
"""
_NUMPY: dict[str, tuple[str, ...]] = {
    "numpy": tuple(_NUMPY_NAMES.split()),
    "numpy.linalg": ALL,
    "numpy.fft": ALL,
}  # fmt: skip
"""Functions of NumPy. Universal functions, and methods of arrays but those in `_NOT_OF_ARRAYS`, are pure, too."""

_NOT_OF_ARRAYS = {"tofile", "dump", "dumps", "__str__", "__repr__", "__format__", "__array_function__"}
_OF_NAMED_TUPLES = {"_asdict", "_make", "_replace"}
_NOT_PURE_METHODS = {
    *("__subclasses__", "register", "__sizeof__", "__reduce__", "__reduce_ex__", "__dir__"),
    *("seed", "now", "today", "utcnow", "fromtimestamp", "timestamp", "astimezone", "strftime", "strptime", "ctime"),
}
"""Those of the second line ask the system (its entropy), the clock, the time zone or the locale."""
_ONLY_MADE = {(module, name) for module in ("pathlib", "pathlib._local") for name in ("Path", "PosixPath")}
"""Classes whose objects may be made; of their methods some ask the system."""

FRAMEWORK = (
    *("duograph.ops", "duograph.autodiff.", "duograph.tensor.", "duograph.core.", "duograph.base.tree"),
    "duograph.frontend.",
)
"""Modules of this package, up to this layer, whose functions are rules of graphs. Others say so (`core.traits`)."""
_NOT_FRAMEWORK = ("duograph.tensor.random",)

_CONTAINERS = (list, dict, set, tuple, frozenset)
_BUILTIN_CLASSES: frozenset[type] = frozenset((
    *(str, bytes, int, float, bool, complex, range, slice, type(None), type(...), type(NotImplemented)),
    *_CONTAINERS,
    *(bytearray, memoryview, object, enumerate, zip, map, filter, reversed, property, staticmethod, classmethod),
    types.MappingProxyType,
))  # fmt: skip
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_CODE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.ModuleType, types.GenericAlias, types.UnionType,
    type, np.ufunc, np.dtype,
)  # fmt: skip
_CONSTANT_NAMES = {
    ("fractions", "Fraction"), ("decimal", "Decimal"), ("re", "Pattern"), ("re", "Match"), ("_operator", "itemgetter"),
    ("_operator", "attrgetter"), ("_operator", "methodcaller"), ("operator", "itemgetter"),
    ("operator", "attrgetter"), ("operator", "methodcaller"), ("datetime", "date"), ("datetime", "datetime"),
    ("datetime", "time"), ("datetime", "timedelta"), ("datetime", "timezone"), ("uuid", "UUID"),
    ("numpy", "finfo"), ("numpy", "iinfo"),
    *(("pathlib", f"{pure}{kind}Path") for pure in ("", "Pure") for kind in ("Posix", "Windows")),
    *(("pathlib._local", f"{pure}{kind}Path") for pure in ("", "Pure") for kind in ("Posix", "Windows")),
    ("typing", "TypeVar"), ("typing", "_GenericAlias"), ("typing", "_UnionGenericAlias"), ("enum", "auto"),
}  # fmt: skip


def _public(module: str, name: str) -> Any:
    """What a loaded module gives under a name (of a class: ``Class.method``), or ``None``."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_listed(module: str | None, name: str | None, value: Any, table: dict[str, tuple[str, ...]]) -> bool:
    listed = table.get(module or "")
    if listed is None or not name:
        return False
    return (listed is ALL or name.split(".")[0] in listed) and _public(module or "", name) is value


def is_pure(fn: Any) -> bool:
    """Whether ``fn``, which is neither the user's nor this package's, is known to be pure."""
    if isinstance(fn, np.ufunc):
        return getattr(np, fn.__name__, None) is fn
    module, name = raw_getattr(fn, "__module__"), raw_getattr(fn, "__qualname__")
    if isinstance(fn, types.BuiltinMethodType | types.MethodWrapperType):
        owner = fn.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            return _is_listed(module or "builtins", name, fn, NAMES) or _is_numpy(fn)  # ``str.maketrans`` tells none
        if isinstance(owner, type):
            return owner in _BUILTIN_CLASSES or (is_pure(owner) and fn.__name__ not in _NOT_PURE_METHODS)
        return is_pure_method(method_class(fn), fn.__name__)
    if isinstance(fn, types.MethodDescriptorType | types.WrapperDescriptorType | types.ClassMethodDescriptorType):
        return is_pure_method(fn.__objclass__, fn.__name__)
    if isinstance(fn, types.MethodType):
        return is_pure(fn.__func__)
    if isinstance(fn, types.FunctionType) and fn.__code__.co_filename == collections.__file__:
        if fn.__name__ in _OF_NAMED_TUPLES:
            return True
    if isinstance(fn, type) and (module, name) in _ONLY_MADE:
        return True
    if type(fn).__name__ == "cython_function_or_method":
        return _is_listed(module, name, fn, NAMES) and fn.__name__ not in _NOT_PURE_METHODS
    if isinstance(fn, types.FunctionType | type):
        return _is_listed(module, name, fn, NAMES) or fn in _BUILTIN_CLASSES or _is_numpy(fn)
    kind = type(fn)
    return (kind.__module__, kind.__qualname__) in _CONSTANT_NAMES or is_numpy_class(kind) or _is_numpy(fn)


def _is_numpy(fn: Any) -> bool:
    name = raw_getattr(fn, "__name__", "")
    for module, listed in _NUMPY.items():
        known = sys.modules.get(module)
        if known is not None and getattr(known, name, None) is fn:
            return name in listed if listed is not ALL else name in getattr(known, "__all__", ())
    return isinstance(fn, type) and issubclass(fn, np.generic) and fn.__name__ in _NUMPY["numpy"]


def method_class(fn: Any) -> type:
    """The class that defines a bound method in C."""
    cls = raw_getattr(fn, "__objclass__")
    if cls is None:
        name = fn.__qualname__.rpartition(".")[0]
        cls = next((b for b in type(fn.__self__).__mro__ if b.__qualname__ == name), type(fn.__self__))
    return cls  # type: ignore[no-any-return]


def is_pure_method(cls: type, name: str) -> bool:
    """Whether the method ``name`` that ``cls`` (a class in C, or one of the table) defines is pure."""
    if name in _NOT_PURE_METHODS:
        return False
    if is_numpy_class(cls):
        return name not in _NOT_OF_ARRAYS
    if cls in _BUILTIN_CLASSES or cls in _VIEWS or (cls.__module__ == "builtins" and hasattr(cls, "__next__")):
        return True
    base = next((b for b in cls.__mro__ if name in vars(b)), cls)
    if base in _BUILTIN_CLASSES:
        return True
    return is_pure(base) if not isinstance(base, types.FunctionType) else False


def is_numpy_class(cls: type) -> bool:
    """Whether instances are NumPy's arrays, numbers, or what describes them."""
    return (
        issubclass(cls, np.ndarray | np.generic | np.dtype | np.ufunc)
        and cls.__module__.startswith(("numpy", "ml_dtypes"))
        and not issubclass(cls, np.datetime64)
    )


def is_framework_rule(fn: Any) -> bool:
    """Whether a function of this package depends on nothing but its arguments and the state that capture tracks."""
    if isinstance(fn, types.FunctionType):  # its attributes may be those of a function of the user that it wraps
        module, name = fn.__globals__.get("__name__"), fn.__code__.co_qualname
    else:
        module, name = raw_getattr(fn, "__module__") or type(fn).__module__, raw_getattr(fn, "__qualname__", "")
    if f"{module}.".startswith(FRAMEWORK):
        return module not in _NOT_FRAMEWORK
    return traits_of(module).is_rule(name)


def is_reader(fn: types.FunctionType) -> bool:
    """Whether ``fn`` reads a switch: allowed, with a guard that asks it again at every call."""
    return fn.__code__.co_qualname in traits_of(fn.__globals__.get("__name__")).readers


def is_constant(value: Any) -> bool:
    """Whether an object never changes, so that native code may look into it wherever it comes from."""
    cls = type(value)
    if cls in (str, bytes, int, float, bool, complex, range, slice, type(None), type(...), frozenset):
        return True
    if isinstance(value, (*_CODE, np.generic)):
        return True
    if (cls.__module__, cls.__qualname__) in _CONSTANT_NAMES:
        zone = getattr(value, "tzinfo", None) if cls.__module__ == "datetime" else None
        return zone is None or type(zone).__module__ in ("datetime", "zoneinfo")  # else code of the user's computes it
    return isinstance(value, str | bytes | int | float | complex) and cls.__module__ != "builtins"
