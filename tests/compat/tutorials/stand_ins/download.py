"""In place of the package ``download``: the data sets that the tutorials fetch, small and made here.

The digits are those of ``duograph/demo`` (8 x 8 pixels), drawn larger.
"""

import csv
import gzip
from importlib.resources import files
from pathlib import Path

import numpy as np


def download(url, path, kind="file", replace=False, timeout=1000.0):
    if not url.endswith("MNIST_Data.zip"):
        raise ValueError(f"no stand-in for {url}")
    images, labels = _digits()
    for folder, stem, rows in (("train", "train", slice(0, 960)), ("test", "t10k", slice(960, 1216))):
        place = Path(path) / "MNIST_Data" / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{stem}-images-idx3-ubyte").write_bytes(_idx(images[rows]))
        (place / f"{stem}-labels-idx1-ubyte").write_bytes(_idx(labels[rows]))
    return path


def _digits():
    with gzip.open(files("duograph") / "demo" / "optdigits.csv.gz", "rt") as file:
        rows = np.array([[int(v) for v in row] for row in csv.reader(file) if row[0].isdigit()])
    small = rows[:, :64].reshape(-1, 8, 8)
    large = np.pad(small.repeat(3, axis=1).repeat(3, axis=2), ((0, 0), (2, 2), (2, 2)))
    return np.minimum(large * 16, 255).astype(np.uint8), rows[:, 64].astype(np.uint8)


def _idx(array):
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.tobytes()
