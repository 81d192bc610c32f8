"""For each row of `REMEDIES` a function with such a break, and one that does without."""

EXAMPLES = {
    "NumPy array from outside": (
        """
weights = np.array([1.0, 2.0], np.float32)

def f(x):
    return (x * 2 - x.mean()).tanh() * Tensor(weights + 1)
""",
        """
def f(x):
    return (x * 2 - x.mean()).tanh() * (Tensor(weights) + 1)
""",
    ),
    "only known at run time": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y / Tensor(np.sqrt(y.asnumpy() ** 2).sum())
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y / ops.sqrt(y**2).sum()
""",
    ),
    "not known to be free of effects": (
        """
began = [0.0]

def f(x):
    y = (x * 2 - x.mean()).tanh()
    began[0] = time.time()
    return y * y - x
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * y - x
""",
    ),
    "the statement ClassDef": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()

    class Pair:
        factor = 3

    return y * Pair.factor - x.mean()
""",
        """
class Pair:
    factor = 3

def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * Pair.factor - x.mean()
""",
    ),
    "the built-in function": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * eval("1 + 2") - x.mean()
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * (1 + 2) - x.mean()
""",
    ),
    "the first import of": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    try:
        import no_such_module
    except ImportError:
        y = y * 3 - x
    return y
""",
        """
missing = True

def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * 3 - x if missing else y
""",
    ),
    "the cached function": (
        """
KIND = object()

@functools.lru_cache
def size(kind):
    return 2 if kind is KIND else 3

def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * size(KIND) - x
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * size.__wrapped__(KIND) - x
""",
    ),
    "except*": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    try:
        if x.ndim < 2:
            raise ValueError(x.ndim)
    except* ValueError:
        y = y * 3 - x
    return y
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    try:
        if x.ndim < 2:
            raise ValueError(x.ndim)
    except ValueError:
        y = y * 3 - x
    return y
""",
    ),
    "looks at frames": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return y * len(sys._getframe().f_code.co_name)
""",
        """
def f(x, name="f"):
    y = (x * 2 - x.mean()).tanh()
    return y * len(name)
""",
    ),
    "a generator object": (
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return (y * k for k in range(2))
""",
        """
def f(x):
    y = (x * 2 - x.mean()).tanh()
    return [y * k for k in range(2)]
""",
    ),
}
"""By the part of the reason: with the break, and without."""
