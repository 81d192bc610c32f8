"""Words as vectors that were trained elsewhere, read from the text files in which those are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from .nodes import lines_of
from .tokenizers import checked, strings

__all__ = ["FastText", "GloVe", "ToVectors", "Vectors"]


class Vectors:
    """Words with their vectors; made by `from_file`."""

    suffix = ""  # what the names of its files end with

    def __init__(self) -> None:
        self._rows: dict[str, np.ndarray] = {}
        self.dim = 0

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Self:
        """The words of a file: one line each, the word and its numbers, with blanks between; a first line of two
        numbers only is a heading.

        Args:
            file_path (str): the file.
            max_vectors (int): at most this many, of the beginning. Default ``None``: all.

        Raises:
            ValueError: ``max_vectors`` is negative.
            RuntimeError: the file is not there, is empty, or has lines of different length.
        """
        checked(file_path=(file_path, str), max_vectors=(max_vectors or 0, int))
        name, path = cls.__name__, Path(file_path)
        if (max_vectors or 0) < 0:
            raise ValueError("Input max_vectors is not within the required interval of [0, 2147483647].")
        if not path.is_file():
            raise RuntimeError(f"{name}: invalid file, failed to open vector file: {file_path}")
        if not path.name.endswith(cls.suffix):
            raise RuntimeError(f"{name}: invalid file, can not find file '*{cls.suffix}', but got: {file_path}")
        lines = [line for line in lines_of(path) if line.strip()]
        if lines and len(lines[0].split()) == 2:
            del lines[0]
        if not lines:
            raise RuntimeError(f"{name}: invalid file, file is empty.")
        made = cls()
        for line in lines[: max_vectors or None]:
            word, _, numbers = line.partition(" ")
            try:
                row = np.array(numbers.split(), np.float32)
            except ValueError as error:
                raise RuntimeError(f"{name}: the vector of {word!r}: {error}") from None
            made.dim = made.dim or row.size
            if row.size < 2:
                raise RuntimeError(f"{name}: token with 1-dimensional vector.")
            if row.size != made.dim:
                raise RuntimeError(
                    f"{name}: all vectors must have the same number of dimensions, but got dim {row.size} while "
                    f"expecting {made.dim}"
                )
            made._rows.setdefault(word, row)
        return made

    def row(self, word: str) -> np.ndarray | None:
        """The vector of a word, if it has one."""
        return self._rows.get(word)


class GloVe(Vectors):
    """Words with their vectors from a file of GloVe (``glove.6B.50d.txt``); made by `from_file`."""

    suffix = ".txt"


class FastText(Vectors):
    """Words with their vectors from a file of fastText (``wiki.simple.vec``); made by `from_file`."""

    suffix = ".vec"


class ToVectors:
    """Looks up the vectors of words.

    Args:
        vectors (Vectors): the words.
        unk_init (Sequence[float]): the vector of a word that is not known. Default ``None``: zeros.
        lower_case_backup (bool): words are looked for in lower case. Default ``False``.

    Raises:
        TypeError: an argument is of another type.

    Examples:
        >>> from duograph.dataset import text
        >>> lookup = text.ToVectors(text.GloVe.from_file("glove.6B.50d.txt"))  # doctest: +SKIP
    """

    def __init__(self, vectors: Vectors, unk_init: Any = None, lower_case_backup: bool = False) -> None:
        checked(vectors=(vectors, Vectors), lower_case_backup=(lower_case_backup, bool))
        if unk_init is not None:
            checked(unk_init=(unk_init, (list, tuple, np.ndarray)))  # type: ignore[arg-type]
        self._vectors, self._lower = vectors, lower_case_backup
        self._unknown = np.zeros(vectors.dim, np.float32) if unk_init is None else np.array(unk_init, np.float32)

    def __call__(self, words: Any) -> np.ndarray:
        array = strings(words, "ToVectors")
        if self._unknown.shape != (self._vectors.dim,):
            raise RuntimeError(
                f"ToVectors: unk_init must be the same length as vectors, but got unk_init: {self._unknown.size} and "
                f"vectors: {self._vectors.dim}"
            )
        rows = []
        for word in array.ravel():
            row = self._vectors.row(str(word).lower() if self._lower else str(word))
            rows.append(self._unknown if row is None else row)
        return rows[0].copy() if len(rows) == 1 else np.array(rows, np.float32)  # one word is one row, as in MindSpore
