"""Operations on text: tokenizers, and words as numbers (`Vocab`, `Lookup`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from duograph.base.public import saying_why
from duograph.core import dtype as dt

from .dataset import Dataset, to_numpy
from .nodes import array_of, lines_of

__all__ = [
    "Lookup", "PythonTokenizer", "SlidingWindow", "UnicodeCharTokenizer", "Vocab", "WhitespaceTokenizer", "to_bytes",
    "to_str",
]  # fmt: skip


def _text(value: Any, owner: str) -> str:
    array = array_of(value)
    if array.dtype.kind != "U" or array.ndim:
        raise RuntimeError(
            f"{owner}: the input shape should be scalar and the input datatype should be string, but got shape "
            f"{array.shape} and {array.dtype}."
        )
    return str(array)


def _tokens(tokens: Iterable[str]) -> np.ndarray:
    found = [str(t) for t in tokens]
    return np.array(found or [""])  # as in MindSpore: no token is one empty token


class PythonTokenizer:
    """Cuts a text with a function of Python.

    Args:
        tokenizer (Callable): takes a str, gives a list of str.

    Raises:
        TypeError: it cannot be called.
    """

    def __init__(self, tokenizer: Callable[[str], Iterable[str]]) -> None:
        if not callable(tokenizer):
            raise TypeError(f"Argument tokenizer with value {tokenizer} is not a callable Python function.")
        self._tokenizer = tokenizer

    def __call__(self, text: Any) -> np.ndarray:
        return _tokens(self._tokenizer(_text(text, "PythonTokenizer")))


class WhitespaceTokenizer:
    """Cuts a text at white space.

    Raises:
        NotImplementedError: ``with_offsets``.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        _without_offsets(with_offsets)

    def __call__(self, text: Any) -> np.ndarray:
        return _tokens(_text(text, "WhitespaceTokenizer").split())


