"""Readers of data sets in their original files: MNIST, Fashion-MNIST, CIFAR, text and CSV."""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .nodes import lines_of
from .samplers import sampler_of
from .sources import Indexed, TextBaseDataset, VisionBaseDataset


def _folder(dataset_dir: Any) -> Path:
    path = Path(dataset_dir)
    if not path.is_dir():
        raise ValueError(f"The folder {dataset_dir} does not exist or is not a directory or permission denied!")
    return path


def read_bytes(path: Any) -> bytes:
    """What is in a file.

    Raises:
        RuntimeError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as exc:
        raise RuntimeError(f"Invalid file path, {path} cannot be read: {exc.strerror}.") from None


def _usage(usage: Any, choices: tuple[str, ...]) -> str:
    if usage is None:
        return "all"
    if not isinstance(usage, str):
        raise TypeError(f"Argument usage with value {usage} is not of type [<class 'str'>], but got {type(usage)}.")
    if usage not in choices:
        raise ValueError(f"usage is not within the valid set of {list(choices)}.")
    return usage


class _Images(Indexed, VisionBaseDataset):
    """Images and labels that fit in memory; read when first needed."""

    columns = ("image", "label")
    usages: tuple[str, ...] = ("train", "test", "all")

    def __init__(
        self,
        dataset_dir: Any,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self.where = self._dir = _folder(dataset_dir)
        self._which = _usage(usage, self.usages)
        super().__init__(sampler_of(sampler, shuffle, num_samples, num_shards, shard_id), num_parallel_workers)
        self._data: tuple[np.ndarray, ...] | None = None

    def column_names(self):
        return list(self.columns)

    def num_classes(self):
        return int(self.data()[-1].max()) + 1

    def data(self) -> tuple[np.ndarray, ...]:
        """All columns."""
        if self._data is None:
            self._data = self.read()
        return self._data

    def read(self) -> tuple[np.ndarray, ...]:
        """Reads all columns."""
        raise NotImplementedError

    def labels(self):
        return self.data()[-1]

    def length(self):
        return len(self.data()[0])

    def row(self, index):
        return tuple(np.array(column[index]) for column in self.data())


def read_idx(path: Path) -> np.ndarray:
    """An array in the IDX format of MNIST, also if compressed.

    Raises:
        RuntimeError: the file is no such array.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            kind = file.read(4)
            sizes = file.read(4 * kind[3]) if kind[:3] == b"\0\0\x08" and len(kind) > 3 else b""
            if not sizes or len(sizes) < 4 * kind[3]:
                raise RuntimeError(f"Invalid file, {path} is not an IDX file of bytes.")
            shape = [int(n) for n in np.frombuffer(sizes, ">u4")]
            size = math.prod(shape)
            if size > _MOST_EXPANDED * path.stat().st_size:
                raise RuntimeError(f"Invalid file, {path} does not have {size} bytes of data.")
            raw = file.read(size + 1)  # no more: what follows may be any number of bytes, if it is compressed
    except (OSError, EOFError, zlib.error, MemoryError) as exc:
        raise RuntimeError(f"Invalid file, {path} cannot be read: {exc or 'it is larger than the memory'}") from None
    if len(raw) != size:
        raise RuntimeError(f"Invalid file, {path} does not have {size} bytes of data.")
    return np.frombuffer(raw, np.uint8).reshape(shape) if raw else np.zeros(shape, np.uint8)


_MOST_EXPANDED = 1032
"""How many bytes deflate makes of one at most."""


