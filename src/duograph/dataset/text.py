"""Operations on text: tokenizers, words as numbers (`Vocab`, `Lookup`) and as vectors (`Vectors`, `ToVectors`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.base.public import saying_why
from duograph.core import dtype as dt

from .dataset import to_numpy
from .nodes import array_of
from .tokenizers import (
    BasicTokenizer,
    BertTokenizer,
    CaseFold,
    NormalizeForm,
    NormalizeUTF8,
    PythonTokenizer,
    RegexReplace,
    RegexTokenizer,
    UnicodeCharTokenizer,
    WhitespaceTokenizer,
    WordpieceTokenizer,
    checked,
    strings,
)
from .vectors import FastText, GloVe, ToVectors, Vectors
from .vocab import Vocab

__all__ = [
    "AddToken", "BasicTokenizer", "BertTokenizer", "CaseFold", "FastText", "GloVe", "Lookup", "Ngram", "NormalizeForm",
    "NormalizeUTF8", "PythonTokenizer", "RegexReplace", "RegexTokenizer", "SlidingWindow", "ToNumber", "ToVectors",
    "Truncate", "TruncateSequencePair", "UnicodeCharTokenizer", "Vectors", "Vocab", "WhitespaceTokenizer",
    "WordpieceTokenizer", "to_bytes", "to_str",
]  # fmt: skip


class SlidingWindow:
    """The windows of ``width`` neighbouring elements of a row.

    Args:
        width (int): how many.
        axis (int): the axis of the row. Default ``0``.

    Raises:
        TypeError: they are not ints.
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


class Ngram:
    """The n-grams of a row of words, joined.

    Args:
        n (Union[int, list[int]]): how many; of a list, those of the first come first.
        left_pad (tuple): a word and how often it stands before the row, at most ``n - 1`` times. Default ``('', 0)``.
        right_pad (tuple): the same after the row. Default ``('', 0)``.
        separator (str): what stands between the words. Default ``' '``.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``n`` is not positive, or a pad is no pair.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.Ngram(2, separator="-")(["to", "be", "or"]))
        ['to-be' 'be-or']
    """

    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        self._sizes = n if isinstance(n, list) else [n]
        for size in self._sizes:
            checked(n=(size, int))
        if not self._sizes or min(self._sizes) < 1:
            raise ValueError(f"n needs to be a positive int or a list of them, but got {n}.")
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            if not (isinstance(pad, tuple) and len(pad) == 2 and isinstance(pad[0], str) and isinstance(pad[1], int)):
                raise ValueError(f"{name} needs to be a tuple of (str, int), the word and how often it is put there.")
            if pad[1] < 0:
                raise ValueError("padding width need to be positive numbers.")
        checked(separator=(separator, str))
        self._left, self._right, self._separator = left_pad, right_pad, separator

    def __call__(self, words: Any) -> np.ndarray:
        row = strings(words, "Ngram")
        if row.ndim != 1:
            raise RuntimeError(f"Ngram: input is not a 1D data with string datatype, but got shape {row.shape}.")
        made: list[str] = []
        for n in self._sizes:
            before, after = ([pad[0]] * min(pad[1], n - 1) for pad in (self._left, self._right))
            padded = [*before, *row.tolist(), *after]
            several = [self._separator.join(padded[i : i + n]) for i in range(len(padded) - n + 1)]
            made.extend(several or [""])  # as in MindSpore: too few words are an empty one
        return np.array(made)


class AddToken:
    """Adds a token before or after each row.

    Args:
        token (str): the word.
        begin (bool): before, not after. Default ``True``.

    Raises:
        TypeError: an argument is of another type.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.AddToken("[CLS]")(["to", "be"]))
        ['[CLS]' 'to' 'be']
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        checked(token=(token, str), begin=(begin, bool))
        self._token, self._begin = token, begin

    def __call__(self, words: Any) -> np.ndarray:
        rows = strings(words, "AddToken")
        if rows.ndim not in (1, 2):
            raise RuntimeError(f"AddToken: the input should be 1D or 2D, but got shape {rows.shape}.")
        token = np.full((*rows.shape[:-1], 1), self._token)
        return np.concatenate([token, rows] if self._begin else [rows, token], axis=-1)


class Truncate:
    """The first ``max_seq_len`` of each row.

    Args:
        max_seq_len (int): how many at most.

    Raises:
        TypeError: it is not an int.
        ValueError: it is negative.
    """

    def __init__(self, max_seq_len: int) -> None:
        self._longest = _length("max_seq_len", max_seq_len)

    def __call__(self, data: Any) -> np.ndarray:
        rows = array_of(data)
        if rows.ndim not in (1, 2):
            raise RuntimeError(f"Truncate: the input should be 1D or 2D, but got shape {rows.shape}.")
        return rows[..., : self._longest]


class TruncateSequencePair:
    """Shortens two rows to ``max_length`` in total, by removing from the end of the longer one.

    Args:
        max_length (int): how many at most.

    Raises:
        TypeError: it is not an int.
        ValueError: it is negative.

    Examples:
        >>> from duograph.dataset import text
        >>> text.TruncateSequencePair(4)([1, 2, 3], [4, 5, 6])
        (array([1, 2]), array([4, 5]))
    """

    def __init__(self, max_length: int) -> None:
        self._longest = _length("max_length", max_length)

    def __call__(self, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
        one, two = array_of(first), array_of(second)
        if one.ndim != 1 or two.ndim != 1:
            raise RuntimeError(f"TruncateSequencePair: the inputs should be 1D, but got {one.ndim}D and {two.ndim}D.")
        over, difference = max(one.size + two.size - self._longest, 0), one.size - two.size
        longer = min(over, abs(difference))  # by so much the longer one alone gets shorter
        rest = over - longer
        from_one = (longer if difference > 0 else 0) + rest // 2
        return one[: one.size - from_one], two[: two.size - (over - from_one)]


class ToNumber:
    """Parses text as numbers.

    Args:
        data_type (mindspore.dtype): the type of the numbers.

    Raises:
        TypeError: it is not a type of numbers.

    Examples:
        >>> import duograph as ms
        >>> from duograph.dataset import text
        >>> print(text.ToNumber(ms.int8)(["1", "-2"]))
        [ 1 -2]
    """

    def __init__(self, data_type: Any) -> None:
        if not isinstance(data_type, dt.DType) or data_type == dt.bool_:
            raise TypeError(f"data_type: {data_type} is not numeric data type.")
        self._type = np.dtype(to_numpy(data_type))

    def __call__(self, data: Any) -> np.ndarray:
        array = strings(data, "ToNumber")
        read: Any = int if self._type.kind in "iu" else float
        try:
            return np.array([read(one) for one in array.ravel()], self._type).reshape(array.shape)
        except (ValueError, OverflowError) as error:
            raise RuntimeError(f"ToNumber: {error}, which is not a number of type {self._type}.") from None


def _length(name: str, value: Any) -> int:
    checked(**{name: (value, int)})
    if value < 0:
        raise ValueError(f"Input {name} is not within the required interval of [0, 2147483647].")
    return int(value)


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Encodes an array of strings as an array of bytes.

    Raises:
        TypeError: it is no NumPy array.
    """
    return np.char.encode(_array(array), encoding)


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Decodes an array of bytes as an array of strings; strings are unchanged.

    Raises:
        TypeError: it is no NumPy array.
    """
    found = _array(array)
    return found if found.dtype.kind == "U" else np.char.decode(found, encoding)


def _array(array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise TypeError("input should be a NumPy array.")
    return array


class Lookup:
    """Looks words up in a `Vocab`.

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