class UnicodeCharTokenizer:
    """Cuts a text into its characters.

    Raises:
        NotImplementedError: ``with_offsets``.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        _without_offsets(with_offsets)

    def __call__(self, text: Any) -> np.ndarray:
        return _tokens(_text(text, "UnicodeCharTokenizer"))


class SlidingWindow:
    """Every ``width`` neighbours of a row, from the first to the last.

    Args:
        width (int): how many.
        axis (int): the axis of the row. Default ``0``.

    Raises:
        TypeError: they are no ints.
        ValueError: ``width`` is not positive.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.SlidingWindow(2)(["to", "be", "or"]))
        [['to' 'be']
         ['be' 'or']]
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        for name, value in (("width", width), ("axis", axis)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Argument {name} with value {value} is not of type [<class 'int'>].")
        if width < 1:
            raise ValueError(f"Input width is not within the required interval of [1, 2147483647], but got {width}.")
        self._width, self._axis = width, axis

    def __call__(self, data: Any) -> np.ndarray:
        row = array_of(data)
        if row.ndim != 1 or self._axis not in (0, -1):
            raise RuntimeError(
                f"SlidingWindow: SlidingWindow supports 1D input only for now, but got shape {row.shape} and axis "
                f"{self._axis}."
            )
        if row.size < self._width:
            return row[:0]
        return np.lib.stride_tricks.sliding_window_view(row, self._width).copy()


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of bytes of an array of text.

    Raises:
        TypeError: it is no NumPy array.
    """
    return np.char.encode(_array(array), encoding)


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of text of an array of bytes; text stays as it is.

    Raises:
        TypeError: it is no NumPy array.
    """
    found = _array(array)
    return found if found.dtype.kind == "U" else np.char.decode(found, encoding)


def _array(array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise TypeError("input should be a NumPy array.")
    return array


def _without_offsets(with_offsets: Any) -> None:
    if not isinstance(with_offsets, bool):
        raise TypeError(f"Argument with_offsets is not of type [<class 'bool'>], but got {type(with_offsets)}.")
    if with_offsets:
        raise NotImplementedError("with_offsets=True is not available.")


class Vocab:
    """Words and their numbers; made by `from_list`, `from_dict`, `from_file` or `from_dataset`.

    Examples:
        >>> from duograph.dataset import text
        >>> vocab = text.Vocab.from_list(["a", "b"], special_tokens=["<unk>"])
        >>> vocab.vocab()
        {'<unk>': 0, 'a': 1, 'b': 2}
        >>> vocab.tokens_to_ids(["b", "c"])
        [2, -1]
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def vocab(self) -> dict[str, int]:
        """All words with their numbers."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens: Any) -> Any:
        """Numbers of words (one, or a list); -1 for a word that is not known.

        Raises:
            TypeError: they are no strings.
        """
        if isinstance(tokens, np.ndarray):
            tokens = tokens.tolist()
        many = tokens if isinstance(tokens, list) else [tokens]
        for token in many:
            if not isinstance(token, str):
                raise TypeError(f"Argument tokens with value {token!r} is not of type [<class 'str'>].")
        found = [self._ids.get(token, -1) for token in many]
        return found if isinstance(tokens, list) else found[0]

    def ids_to_tokens(self, ids: Any) -> Any:
        """Words of numbers (one, or a list); an empty one for a number that is not known.

        Raises:
            TypeError: they are no ints.
            ValueError: one is negative.
        """
        if isinstance(ids, np.ndarray):
            ids = ids.tolist()
        many = ids if isinstance(ids, list) else [ids]
        for number in many:
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"Argument ids with value {number!r} is not of type [<class 'int'>].")
            if number < 0:
                raise ValueError(f"Input id {number} is not within the required interval of [0, 2147483647].")
        words = {number: word for word, number in self._ids.items()}
        found = [words.get(number, "") for number in many]
        return found if isinstance(ids, list) else found[0]

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """The words of a list, numbered in its order; special ones first or last.

        Raises:
            ValueError: a word occurs twice.
        """
        special = list(special_tokens or [])
        words = [*special, *word_list] if special_first else [*word_list, *special]
        twice = [word for word, count in Counter(words).items() if count > 1]
        if twice:
            raise ValueError(f"word_list and special_tokens contain duplicate words: {', '.join(twice)}.")
        made = cls()
        made._ids = {word: number for number, word in enumerate(words)}
        return made

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Vocab:
        """The words of a dictionary with their numbers.

        Raises:
            TypeError: no dictionary from str to int.
            ValueError: a number is negative.
        """
        for word, number in word_dict.items():
            if not isinstance(word, str) or isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"word_dict must map str to int, but got {word!r}: {number!r}.")
            if number < 0:
                raise ValueError(f"Input number {number} is not within the required interval of [0, 2147483647].")
        made = cls()
        made._ids = dict(word_dict)
        return made

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The first word of each line of a file (up to ``delimiter``), at most ``vocab_size``."""
        lines = [line for line in lines_of(Path(file_path)) if line]
        words = [line.split(delimiter)[0] if delimiter else line for line in lines]
        return cls.from_list(words[:vocab_size], special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        columns: Any = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words in columns of a data set, the most frequent first, those of one frequency in alphabetical order.

        Args:
            dataset (Dataset): the data set.
            columns (Union[str, list[str]]): its columns. Default ``None``: all.
            freq_range (tuple): least and largest frequency of a word that counts. Default ``None``: any.
            top_k (int): at most so many words. Default ``None``: all.
            special_tokens (list[str]): further words. Default ``None``.
            special_first (bool): whether they come before the others. Default ``True``.
        """
        names = [columns] if isinstance(columns, str) else columns
        counts: Counter[str] = Counter()
        for row in dataset.create_tuple_iterator(names, num_epochs=1, output_numpy=True):
            for column in row:
                counts.update(str(word) for word in np.asarray(column).ravel())
        low, high = freq_range or (None, None)
        kept = [(w, n) for w, n in counts.items() if (low is None or n >= low) and (high is None or n <= high)]
        words = [word for word, _ in sorted(kept, key=lambda item: (-item[1], item[0]))]
        return cls.from_list(words[:top_k], special_tokens, special_first)


class Lookup:
    """Words as their numbers in a `Vocab`.

    Args:
        vocab (Vocab): the words.
        unknown_token (str): what a word that is not known is taken for. Default ``None``: it is an error.
        data_type (mindspore.dtype): of the numbers. Default int32.

    Raises:
        TypeError: ``vocab`` is none.
        ValueError: ``unknown_token`` is not among the words.
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = dt.int32) -> None:
        if not isinstance(vocab, Vocab):
            raise TypeError(f"Argument vocab is not of type [<class 'Vocab'>], but got {type(vocab)}.")
        self._ids, self._type = vocab.vocab(), np.dtype(to_numpy(data_type))
        if unknown_token is not None and unknown_token not in self._ids:
            raise ValueError(f"Lookup: unknown_token: [{unknown_token}], does not exist in vocab.")
        self._unknown = None if unknown_token is None else self._ids[unknown_token]

    def __call__(self, words: Any) -> np.ndarray:
        array = array_of(words)
        if array.dtype.kind != "U":
            raise RuntimeError(f"Lookup: the input datatype should be string, but got {array.dtype}.")
        found = [self._ids.get(str(word), self._unknown) for word in array.ravel()]
        if None in found:
            raise RuntimeError(f"Lookup: word [{array.ravel()[found.index(None)]}] does not exist in vocab.")
        return np.array(found, self._type).reshape(array.shape)


__getattr__ = saying_why(__name__)
