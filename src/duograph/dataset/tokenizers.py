"""What cuts texts into tokens, and says where in the UTF-8 of the text each of them was."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from .nodes import array_of
from .vocab import Vocab

__all__ = [
    "BasicTokenizer", "BertTokenizer", "CaseFold", "NormalizeForm", "NormalizeUTF8", "PythonTokenizer", "RegexReplace",
    "RegexTokenizer", "UnicodeCharTokenizer", "WhitespaceTokenizer", "WordpieceTokenizer",
]  # fmt: skip


class Token(NamedTuple):
    """A token, and the bytes of the text where it was."""

    word: str
    start: int
    limit: int


def checked(**kinds: tuple[Any, type]) -> None:
    """Refuses arguments that are of another type than theirs."""
    for name, (value, kind) in kinds.items():
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"Argument {name} with value {value} is not of type [{kind}], but got {type(value)}.")


def strings(value: Any, owner: str) -> np.ndarray:
    """A column of strings."""
    array = array_of(value)
    if array.dtype.kind != "U":
        raise RuntimeError(f"{owner}: the input datatype should be string, but got {array.dtype}.")
    return array


def _text(value: Any, owner: str) -> str:
    array = array_of(value)
    if array.dtype.kind != "U" or array.ndim:
        raise RuntimeError(
            f"{owner}: the input shape should be scalar and the input datatype should be string, but got shape "
            f"{array.shape} and {array.dtype}."
        )
    return str(array)


def _places(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Token]:
    """The tokens at ``spans`` of characters, which come one after the other."""
    chars = size = 0
    for start, end in spans:
        size += len(text[chars:start].encode())
        word = text[start:end]
        yield Token(word, size, size + len(word.encode()))
        chars, size = end, size + len(word.encode())


class _Tokenizer:
    """Cuts one text; with ``with_offsets`` three columns: tokens, where they begin and where they end."""

    def __init__(self, with_offsets: bool = False) -> None:
        checked(with_offsets=(with_offsets, bool))
        self._with_offsets = with_offsets

    def _cut(self, text: str) -> Iterable[Token]:
        raise NotImplementedError

    def __call__(self, text: Any) -> Any:
        return self._columns(self._cut(_text(text, type(self).__name__)))

    def _columns(self, found: Iterable[Token]) -> Any:
        tokens = list(found) or [Token("", 0, 0)]  # as in MindSpore: no token is one empty token
        words, starts, limits = zip(*tokens, strict=True)
        if not self._with_offsets:
            return np.array(words)
        return np.array(words), np.array(starts, np.uint32), np.array(limits, np.uint32)


class PythonTokenizer:
    """Splits text with a Python function.

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
        found = [str(token) for token in self._tokenizer(_text(text, "PythonTokenizer"))]
        return np.array(found or [""])


class WhitespaceTokenizer(_Tokenizer):
    """Splits text at white space.

    Args:
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.

    Examples:
        >>> from duograph.dataset import text
        >>> text.WhitespaceTokenizer(with_offsets=True)("to be")
        (array(['to', 'be'], dtype='<U2'), array([0, 3], dtype=uint32), array([2, 5], dtype=uint32))
    """

    def _cut(self, text):
        return _places(text, (found.span() for found in re.finditer(r"\S+", text)))


class UnicodeCharTokenizer(_Tokenizer):
    """Splits text into characters.

    Args:
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.
    """

    def _cut(self, text):
        return _places(text, ((i, i + 1) for i in range(len(text))))


