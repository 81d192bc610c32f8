"""Images with annotations in files of their own: `VOCDataset`, `CocoDataset`."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from .files import _folder, read_bytes
from .samplers import sampler_of
from .sources import Indexed, VisionBaseDataset
from .vision.files import Decode, FileBytes

__all__ = ["CocoDataset", "VOCDataset"]


class _Annotated(Indexed, VisionBaseDataset):
    """Images, and columns that a subclass makes of their annotations."""

    columns: tuple[str, ...] = ()

    def __init__(
        self, root: Path, sampler: Any, workers: Any, decode: bool, extra_metadata: bool, decrypt: Any
    ) -> None:
        if extra_metadata:
            raise NotImplementedError(f"For '{type(self).__name__}', 'extra_metadata' is not available.")
        super().__init__(sampler, workers)
        self.where = self._root = root
        self._decode, self._decrypt = decode, decrypt

    def column_names(self):
        return ["image", *self.columns]

    def elsewhere(self):
        return super().elsewhere() if self._decrypt is None else ()

    def image(self, *parts: str) -> np.ndarray:
        """The bytes of a file below the folder, or its pixels.

        Raises:
            RuntimeError: the name leads out of the folder, or the file cannot be read.
        """
        path = _below(self._root, *parts)
        if self._decrypt is not None:
            data = self._decrypt(path)
        else:
            data = read_bytes(path)
        image: np.ndarray = FileBytes.of(data, path)
        return Decode()(image) if self._decode else image


def _below(root: Path, *parts: str) -> str:
    """The path of a file below a folder.

    Raises:
        RuntimeError: it is not below it.
    """
    path = os.path.join(root, *parts)
    inside = os.path.commonpath([os.path.abspath(root), os.path.abspath(path)]) == os.path.abspath(root)
    if "\0" in path or not inside:
        raise RuntimeError(f"Invalid file path, {os.path.join(*parts)!r} leads out of the folder {root}.")
    return path


def _column(values: Any, dtype: Any) -> np.ndarray:
    return np.array(values, dtype).reshape(-1, 1)


class VOCDataset(_Annotated):
    """Images of PASCAL VOC with boxes (task ``"Detection"``) or the classes of their pixels (``"Segmentation"``).

    Columns are ``image``, and ``bbox`` (float32: left, top, width, height), ``label``, ``difficult``, ``truncate``
    (uint32), one row for each object, or ``target``, the image of classes.

    Args:
        dataset_dir (str): the folder with ``JPEGImages``, ``Annotations``, ``ImageSets`` and ``SegmentationClass``.
        task (str): ``"Segmentation"`` or ``"Detection"``. Default ``"Segmentation"``.
        usage (str): which file of ``ImageSets/Segmentation`` or ``ImageSets/Main`` lists the images. Default ``"train"``.
        class_indexing (dict): number of every class that is wanted; other objects are left out. Default ``None``: all,
            in the order of their names.
        num_samples (int): at most this many rows. Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (bool): Default ``None``: yes.
        decode (bool): whether images are decoded. Default ``False``.
        sampler (Sampler): which rows. Default ``None``.
        num_shards (int): number of processes that share the rows. Default ``None``.
        shard_id (int): which of them this is. Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.
        extra_metadata (bool): must be ``False``. Default ``False``.
        decrypt (callable): turns a path into the bytes of an image. Default ``None``.

    Raises:
        ValueError: no such folder or list, another task, or ``class_indexing`` without boxes.
        RuntimeError: an annotation is damaged or says nothing of its boxes; a name leads out of the folder.
        NotImplementedError: ``extra_metadata``.
    """  # noqa: E501

    def __init__(
        self, dataset_dir: Any, task: str = "Segmentation", usage: str = "train",
        class_indexing: dict[str, int] | None = None, num_samples: int | None = None,
        num_parallel_workers: int | None = None, shuffle: bool | None = None, decode: bool = False, sampler: Any = None,
        num_shards: int | None = None, shard_id: int | None = None, cache: Any = None, extra_metadata: bool = False,
        decrypt: Any = None,
    ) -> None:  # fmt: skip
        if task not in ("Segmentation", "Detection"):
            raise ValueError("Invalid task : " + str(task) + ". It should be 'Segmentation' or 'Detection'.")
        if class_indexing is not None and task == "Segmentation":
            raise ValueError("class_indexing is not supported in Segmentation task.")
        root = _folder(dataset_dir)
        chosen = sampler_of(sampler, shuffle, num_samples, num_shards, shard_id)
        super().__init__(root, chosen, num_parallel_workers, decode, extra_metadata, decrypt)
        self._boxes = task == "Detection"
        self.columns = ("bbox", "label", "difficult", "truncate") if self._boxes else ("target",)
        if (
            not re.fullmatch(r"[\w.-]+", usage)
            or not (listed := root / "ImageSets" / _SETS[task] / f"{usage}.txt").is_file()
        ):
            raise ValueError(f"There is no list of images ImageSets/{_SETS[task]}/{usage}.txt in {root}.")
        names = [line.split()[0] for line in listed.read_text(encoding="utf-8").splitlines() if line.strip()]
        self._found: dict[str, list[tuple[str, list[float], int, int]]] = {}
        if self._boxes:
            self._found = {name: _objects_of(_below(root, "Annotations", f"{name}.xml")) for name in names}
            known = sorted({kind for found in self._found.values() for kind, *_ in found})
            self._classes = (
                {kind: i for i, kind in enumerate(known)} if class_indexing is None else dict(class_indexing)
            )
            for name, found in self._found.items():
                self._found[name] = [entry for entry in found if entry[0] in self._classes]
            names = [name for name in names if self._found[name]]
        self._names = names

    def get_class_indexing(self) -> dict[str, int]:
        """Number of every class.

        Raises:
            NotImplementedError: the task is ``"Segmentation"``, whose files do not name classes.
        """
        if not self._boxes:
            raise NotImplementedError("Only the task 'Detection' has names of classes.")
        return dict(self._classes)

    def length(self):
        return len(self._names)

    def row(self, index):
        name = self._names[index]
        image = self.image("JPEGImages", f"{name}.jpg")
        if not self._boxes:
            return image, self.image("SegmentationClass", f"{name}.png")
        kinds, boxes, difficult, truncated = zip(*self._found[name])
        numbers = [self._classes[kind] for kind in kinds]
        columns = [_column(values, np.uint32) for values in (numbers, difficult, truncated)]
        return image, np.array(boxes, np.float32), *columns


_SETS = {"Segmentation": "Segmentation", "Detection": "Main"}


def _objects_of(path: str) -> list[tuple[str, list[float], int, int]]:
    """Of every object in an annotation: class, box, whether difficult, whether truncated."""
    try:
        root = ET.parse(path).getroot()
        found = []
        for entry in root.iter("object"):
            box = entry.find("bndbox")
            if box is None:
                raise RuntimeError(f"Invalid xml, attribute of bndbox is missing in {path}.")
            left, top, right, bottom = (float(_text(box, name)) for name in ("xmin", "ymin", "xmax", "ymax"))
            if min(left, top) <= 0 or right < left or bottom < top:
                raise RuntimeError(
                    f"Invalid bndbox, {(left, top, right, bottom)} in {path} is not a box of positive numbers."
                )
            flags = [int(entry.findtext(name) or 0) for name in ("difficult", "truncated")]
            found.append((_text(entry, "name"), [left, top, right - left, bottom - top], flags[0], flags[1]))
    except OSError as exc:
        raise RuntimeError(f"Invalid file path, {path} cannot be read: {exc.strerror}.") from None
    except (ET.ParseError, ValueError, UnicodeDecodeError) as exc:
        raise RuntimeError(f"Invalid xml, {path} cannot be read: {exc}.") from None
    if not found:
        raise RuntimeError(f"Invalid xml, attribute of object is missing in {path}.")
    return found


def _text(entry: Any, name: str) -> str:
    text = entry.findtext(name)
    if text is None:
        raise ValueError(f"there is no {name}")
    return text.strip()


_COCO = {
    "Detection": ("bbox", "category_id", "iscrowd"), "Stuff": ("segmentation", "iscrowd"),
    "Keypoint": ("keypoints", "num_keypoints"), "Panoptic": ("bbox", "category_id", "iscrowd", "area"),
    "Captioning": ("captions",),
}  # fmt: skip
_WIDTHS = {"bbox": 4, "keypoints": None}


class CocoDataset(_Annotated):
    """Images of COCO, with the annotations that a task needs, as arrays with one row per object; the tasks' columns:

    ``"Detection"``: bbox, category_id, iscrowd; ``"Stuff"``: segmentation (filled up with -1), iscrowd;
    ``"Keypoint"``: keypoints, num_keypoints; ``"Panoptic"``: bbox, category_id, iscrowd, area; ``"Captioning"``: captions.
    Images without annotations are left out.

    Args:
        dataset_dir (str): the folder of the images.
        annotation_file (str): the JSON file.
        task (str): Default ``"Detection"``.
        num_samples (int): at most this many rows. Default ``None``.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (bool): Default ``None``: yes.
        decode (bool): whether images are decoded. Default ``False``.
        sampler (Sampler): which rows. Default ``None``.
        num_shards (int): number of processes that share the rows. Default ``None``.
        shard_id (int): which of them this is. Default ``None``.
        cache (DatasetCache): kept for old programs. Default ``None``.
        extra_metadata (bool): must be ``False``. Default ``False``.
        decrypt (callable): turns a path into the bytes of an image. Default ``None``.

    Raises:
        ValueError: no such folder or file, or another task.
        RuntimeError: the annotations are no JSON, or lack what the task needs; a name leads out of the folder.
        NotImplementedError: ``extra_metadata``.
    """  # noqa: E501

    def __init__(
        self, dataset_dir: Any, annotation_file: Any, task: str = "Detection", num_samples: int | None = None,
        num_parallel_workers: int | None = None, shuffle: bool | None = None, decode: bool = False, sampler: Any = None,
        num_shards: int | None = None, shard_id: int | None = None, cache: Any = None, extra_metadata: bool = False,
        decrypt: Any = None,
    ) -> None:  # fmt: skip
        if task not in _COCO:
            raise ValueError(f"Invalid task type: {task}. It should be one of {', '.join(_COCO)}.")
        if not Path(annotation_file).is_file():
            raise ValueError(f"The file {annotation_file} does not exist or permission denied!")
        chosen = sampler_of(sampler, shuffle, num_samples, num_shards, shard_id)
        super().__init__(_folder(dataset_dir), chosen, num_parallel_workers, decode, extra_metadata, decrypt)
        self._task, self.columns = task, _COCO[task]
        try:
            about = json.loads(Path(annotation_file).read_text(encoding="utf-8"))
            self._read(about)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as exc:
            what = f"{exc.args[0]!r} is missing" if isinstance(exc, KeyError) else str(exc)
            raise RuntimeError(f"Invalid annotation file, {annotation_file} cannot be read: {what}.") from None

    def _read(self, about: dict[str, Any]) -> None:
        names = {image["id"]: str(image["file_name"]) for image in about["images"]}
        entries: dict[Any, list[dict[str, Any]]] = {number: [] for number in names}
        for entry in about["annotations"]:
            found = entry["segments_info"] if self._task == "Panoptic" else [entry]
            entries[entry["image_id"]].extend(found)
        self._rows = [(names[number], self._columns_of(found)) for number, found in entries.items() if found]
        things = about["categories"] if self._task in ("Detection", "Panoptic") else []
        extra = ("isthing",) if self._task == "Panoptic" else ()
        self._classes = {thing["name"]: [thing[key] for key in ("id", *extra)] for thing in things}

    def _columns_of(self, entries: list[dict[str, Any]]) -> tuple[np.ndarray, ...]:
        columns = []
        for name in self.columns:
            if name == "captions":
                columns.append(np.array([[str(entry["caption"])] for entry in entries]))
            elif name == "segmentation":
                columns.append(_segments([entry[name] for entry in entries]))
            elif name in _WIDTHS:
                rows = np.array([entry[name] for entry in entries], np.float32)
                if rows.ndim != 2 or rows.shape[1] != (_WIDTHS[name] or rows.shape[1]):
                    raise ValueError(f"{name} of the shape {rows.shape}")
                columns.append(rows)
            else:
                columns.append(_column([int(entry[name]) for entry in entries], np.uint32))
        return tuple(columns)

    def get_class_indexing(self) -> dict[str, list[int]]:
        """Of every class its number, and of panoptic ones whether it is of things.

        Raises:
            NotImplementedError: the task has no classes.
        """
        if self._task not in ("Detection", "Panoptic"):
            raise NotImplementedError("Only the tasks 'Detection' and 'Panoptic' have names of classes.")
        return {name: list(numbers) for name, numbers in self._classes.items()}

    def length(self):
        return len(self._rows)

    def row(self, index):
        name, columns = self._rows[index]
        return self.image(name), *[column.copy() for column in columns]


def _segments(found: list[Any]) -> np.ndarray:
    """Polygons, or run lengths of crowds, one per row."""
    rows = [part for entry in found for part in ([entry["counts"]] if isinstance(entry, dict) else entry)]
    result = np.full((len(rows), max(map(len, rows))), -1, np.float32)
    for row, part in zip(result, rows):
        row[: len(part)] = part
    return result