class MnistDataset(_Images):
    """Handwritten digits: ``image`` (28, 28, 1) uint8 and ``label`` uint32, from the four IDX files.

    Args:
        dataset_dir (str): folder of the files, which may be compressed (``.gz``).
        usage (str): ``"train"``, ``"test"`` or ``"all"``: of the two pairs of files, those that are there. Default
            ``None``: all.
        num_samples (int): Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (bool): Default ``None``: yes.
        sampler (Sampler): Default ``None``.
        num_shards (int): Default ``None``.
        shard_id (int): Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.

    Raises:
        ValueError: no such folder; wrong usage or shards.
        RuntimeError: there are no such files, one of a pair is missing, or they are broken; a sampler together with
            ``shuffle`` or shards.
    """

    stems = {"train": "train", "test": "t10k"}

    def read(self):
        wanted = [stem for usage, stem in self.stems.items() if self._which in ("all", usage)]
        pairs = [(self._find(f"{w}-images", "idx3-ubyte"), self._find(f"{w}-labels", "idx1-ubyte")) for w in wanted]
        there = [(images, labels) for images, labels in pairs if images is not None or labels is not None]
        if not there:
            names = " or ".join(f"{w}-images-idx3-ubyte" for w in wanted)
            raise RuntimeError(f"Invalid data, there is no file {names} in {self._dir}.")
        columns: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for of_images, of_labels in there:
            if of_images is None or of_labels is None:
                only = of_images or of_labels
                raise RuntimeError(f"Invalid data, {only} is there, but not the file of its labels or images.")
            images, labels = read_idx(of_images), read_idx(of_labels)
            if len(images) != len(labels):
                raise RuntimeError(f"Invalid data, {len(images)} images but {len(labels)} labels.")
            columns[0].append(images)
            columns[1].append(labels)
        return np.concatenate(columns[0])[..., None], np.concatenate(columns[1]).astype(np.uint32)

    def _find(self, stem: str, kind: str) -> Path | None:
        for name in (f"{stem}-{kind}", f"{stem}.{kind}"):
            for end in ("", ".gz"):
                if (self._dir / (name + end)).is_file():
                    return self._dir / (name + end)
        return None


class FashionMnistDataset(MnistDataset):
    """Images of clothing, in the file format of `MnistDataset`."""


