"""A small ResNet on a folder of pictures: trained, kept, and trained on for other classes with frozen layers.

Pictures of shapes are drawn into one folder per class. The network learns them from `ImageFolderDataset` with
augmentation, a progress bar and curves for TensorBoard; the checkpoint is loaded into a network with another head, of
which only that and the last block learn; the result is exported as MindIR and ONNX, read again, and compared.

    python examples/pictures.py --folder /tmp/pictures
    tensorboard --logdir /tmp/pictures/curves
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import duograph as ms
import duograph.dataset as ds
from duograph import Tensor, nn, ops
from duograph.dataset import vision

SIZE = 24


def draw(folder, shapes, count, seed):
    """``count`` pictures of every shape, as files ``folder/SHAPE/N.png``."""
    random = np.random.default_rng(seed)
    for shape in shapes:
        (folder / shape).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picture = Image.fromarray(random.integers(0, 90, (SIZE, SIZE, 3)).astype(np.uint8))
            left, top = random.integers(2, 8, 2)
            size, colour = random.integers(9, 14), tuple(random.integers(120, 256, 3).tolist())
            box, pen = (left, top, left + size, top + size), ImageDraw.Draw(picture)
            if shape == "circle":
                pen.ellipse(box, fill=colour)
            elif shape == "square":
                pen.rectangle(box, fill=colour)
            elif shape == "cross":
                pen.line(box, fill=colour, width=3)
                pen.line((box[0], box[3], box[2], box[1]), fill=colour, width=3)
            else:
                pen.ellipse(box, outline=colour, width=2)
            picture.save(folder / shape / f"{number:03}.png")


def pictures_of(folder, train):
    """Batches of a folder's pictures; those for training are turned and moved."""
    data = ds.ImageFolderDataset(str(folder), decode=True, shuffle=train, num_parallel_workers=2)
    changes = [vision.RandomHorizontalFlip(), vision.RandomCrop(SIZE, padding=2)] if train else []
    scale = [vision.Normalize([127.0] * 3, [64.0] * 3), vision.HWC2CHW()]
    return data.map([*changes, *scale], "image").batch(16, drop_remainder=train)


class Residual(nn.Cell):
    """Two convolutions and a way around them."""

    def __init__(self, given, channels, stride):
        super().__init__()
        self.first = nn.Conv2d(given, channels, 3, stride)
        self.second = nn.Conv2d(channels, channels, 3)
        self.norms = nn.CellList([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)])
        self.around = nn.Conv2d(given, channels, 1, stride)

    def construct(self, x):
        y = ops.relu(self.norms[0](self.first(x)))
        return ops.relu(self.norms[1](self.second(y)) + self.around(x))


class ResNet(nn.Cell):
    """Three residual blocks and a head."""

    def __init__(self, classes):
        super().__init__()
        self.body = nn.SequentialCell(Residual(3, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2))
        self.head = nn.Dense(32, classes)

    def construct(self, x):
        return self.head(self.body(x).mean((2, 3)))


def train(network, weights, data, epochs, callbacks):
    """Trains ``weights`` of a network, and gives the model."""
    optimizer = nn.Adam(weights, learning_rate=5e-3)
    model = ms.Model(network, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy"})
    model.train(epochs, data, callbacks=callbacks)
    return model


def run(folder, epochs, count):
    """Everything; gives the accuracies and a digest of the weights and outputs."""
    ms.set_seed(7)
    draw(folder / "train", ("circle", "square"), count, 0)
    draw(folder / "test", ("circle", "square"), count // 2, 1)
    draw(folder / "other", ("cross", "ring"), count, 2)
    draw(folder / "other_test", ("cross", "ring"), count // 2, 3)

    network = ResNet(2)
    curves = ms.SummaryCollector(str(folder / "curves"), collect_freq=4)
    model = train(network, network.trainable_params(), pictures_of(folder / "train", True), epochs, [curves])
    accuracies = [model.eval(pictures_of(folder / "test", False))["accuracy"]]
    checkpoint = str(folder / "shapes.ckpt")
    ms.save_checkpoint(network, checkpoint)

    other = ResNet(2)
    body = {name: value for name, value in ms.load_checkpoint(checkpoint).items() if name.startswith("body")}
    ms.load_param_into_net(other, {**body, **{p.name: p for p in other.head.get_parameters()}})
    for block in other.body[:2]:
        for parameter in block.get_parameters():
            parameter.requires_grad = False
    frozen = other.body[0].first.weight.asnumpy().copy()
    model = train(other, other.trainable_params(), pictures_of(folder / "other", True), epochs, [])
    assert np.array_equal(frozen, other.body[0].first.weight.asnumpy())
    accuracies.append(model.eval(pictures_of(folder / "other_test", False))["accuracy"])

    images, _ = next(pictures_of(folder / "other_test", False).create_tuple_iterator())
    other.set_train(False)
    expected = other(images).asnumpy()
    open_batch = Tensor(shape=[None, 3, SIZE, SIZE], dtype=ms.float32)
    ms.export(other, open_batch, file_name=str(folder / "shapes"), file_format="MINDIR")
    ms.export(other, open_batch, file_name=str(folder / "shapes"), file_format="ONNX")
    again = nn.GraphCell(ms.load(str(folder / "shapes.mindir")))(images).asnumpy()
    by_onnx = ms.onnx.load(str(folder / "shapes.onnx"))(images).asnumpy()
    assert np.array_equal(again, expected)
    np.testing.assert_allclose(by_onnx, expected, rtol=1e-4, atol=1e-5)
    weights = b"".join(parameter.asnumpy().tobytes() for parameter in other.get_parameters())
    return accuracies, hashlib.sha256(weights + expected.tobytes()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("pictures"), help="where pictures and results go")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--count", type=int, default=128, help="pictures of each class")
    parser.add_argument("--graph", action="store_true", help="graph mode; the results have the same bits")
    given = parser.parse_args()
    if given.graph:
        ms.set_context(mode=ms.GRAPH_MODE)
    accuracies, digest = run(given.folder, given.epochs, given.count)
    print(f"shapes: {accuracies[0]:.0%}, other shapes with two frozen blocks: {accuracies[1]:.0%}, bits: {digest}")


if __name__ == "__main__":
    main()