class WordpieceTokenizer(_Tokenizer):
    """Splits words into the longest pieces in a vocabulary.

    Args:
        vocab (Vocab): the pieces.
        suffix_indicator (str): what pieces begin with that do not begin a word. Default ``'##'``.
        max_bytes_per_token (int): longer words are unknown. Default ``100``.
        unknown_token (str): what an unknown word becomes; ``''``: itself. Default ``'[UNK]'``.
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.

    Raises:
        TypeError: an argument is of another type.

    Examples:
        >>> from duograph.dataset import text
        >>> vocab = text.Vocab.from_list(["work", "##ing", "[UNK]"])
        >>> print(text.WordpieceTokenizer(vocab)(["working", "on"]))
        ['work' '##ing' '[UNK]']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        super().__init__(with_offsets)
        checked(
            vocab=(vocab, Vocab), suffix_indicator=(suffix_indicator, str),
            unknown_token=(unknown_token, str), max_bytes_per_token=(max_bytes_per_token, int),
        )  # fmt: skip
        if max_bytes_per_token < 0:
            raise ValueError("Input max_bytes_per_token is not within the required interval of [0, 2147483647].")
        self._pieces, self._suffix = vocab.vocab(), suffix_indicator
        self._longest, self._unknown = max_bytes_per_token, unknown_token

    def __call__(self, text: Any) -> Any:
        words = strings(text, "WordpieceTokenizer")
        if words.ndim > 1:
            raise RuntimeError(f"WordpieceTokenizer: the input should be 1D or a scalar, but got shape {words.shape}.")
        return self._columns(piece for word in words.ravel() for piece in self.pieces(str(word), 0))

    def pieces(self, word: str, begin: int) -> list[Token]:
        """The pieces of a word that begins at byte ``begin``."""
        size = len(word.encode())
        unknown = self._unknown or word
        if size > self._longest:
            return [Token(unknown, begin, begin + len(unknown.encode()))]
        spans, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                if (self._suffix if start else "") + word[start:end] in self._pieces:
                    break
            else:
                return [Token(unknown, begin, begin + size)]
            spans.append((start, end))
            start = end
        cut = [Token(piece, begin + first, begin + last) for piece, first, last in _places(word, spans)]
        return cut[:1] + [Token(self._suffix + piece, first, last) for piece, first, last in cut[1:]]


class RegexTokenizer(_Tokenizer):
    r"""Splits text at the matches of a regular expression.

    Args:
        delim_pattern (str): what stands between tokens.
        keep_delim_pattern (str): which of it is a token itself. Default ``''``: none.
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.RegexTokenizer(r"\s+|,", ",")("to be, or"))
        ['to' 'be' ',' 'or']
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False) -> None:
        super().__init__(with_offsets)
        self._between = expression(delim_pattern, type(self).__name__)
        self._kept = expression(keep_delim_pattern, type(self).__name__) if keep_delim_pattern else None

    def _cut(self, text):
        return _places(text, self._spans(text))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        begin = 0
        for found in self._between.finditer(text):
            if begin < found.start():
                yield begin, found.start()
            if found.group() and self._kept is not None and self._kept.fullmatch(found.group()):
                yield found.span()
            begin = found.end()
        if begin < len(text):
            yield begin, len(text)


class NormalizeForm(IntEnum):
    """The normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


def _normal(text: str, form: NormalizeForm) -> str:
    return text if form is NormalizeForm.NONE else unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


# Default_Ignorable_Code_Point of Unicode, which folding removes
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    return unicodedata.normalize("NFC", _IGNORED.sub("", unicodedata.normalize("NFKC", folded)))


_PUNCTUATION_AND_HAN = (
    r"[!-/]|[:-@]|[\[-`]|[{-~]|\p{P}|[\x{4E00}-\x{9FFF}]|[\x{3400}-\x{4DBF}]|[\x{20000}-\x{2A6DF}]"
    r"|[\x{2A700}-\x{2B73F}]|[\x{2B740}-\x{2B81F}]|[\x{2B820}-\x{2CEAF}]|[\x{F900}-\x{FAFF}]|[\x{2F800}-\x{2FA1F}]"
)
_SPECIAL = r"\[(?:CLS|SEP|UNK|PAD|MASK)\]"


class BasicTokenizer(RegexTokenizer):
    """Splits text at white space and punctuation, and Chinese into characters.

    Args:
        lower_case (bool): fold cases and take accents away. Default ``False``.
        keep_whitespace (bool): white space gives tokens. Default ``False``.
        normalization_form (NormalizeForm): normal form of the text, unless ``lower_case``. Default ``NONE``.
        preserve_unused_token (bool): ``'[CLS]'``, ``'[SEP]'``, ``'[UNK]'``, ``'[PAD]'``, ``'[MASK]'`` and
            ``'[unused1]'`` stay whole. Default ``True``.
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.

    Raises:
        TypeError: an argument is of another type.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.BasicTokenizer(lower_case=True)("Welcome to Café!"))
        ['welcome' 'to' 'cafe' '!']
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        checked(
            lower_case=(lower_case, bool), keep_whitespace=(keep_whitespace, bool),
            preserve_unused_token=(preserve_unused_token, bool), normalization_form=(normalization_form, NormalizeForm),
        )  # fmt: skip
        kept = (r"\s+|" if keep_whitespace else "") + _PUNCTUATION_AND_HAN
        whole = rf"{_SPECIAL}|\[unused\d+\]|" if preserve_unused_token else ""
        super().__init__(rf"{whole}\s+|{_PUNCTUATION_AND_HAN}", whole + kept, with_offsets)
        self._lower, self._form, self._preserve = lower_case, normalization_form, preserve_unused_token

    def _cut(self, text):
        if not self._lower:
            text = _normal(text, self._form)
        else:
            parts = re.split(f"({_SPECIAL})", text) if self._preserve else [text]
            text = "".join(part if i % 2 else _folded(part) for i, part in enumerate(parts))
            text = expression(r"\p{Mn}", "BasicTokenizer").sub("", unicodedata.normalize("NFD", text))
        return super()._cut(expression(r"\p{Cc}|\p{Cf}", "BasicTokenizer").sub(" ", text))


