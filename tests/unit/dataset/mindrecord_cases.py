"""Records that are written and read by MindSpore and here: name -> (schema, rows)."""

import numpy as np

NUMBERS = [0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 2**31 - 1, -(2**31)]
LARGE = [2**31, -(2**31) - 1, 2**62, -(2**62)]

CASES = {
    "several": (
        {
            "file_name": {"type": "string"}, "label": {"type": "int32"}, "score": {"type": "float64"},
            "data": {"type": "bytes"}, "points": {"type": "float32", "shape": [2, -1]},
            "ids": {"type": "int64", "shape": [-1]}, "small": {"type": "int32", "shape": [3]},
        },
        [
            {
                "file_name": f"n{i}é", "label": 100 * i - 150, "score": i / 4, "data": bytes([i]) * (i + 1),
                "points": np.arange(2 * (i + 1), dtype=np.float32).reshape(2, -1),
                "ids": np.array([*NUMBERS, *LARGE][i:], np.int64), "small": np.array(NUMBERS[i : i + 3], np.int32),
            }
            for i in range(5)
        ],
    ),
    "one array": ({"i": {"type": "int32", "shape": [-1]}}, [{"i": np.array(NUMBERS, np.int32)}] * 2),
    "one bytes": ({"b": {"type": "bytes"}, "n": {"type": "int64"}}, [{"b": b"ab" * n, "n": n} for n in range(1, 4)]),
    "plain": ({"s": {"type": "string"}, "n": {"type": "int64"}}, [{"s": "a" * n, "n": n} for n in (1, 31, 32, 300)]),
    "floats": ({"f": {"type": "float32", "shape": [2]}, "g": {"type": "float64", "shape": [1, 2]}},
               [{"f": np.array([0.5, -1], np.float32), "g": np.array([[1e300, 2]])}]),
    "pages": ({"x": {"type": "bytes"}, "y": {"type": "bytes"}, "n": {"type": "int64"}},
              [{"x": bytes([n]) * 10000, "y": b"c", "n": n * 2**20} for n in range(12)]),
}  # fmt: skip


def flat(row):
    """A row as something that can be compared."""
    return {
        name: (str(value.dtype), value.shape, value.tolist()) if isinstance(value, np.ndarray) else value
        for name, value in sorted(row.items())
    }