class Cifar10Dataset(_Images):
    """Small images of ten classes: ``image`` (32, 32, 3) uint8 and ``label`` uint32, from the binary version's files.

    Args are those of `MnistDataset`.
    """

    stems = {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}
    classes: tuple[int, ...] = (10,)
    """Of each byte in front of an image: how many classes there are."""

    def read(self):
        wanted = [n for which, names in self.stems.items() if self._which in ("all", which) for n in names]
        found = [self._dir / name for name in wanted if (self._dir / name).is_file()]
        if not found:
            raise RuntimeError(f"Invalid data, there is none of {', '.join(wanted)} in {self._dir}.")
        width = len(self.classes) + 3072
        raw = np.concatenate([np.fromfile(path, np.uint8) for path in found])
        if raw.size % width:
            raise RuntimeError(f"Invalid file, the files of {self._dir} do not consist of records of {width} bytes.")
        records = raw.reshape(-1, width)
        images = records[:, len(self.classes) :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = [records[:, i].astype(np.uint32) for i in range(len(self.classes))]
        for count, found in zip(self.classes, labels, strict=True):
            if found.max(initial=0) >= count:
                raise RuntimeError(f"Invalid file, a label in {self._dir} is {found.max()}, of {count} classes.")
        return np.ascontiguousarray(images), *labels


class Cifar100Dataset(Cifar10Dataset):
    """Like `Cifar10Dataset`, with ``coarse_label`` and ``fine_label``."""

    columns = ("image", "coarse_label", "fine_label")  # type: ignore[assignment]
    stems = {"train": ["train.bin"], "test": ["test.bin"]}
    classes = (20, 100)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of a file that is not a string say its name."""
    try:
        yield
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise RuntimeError(f"Invalid file, {path} cannot be read: {exc}.") from None


class _Lines(Indexed):
    """Records of text files."""

    def __init__(
        self, files: Any, num_samples: Any, shuffle: Any, num_shards: Any, shard_id: Any, workers: Any
    ) -> None:
        paths = [files] if isinstance(files, str | Path) else list(files)
        for path in paths:
            if not Path(path).is_file():
                raise ValueError(f"The following patterns did not match any files: {path}")
        self.where = self._paths = [Path(path) for path in paths]
        mixed = shuffle if isinstance(shuffle, bool) else True
        super().__init__(sampler_of(None, mixed, num_samples, num_shards, shard_id), workers)
        self._records: list[Any] | None = None

    def records(self) -> list[Any]:
        """All records."""
        if self._records is None:
            found: list[Any] = []
            for path in self._paths:
                with _reading(path):
                    found.extend(self.read(path))
            self._records = found
        return self._records

    def read(self, path: Path) -> list[Any]:
        """The records of one file."""
        raise NotImplementedError

    def length(self):
        return len(self.records())


class TextFileDataset(_Lines, TextBaseDataset):
    """The non-empty lines of text files, as column ``text``.

    Args:
        dataset_files (Union[str, list[str]]): the files.
        num_samples (int): Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (Union[bool, Shuffle]): Default: yes.
        num_shards (int): Default ``None``.
        shard_id (int): Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.
    """

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)

    def column_names(self):
        return ["text"]

    def read(self, path):
        return [line for line in lines_of(path) if line]

    def row(self, index):
        return (np.asarray(self.records()[index]),)


class IMDBDataset(Indexed, TextBaseDataset):
    """Film reviews: ``text`` and ``label`` (int32, 1: positive), from ``train/pos/*.txt`` and so on.

    Args:
        dataset_dir (str): the folder with ``train`` and ``test``.
        usage (str): ``"train"``, ``"test"`` or ``"all"``. Default ``None``: all.
        num_samples (int): Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (bool): Default ``None``: yes.
        sampler (Sampler): Default ``None``.
        num_shards (int): Default ``None``.
        shard_id (int): Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.

    Raises:
        ValueError: no such folder; wrong usage or shards.
        RuntimeError: there are no such files, or one is not a string; a sampler together with ``shuffle`` or shards.
    """

    def __init__(
        self,
        dataset_dir: Any,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        root, which = _folder(dataset_dir), _usage(usage, ("train", "test", "all"))
        super().__init__(sampler_of(sampler, shuffle, num_samples, num_shards, shard_id), num_parallel_workers)
        self._files = [
            (path, label)
            for part in (("train", "test") if which == "all" else (which,))
            for name, label in (("pos", 1), ("neg", 0))
            for path in sorted((root / part / name).glob("*.txt"))
        ]
        if not self._files:
            raise RuntimeError(f"Invalid data, there are no files train/pos/*.txt and so on in {root}.")

    def column_names(self):
        return ["text", "label"]

    def labels(self):
        return np.array([label for _, label in self._files])

    def length(self):
        return len(self._files)

    def row(self, index):
        path, label = self._files[index]
        with _reading(path):
            return np.asarray(read_bytes(path).decode()), np.array(label, np.int32)


class CSVDataset(_Lines):
    """The rows of CSV files.

    Args:
        dataset_files (Union[str, list[str]]): the files.
        field_delim (str): Default ``","``.
        column_defaults (list): a value of each column's type (int, float or str). Default ``None``: strings.
        column_names (list[str]): Default ``None``: the first line of each file.
        num_samples (int): Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (Union[bool, Shuffle]): Default: yes.
        num_shards (int): Default ``None``.
        shard_id (int): Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.

    Raises:
        ValueError: a file does not exist; ``field_delim`` is not one character.
        RuntimeError: when rows are asked for: there are none, or the columns of files or lines differ, or a field is
            not of its column's type.
    """

    def __init__(
        self,
        dataset_files: Any,
        field_delim: str = ",",
        column_defaults: list[Any] | None = None,
        column_names: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Any = True,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        if not isinstance(field_delim, str) or len(field_delim) != 1 or field_delim in '"\r\n':
            raise ValueError(f"field_delim is invalid: it must be one character, but got {field_delim!r}.")
        self._delimiter, self._defaults, self._names = field_delim, column_defaults, column_names

    def column_names(self):
        return list(self._names) if self._names is not None else self._header(self._paths[0])

    def _header(self, path: Path) -> list[str]:
        with _reading(path), path.open(newline="", encoding="utf-8-sig") as file:
            return next(csv.reader(file, delimiter=self._delimiter), [])

    def read(self, path):
        names, found = self.column_names(), []
        if self._names is None and path.stat().st_size and self._header(path) != names:
            raise RuntimeError(f"Invalid csv, the columns of {path} are {self._header(path)}, those before {names}.")
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, delimiter=self._delimiter)
            for fields in lines:
                if fields and len(fields) != len(names):
                    raise RuntimeError(
                        f"Invalid csv, line {lines.line_num} of {path} has {len(fields)} fields, not {len(names)}."
                    )
                if fields and (lines.line_num > 1 or self._names is not None):
                    found.append((path, lines.line_num, fields))
        return found

    def row(self, index):
        path, line, fields = self.records()[index]
        if self._defaults is None:
            return tuple(np.asarray(field) for field in fields)
        try:
            return tuple(self._typed(field, like) for field, like in zip(fields, self._defaults, strict=True))
        except (ValueError, OverflowError) as exc:
            raise RuntimeError(f"Invalid csv, line {line} of {path} cannot be read: {exc}.") from None

    @staticmethod
    def _typed(field: str, like: Any) -> np.ndarray:
        if isinstance(like, str):
            return np.asarray(field)
        if isinstance(like, float):
            return np.asarray(float(field) if field else like, np.float32)
        return np.asarray(int(field) if field else like, np.int32)
