"""``mint.optim``: the optimizers of ``experimental.optim`` whose names ``mint`` has too."""

from duograph.experimental.optim import SGD, Adam, AdamW

__all__ = ["SGD", "Adam", "AdamW"]