class BertTokenizer(BasicTokenizer):
    """The tokens of BERT: those of `BasicTokenizer`, split into the pieces of `WordpieceTokenizer`.

    Args:
        vocab (Vocab): the pieces.
        suffix_indicator (str): what pieces begin with that do not begin a word. Default ``'##'``.
        max_bytes_per_token (int): longer words are unknown. Default ``100``.
        unknown_token (str): what an unknown word becomes; ``''``: itself. Default ``'[UNK]'``.
        lower_case (bool): fold cases and take accents away. Default ``False``.
        keep_whitespace (bool): white space gives tokens. Default ``False``.
        normalization_form (NormalizeForm): normal form of the text, unless ``lower_case``. Default ``NONE``.
        preserve_unused_token (bool): ``'[CLS]'`` and its like stay whole. Default ``True``.
        with_offsets (bool): also give where each token begins and ends, in bytes. Default ``False``.

    Raises:
        TypeError: an argument is of another type.

    Examples:
        >>> from duograph.dataset import text
        >>> vocab = text.Vocab.from_list(["i", "am", "mak", "##ing", "床", "[CLS]"])
        >>> print(text.BertTokenizer(vocab)("[CLS]i am making床"))
        ['[CLS]' 'i' 'am' 'mak' '##ing' '床']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        super().__init__(lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets)
        self._pieces = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token)

    def _cut(self, text):
        return (piece for token in super()._cut(text) for piece in self._pieces.pieces(token.word, token.start))


class _OfEachText:
    """Makes another text of each text of a column."""

    def _made(self, text: str) -> str:
        raise NotImplementedError

    def __call__(self, text: Any) -> np.ndarray:
        array = strings(text, type(self).__name__)
        return np.array([self._made(str(one)) for one in array.ravel()]).reshape(array.shape)


class CaseFold(_OfEachText):
    """Folds case, so that text that differs in case only becomes equal.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.CaseFold()("Welcome To BeiJing"))
        welcome to beijing
    """

    def _made(self, text):
        return _folded(text)


class NormalizeUTF8(_OfEachText):
    """Normalises Unicode text.

    Args:
        normalize_form (NormalizeForm): the form. Default ``NormalizeForm.NFKC``.

    Raises:
        TypeError: it is none.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError("Wrong input type for normalization_form, should be enum of 'NormalizeForm'.")
        self._form = normalize_form

    def _made(self, text):
        return _normal(text, self._form)


class RegexReplace(_OfEachText):
    r"""Replaces the matches of a regular expression.

    Args:
        pattern (str): the regular expression.
        replace (str): what is put there; ``$1`` is the first group.
        replace_all (bool): everywhere, or at the first place only. Default ``True``.

    Examples:
        >>> from duograph.dataset import text
        >>> print(text.RegexReplace(r"(\d)(\d)", "$2$1")("a12"))
        a21
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        checked(replace=(replace, str), replace_all=(replace_all, bool))
        self._pattern, self._count = expression(pattern, "RegexReplace"), 0 if replace_all else 1
        self._parts = re.findall(r"\\(.)|\$(\d)|([^\\$]+)", replace, re.DOTALL)

    def _made(self, text):
        def put(found: re.Match[str]) -> str:
            return "".join(
                (found.group(int(number)) or "") if number else escaped + plain
                for escaped, number, plain in self._parts
            )

        return self._pattern.sub(put, text, count=self._count)


@lru_cache(maxsize=64)
def expression(text: str, owner: str) -> re.Pattern[str]:
    r"""A regular expression; ``\p{...}`` and ``\x{...}`` are those of ICU.

    Raises:
        TypeError: it is not a string.
        RuntimeError: it is no regular expression.
    """
    checked(pattern=(text, str))

    parts, inside = [], False
    for found in re.finditer(r"\\([pP])\{(\w+)\}|\\x\{([0-9A-Fa-f]{1,6})\}|\\.|.", text, re.DOTALL):
        escape, category, code = found.groups()
        part = found.group()
        if part == "[" and inside:
            raise RuntimeError(f"{owner}: {text!r} has a set of characters in another one, which is not available.")
        inside = part == "[" or (inside and part != "]")
        if code is not None:
            part = f"\\U{int(code, 16):08x}"
        elif category is not None:
            ranges = _category(category, escape == "P")
            part = ranges if inside else f"[{ranges}]"
        parts.append(part)
    try:
        return re.compile("".join(parts))
    except (re.error, OverflowError) as error:
        raise RuntimeError(
            f"{owner}: create ICU RegexMatcher failed, you may input one error pattern: {text!r}: {error}"
        ) from None


@lru_cache(maxsize=1)
def _runs() -> list[tuple[str, int, int]]:
    """General category, first and last of the runs of characters that are of one category."""
    runs, first = [], 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(sys.maxunicode + 1)))):
        size = sum(1 for _ in run)
        runs.append((category, first, first + size - 1))
        first += size
    return runs


@lru_cache(maxsize=32)
def _category(name: str, others: bool) -> str:
    """The characters of a general category of Unicode, or all others, as ranges of a set."""
    ranges = [(first, last) for category, first, last in _runs() if category.startswith(name) is not others]
    if not any(category.startswith(name) for category, _, _ in _runs()):
        raise RuntimeError(f"\\p{{{name}}} is not available: Unicode has no general category of that name.")
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
