"""Folders in the layouts of VOC, Coco, IMDB and of TFRecord files, as tests and comparisons make them."""

import json
from pathlib import Path

import numpy as np

from duograph.core.protobuf import messages
from duograph.core.recordfile import framed

EXAMPLE = messages("tests_example", """
message Example {
    message Bytes { repeated bytes value = 1; }
    message Floats { repeated float value = 1; }
    message Ints { repeated int64 value = 1; }
    message Feature { optional Bytes bytes_list = 1; optional Floats float_list = 2; optional Ints int64_list = 3; }
    message Entry { optional string key = 1; optional Feature value = 2; }
    message Features { repeated Entry feature = 1; }
    optional Features features = 1;
}
""")["Example"]  # fmt: skip


def example(values):
    """A serialised tf.train.Example."""
    made = EXAMPLE()
    for key, items in values.items():
        entry = made.features.feature.add(key=key)
        kind = {bytes: "bytes_list", float: "float_list", int: "int64_list"}[type(items[0])]
        getattr(entry.value, kind).value.extend(items)
    return made.SerializeToString()


def write_tfrecord(path, rows):
    Path(path).write_bytes(b"".join(framed(example(row)) for row in rows))


TF_ROWS = [{"i": [n, n + 1], "f": [n / 2], "s": [b"text%d" % n], "t": [b"a", b"b"]} for n in range(4)]

OBJECT = """<object><name>{name}</name><truncated>{truncated}</truncated><difficult>{difficult}</difficult>
<bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"""


def write_image(path, shape, seed, mode="RGB"):
    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 5 if mode == "L" else 256, shape).astype(np.uint8)
    Image.fromarray(pixels).save(path)


def write_voc(root):
    root = Path(root)
    for name in ("Annotations", "JPEGImages", "SegmentationClass", "ImageSets/Main", "ImageSets/Segmentation"):
        (root / name).mkdir(parents=True)
    objects = {
        "a": [("dog", 0, 1, (1, 2, 5, 6)), ("cat", 1, 0, (1, 1, 3, 4))],
        "b": [("car", 0, 0, (2, 2, 4, 7))],
        "c": [("cat", 0, 0, (1, 1, 2, 2))],
    }
    for i, (name, found) in enumerate(objects.items()):
        write_image(root / "JPEGImages" / f"{name}.jpg", (8, 6 + i, 3), i)
        write_image(root / "SegmentationClass" / f"{name}.png", (8, 6 + i, 3), i + 10)
        parts = [OBJECT.format(*box, name=n, truncated=t, difficult=d) for n, d, t, box in found]
        (root / "Annotations" / f"{name}.xml").write_text(f"<annotation>{''.join(parts)}</annotation>")
    for task in ("Main", "Segmentation"):
        (root / "ImageSets" / task / "train.txt").write_text("a\nb\nc\n")


def write_coco(root):
    root = Path(root)
    (root / "images").mkdir(parents=True)
    images = [{"id": n, "file_name": f"{n}.jpg"} for n in (5, 2, 9)]
    for i, image in enumerate(images):
        write_image(root / "images" / image["file_name"], (6, 7, 3), i)
    annotations = [
        {
            "id": 1,
            "image_id": 2,
            "category_id": 7,
            "iscrowd": 0,
            "bbox": [1, 2, 3, 4],
            "segmentation": [[1.0, 2, 3, 4, 5, 6]],
            "keypoints": list(range(51)),
            "num_keypoints": 9,
        },
        {
            "id": 2,
            "image_id": 5,
            "category_id": 3,
            "iscrowd": 1,
            "bbox": [0, 0.5, 3, 2],
            "segmentation": {"counts": [4, 5, 6], "size": [2, 3]},
            "keypoints": list(range(1, 52)),
            "num_keypoints": 3,
        },
        {
            "id": 3,
            "image_id": 2,
            "category_id": 3,
            "iscrowd": 0,
            "bbox": [2, 2, 1, 1],
            "segmentation": [[1.0, 2], [7.0, 8, 9, 10]],
            "keypoints": list(range(51)),
            "num_keypoints": 1,
        },
    ]
    categories = [{"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}]
    about = {"images": images, "annotations": annotations, "categories": categories}
    (root / "instances.json").write_text(json.dumps(about))
    segments = [
        {
            "image_id": 2,
            "segments_info": [
                {"category_id": 7, "iscrowd": 0, "bbox": [1, 2, 3, 4], "area": 12},
                {"category_id": 3, "iscrowd": 1, "bbox": [0, 0, 1, 1], "area": 1},
            ],
        },
        {"image_id": 9, "segments_info": [{"category_id": 3, "iscrowd": 0, "bbox": [1, 1, 2, 2], "area": 4}]},
    ]
    things = [{**c, "isthing": i} for i, c in enumerate(categories)]
    (root / "panoptic.json").write_text(json.dumps({"images": images, "annotations": segments, "categories": things}))
    captions = [{"id": i, "image_id": n, "caption": f"caption {i}"} for i, n in enumerate((2, 9, 2))]
    (root / "captions.json").write_text(json.dumps({"images": images, "annotations": captions}))


def write_imdb(root):
    for usage in ("train", "test"):
        for label in ("pos", "neg"):
            folder = Path(root) / usage / label
            folder.mkdir(parents=True)
            for i in range(2):
                (folder / f"{i}_{7 + i}.txt").write_text(f"{usage} {label} {i}")
