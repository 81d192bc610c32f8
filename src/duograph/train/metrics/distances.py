"""Similarity of vectors, overlap of regions, likeness of sentences."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from .basic import Metric


class CosineSimilarity(Metric):
    """The similarity of each pair of rows.

    Args:
        similarity (str): ``"dot"`` or ``"cosine"``. Default ``"cosine"``.
        reduction (str): ``"none"``, ``"sum"`` or ``"mean"``. Default ``"none"``.
        zero_diagonal (bool): a row is not compared with itself. Default ``True``.
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        if similarity not in ("dot", "cosine"):
            raise ValueError(f"The argument 'similarity' must be in ['dot', 'cosine'], but got {similarity}.")
        if reduction not in ("none", "sum", "mean"):
            raise ValueError(f"The argument 'reduction' must be in ['none', 'sum', 'mean'], but got {reduction}.")
        if not isinstance(zero_diagonal, bool):
            raise TypeError(
                f"The type of 'zero_diagonal' should be 'bool', but got type '{type(zero_diagonal).__name__}'."
            )
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self) -> None:
        self._matrix: np.ndarray | None = None

    def merge(self, states: Any) -> None:
        """What several processes have seen.

        Raises:
            NotImplementedError: always: similarities to rows of other processes are not known.
        """
        raise NotImplementedError(f"CosineSimilarity compares all rows, and {len(states)} processes have some each")

    def update(self, inputs: Any) -> None:
        rows = self._array(inputs).astype(np.float64)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        matrix = rows @ rows.T
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0.0)
        self._matrix = matrix

    def eval(self) -> np.ndarray:
        if self._matrix is None:
            raise RuntimeError("Please call the 'update' method before calling 'eval' method.")
        if self.reduction == "none":
            return self._matrix
        return self._matrix.mean(-1) if self.reduction == "mean" else self._matrix.sum(-1)


class Dice(Metric):
    """The Dice coefficient of two regions: twice the intersection over the sum of the sizes.

    Args:
        smooth (float): added to both. Default ``1e-5``.
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        if not isinstance(smooth, float):
            raise TypeError(f"The type of 'smooth' should be 'float', but got type '{type(smooth).__name__}'.")
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        self._total, self._count = 0.0, 0

    def update(self, *inputs: Any) -> None:
        predicted, target = self._inputs(inputs, 2)
        if predicted.shape != target.shape:
            raise ValueError(
                f"For 'Dice.update', both inputs must have one shape, but got {predicted.shape} and {target.shape}."
            )
        shared = float((predicted * target).sum())
        held = float((predicted * predicted).sum() + (target * target).sum())
        self._total += 2 * shared / (held + self.smooth)
        self._count += len(target)  # as MindSpore: the overlap of a batch counts once, its samples all

    def eval(self) -> float:
        if not self._count:
            raise self._no_samples()
        return self._total / self._count


class BleuScore(Metric):
    """BLEU: the n-grams that a translation shares with reference translations.

    Args:
        n_gram (int): the longest run, from 1 to 4. Default ``4``.
        smooth (bool): count one more of each. Default ``False``.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        if isinstance(n_gram, bool) or not isinstance(n_gram, int):
            raise TypeError(f"The type of 'n_gram' should be 'int', but got type '{type(n_gram).__name__}'.")
        if not 1 <= n_gram <= 4:
            raise ValueError(f"The argument 'n_gram' must be in [1, 4], but got {n_gram}.")
        if not isinstance(smooth, bool):
            raise TypeError(f"The type of 'smooth' should be 'bool', but got type '{type(smooth).__name__}'.")
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self) -> None:
        self._shared, self._all = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._wanted = 0

    def _runs(self, words: list[str]) -> Counter[tuple[str, ...]]:
        sizes = range(1, self.n_gram + 1)
        return Counter(tuple(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1))

    def update(self, *inputs: Any) -> None:
        if len(inputs) != 2:
            raise ValueError(f"For 'BleuScore.update', it needs 2 inputs, but got {len(inputs)}.")
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError("For 'BleuScore.update', there must be as many candidates as lists of references.")
        for candidate, wanted in zip(candidates, references, strict=True):
            self._length += len(candidate)
            self._wanted += min((len(r) for r in wanted), key=lambda n: (abs(n - len(candidate)), n))
            known: Counter[tuple[str, ...]] = Counter()
            for reference in wanted:
                known |= self._runs(reference)
            own = self._runs(candidate)
            for run, count in own.items():
                self._all[len(run) - 1] += count
                self._shared[len(run) - 1] += min(count, known[run])

    def eval(self) -> float:
        if not self._length:
            raise self._no_samples()
        more = 1.0 if self.smooth else 0.0
        if (self._shared + more).min() == 0.0:
            return 0.0
        precision = (self._shared + more) / (self._all + more)
        brevity = 1.0 if self._length > self._wanted else math.exp(1 - self._wanted / self._length)
        return float(brevity * math.exp(np.log(precision).mean()))
