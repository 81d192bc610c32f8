"""Words and their numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset
from .nodes import lines_of

__all__ = ["Vocab"]


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
            TypeError: they are not strings.
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
            TypeError: they are not ints.
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
            top_k (int): at most this many words. Default ``None``: all.
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
