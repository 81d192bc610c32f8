"""See the package."""

import numpy as np


class _Figure:
    def add_subplot(self, rows, columns, index):
        assert 1 <= index <= rows * columns


def figure(figsize=None):
    return _Figure()


def imshow(image, cmap=None):
    image = np.asarray(image)
    assert image.ndim == 2 or (image.ndim == 3 and image.shape[2] in (3, 4)), image.shape
    assert image.dtype.kind in "uif"


def subplot(*position):
    pass


def subplots_adjust(wspace=None, hspace=None):
    pass


title = axis = show = subplot
