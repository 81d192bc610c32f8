"""Readers of records and of folders of images: `MindDataset`, `ImageFolderDataset`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .files import _folder, read_bytes
from .mindrecord import FileReader, Records
from .samplers import sampler_of
from .sources import Indexed, VisionBaseDataset
from .vision.files import Decode, FileBytes

KEPT = 1 << 26
"""Bytes of record files up to which rows that have been read stay in memory."""


class MindDataset(Indexed):
    """The records of mindrecord files, of MindSpore or of ``duograph.mindrecord.FileWriter``. Of large ones what is in
    memory is where their rows lie.

    Args:
        dataset_files (Union[str, list[str]]): a file, which stands for all that were written together with it; or a
            list of files, of which nothing else is read.
        columns_list (list[str]): only these fields. Default ``None``: all, in the order of their names.
        num_parallel_workers (int): how many threads read rows.
        shuffle (bool): Default ``None``: yes.
        num_shards (int): number of processes that share the rows.
        shard_id (int): which of them this is.
        sampler (Union[Sampler, Iterable]): which rows.
        padded_sample (dict): a record that fills up. Default ``None``.
        num_padded (int): how many of them are added. Default ``None``.
        num_samples (int): at most this many rows.
        cache (Any): kept for old programs.

    Raises:
        ValueError: a file does not exist, or has no field of a name.
        RuntimeError: a file is damaged, or others that were written with it are missing.
    """

    def __init__(
        self,
        dataset_files: Any,
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        for path in dataset_files if isinstance(dataset_files, list | tuple) else [dataset_files]:
            if isinstance(path, str) and not os.path.exists(path):
                raise ValueError(f"The file {path} does not exist or permission denied!")
        reader = FileReader(dataset_files)
        fields = reader.schema()
        self._names = list(columns_list or sorted(fields))
        for name in self._names:
            if name not in fields:
                raise ValueError(f"columns_list: there is no field {name!r}; there are {sorted(fields)}.")
        super().__init__(sampler_of(sampler, shuffle, num_samples, num_shards, shard_id), num_parallel_workers)
        self.where = dataset_files
        self._kinds = {name: field["type"] for name, field in fields.items()}
        self._records = Records(reader.paths, fields)
        self._filler = self._row(padded_sample) if padded_sample is not None else ()
        self._padded = (num_padded or 0) if self._filler else 0
        self._kept: dict[int, tuple[np.ndarray, ...]] = {}
        self._keeps = sum(map(os.path.getsize, reader.paths)) <= KEPT

    def column_names(self):
        return list(self._names)

    def length(self):
        return len(self._records) + self._padded

    def elsewhere(self):
        return (False,) if self._keeps else super().elsewhere()  # what a process keeps is gone with it

    def row(self, index):
        if index >= len(self._records):
            return tuple(x.copy() for x in self._filler)
        found = self._kept.get(index)
        if found is None:
            found = self._row(self._records[index])
            if not self._keeps:
                return found
            self._kept[index] = found
        return tuple(x.copy() for x in found)

    def _row(self, record: dict[str, Any]) -> tuple[np.ndarray, ...]:
        return tuple(_value(record[name], self._kinds[name]) for name in self._names)


def _value(value: Any, kind: str) -> np.ndarray:
    """A field as an array; bytes are one element of one axis, which is what `vision.Decode` takes."""
    if kind == "bytes":
        return np.array([value])
    return np.asarray(value, None if kind == "string" else kind)


class ImageFolderDataset(Indexed, VisionBaseDataset):
    """Images in one folder per class: the bytes of each file, and the number of its class.

    Args:
        dataset_dir (str): the folder that holds the folders.
        num_samples (int): at most this many rows.
        num_parallel_workers (int): how many threads read rows.
        shuffle (bool): Default ``None``: yes.
        sampler (Union[Sampler, Iterable]): which rows.
        extensions (list[str]): endings of the files that count. Default ``None``: .jpg .jpeg .png .bmp .gif.
        class_indexing (dict): number of every class. Default ``None``: folders in the order of their names.
        decode (bool): whether images are decoded (``vision.Decode``). Default ``False``.
        num_shards (int): number of processes that share the rows.
        shard_id (int): which of them this is.
        cache (Any): kept for old programs.
        decrypt (callable): turns a path into the bytes of an image. Default ``None``.

    Raises:
        ValueError: the folder does not exist; a class in ``class_indexing`` has no folder.
        RuntimeError: when rows are asked for: there are none, or a file is unreadable.
    """

    def __init__(
        self,
        dataset_dir: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: list[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Any = None,
    ) -> None:
        self.where = root = _folder(dataset_dir)
        super().__init__(sampler_of(sampler, shuffle, num_samples, num_shards, shard_id), num_parallel_workers)
        wanted = tuple(e.lower() for e in extensions or (".jpg", ".jpeg", ".png", ".bmp", ".gif"))
        names = sorted(p.name for p in root.iterdir() if p.is_dir())
        self._classes = dict(class_indexing) if class_indexing else {name: i for i, name in enumerate(names)}
        for name in self._classes:
            if name not in names:
                raise ValueError(f"class_indexing: there is no folder {name!r} in {dataset_dir}.")
        self._files = [
            (os.path.join(root, name, file), number)
            for name, number in self._classes.items()
            for file in sorted(os.listdir(os.path.join(root, name)))
            if file.lower().endswith(wanted)
        ]
        self._decode, self._decrypt = decode, decrypt

    def column_names(self):
        return ["image", "label"]

    def get_class_indexing(self) -> dict[str, int]:
        """Number of every class."""
        return dict(self._classes)

    def num_classes(self):
        return len(self._classes)

    def labels(self):
        return np.array([number for _, number in self._files])

    def length(self):
        return len(self._files)

    def row(self, index):
        path, number = self._files[index]
        if self._decrypt is not None:
            data = self._decrypt(path)
        else:
            data = read_bytes(path)
        image: np.ndarray = FileBytes.of(data, path)
        if self._decode:
            image = Decode()(image)
        return image, np.array(number, np.int32)
