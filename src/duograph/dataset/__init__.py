"""Data sets and input pipelines under ``mindspore.dataset``'s names: plain NumPy, evaluated row by row when asked.

    import duograph.dataset as ds
    pipeline = ds.NumpySlicesDataset({"x": xs, "y": ys}).shuffle(1000).batch(32)
    for x, y in pipeline:
        ...

Pipelines are described first (`dataset.py`: a tree of nodes) and run by iterators; every random choice is drawn from
``config.set_seed`` (or ``set_seed``), the node's place in the tree and the epoch, so that equal seeds give equal rows.
"""

from duograph.base.public import saying_why

from . import audio, config, text, transforms, vision
from .annotated import CocoDataset, VOCDataset
from .batches import Batch as BatchDataset  # its nodes and those of `nodes` enter themselves, see `dataset.NODES`
from .dataset import BatchInfo, Dataset, zip
from .files import (
    Cifar10Dataset,
    Cifar100Dataset,
    CSVDataset,
    FashionMnistDataset,
    IMDBDataset,
    MnistDataset,
    TextFileDataset,
)
from .nodes import Take as TakeDataset
from .records import ImageFolderDataset, MindDataset
from .samplers import (
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from .sources import GeneratorDataset, NumpySlicesDataset, PaddedDataset, TextBaseDataset, VisionBaseDataset
from .tfrecord import Schema, TFRecordDataset
from .transforms import Shuffle

__all__ = [
    "BatchDataset", "BatchInfo", "CSVDataset", "Cifar10Dataset", "Cifar100Dataset", "CocoDataset", "Dataset",
    "DistributedSampler", "FashionMnistDataset", "GeneratorDataset", "IMDBDataset", "ImageFolderDataset", "MindDataset",
    "MnistDataset", "NumpySlicesDataset", "PKSampler", "PaddedDataset",
    "RandomSampler", "Sampler", "Schema", "SequentialSampler", "Shuffle", "SubsetRandomSampler", "SubsetSampler",
    "TFRecordDataset", "TakeDataset", "TextBaseDataset", "TextFileDataset", "VOCDataset", "VisionBaseDataset",
    "WeightedRandomSampler", "audio", "config", "text", "transforms", "vision", "zip",
]  # fmt: skip

__getattr__ = saying_why(__name__)
