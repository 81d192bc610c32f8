"""Operations on images: what MindSpore gives, random choices, files, and bad input."""

from __future__ import annotations

import io
import json
import pathlib
import re
import sys

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import duograph as ms
import duograph.dataset as ds
from duograph.dataset import vision as v
from duograph.dataset.transforms import RandomOperation

from . import vision_cases

EXPECTED = json.loads(pathlib.Path(__file__).with_name("mindspore.json").read_text())
CASES = vision_cases.cases(v)


@pytest.mark.parametrize("name", CASES)
def test_what_mindspore_gives(name):
    made = CASES[name](vision_cases.image())
    made = made if isinstance(made, tuple) else (made,)
    for array, expected in zip(made, vision_cases.unpacked(EXPECTED[name]), strict=True):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        away = np.abs(array.astype(np.float64) - expected.astype(np.float64)).max()
        assert away <= (1 if expected.dtype.kind == "u" else 1e-5)  # OpenCV rounds at other places


def test_what_stands_for_linear_where_mindspore_takes_it_so():
    corners = [[0, 0], [14, 0], [14, 15], [0, 15]], [[1, 2], [12, 1], [11, 13], [2, 11]]
    made = [v.Perspective(*corners, way)(vision_cases.image()) for way in (v.Inter.LINEAR, v.Inter.PILCUBIC)]
    assert made[0].tobytes() == made[1].tobytes()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, bool])
@pytest.mark.parametrize("shape", [(7, 5, 3), (7, 5, 1), (7, 5), (2, 3, 4)])
def test_operations_that_are_done_together_give_the_same_bits(dtype, shape):
    image = (np.random.default_rng(0).standard_normal(shape) * 300).astype(dtype)
    for mean, std in (([121.0, 0.3, 7.7], [0.3, 70.1, 255.0]), ([0.4], [0.3])):
        for before in ([], [v.Rescale(1 / 255, 0.0)], [v.RandomHorizontalFlip(1.0), v.Rescale(-2.5, -0.3)]):
            steps = [*before, v.Normalize(mean, std), v.HWC2CHW()]
            rows = ds.NumpySlicesDataset([image], shuffle=False).map(steps).create_tuple_iterator(output_numpy=True)
            if len(mean) > 1 and shape[2:] != (3,):
                with pytest.raises(RuntimeError, match="number of channels does not match"):
                    next(rows)
                continue
            expected = image
            for step in steps:
                expected = step(expected)
            (made,) = next(rows)
            assert (made.dtype, made.shape, made.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def _random():
    flip = v.RandomHorizontalFlip(1.0)
    return {
        "AutoAugment": v.AutoAugment(),
        "AutoAugment, CIFAR": v.AutoAugment(v.AutoAugmentPolicy.CIFAR10),
        "AutoAugment, SVHN": v.AutoAugment(v.AutoAugmentPolicy.SVHN),
        "CutOut": v.CutOut(4, 2),
        "RandAugment": v.RandAugment(3, 20),
        "RandomAdjustSharpness": v.RandomAdjustSharpness(2.0),
        "RandomAffine": v.RandomAffine(15, (-0.1, 0.1, 0, 0), (0.9, 1.1), (-5, 5)),
        "RandomAutoContrast": v.RandomAutoContrast(),
        "RandomColor": v.RandomColor(),
        "RandomColorAdjust": v.RandomColorAdjust(0.4, 0.4, 0.4, 0.1),
        "RandomCrop": v.RandomCrop(8, 2),
        "RandomEqualize": v.RandomEqualize(),
        "RandomErasing": lambda x: v.RandomErasing(1.0)(x.transpose(2, 0, 1)),
        "RandomGrayscale": v.RandomGrayscale(0.5),
        "RandomInvert": v.RandomInvert(),
        "RandomLighting": v.RandomLighting(0.1),
        "RandomPerspective": v.RandomPerspective(0.4, 1.0),
        "RandomPosterize": v.RandomPosterize((2, 6)),
        "RandomResize": v.RandomResize((9, 10)),
        "RandomResizedCrop": v.RandomResizedCrop(8),
        "RandomRotation": v.RandomRotation(30),
        "RandomSelectSubpolicy": v.RandomSelectSubpolicy([[(flip, 0.5)], [(v.RandomInvert(1.0), 0.5), (flip, 1)]]),
        "RandomSharpness": v.RandomSharpness(),
        "RandomSolarize": v.RandomSolarize((10, 200)),
        "RandomVerticalFlip": v.RandomVerticalFlip(),
        "TrivialAugmentWide": v.TrivialAugmentWide(),
        "UniformAugment": v.UniformAugment([flip, v.RandomInvert(1.0), v.RandomColor()], 2),
    }


@pytest.mark.parametrize("name", _random())
def test_random_choices_come_from_the_generator_alone(name):
    image, step = vision_cases.image(), _random()[name]
    if not isinstance(step, RandomOperation):
        assert step(image).shape == (3, 16, 15)
        return
    found = set()
    for seed in range(40):
        made = []
        for _ in range(2):
            step.reseed(np.random.default_rng(seed))
            made.append(np.asarray(step(image.copy())))
        assert made[0].tobytes() == made[1].tobytes()
        assert made[0].dtype == np.uint8
        found.add(made[0].tobytes())
    assert len(found) > 1
    np.testing.assert_array_equal(image, vision_cases.image())


def test_images_of_pillow_give_images_of_pillow():
    image = vision_cases.image()
    made = v.Rotate(30.0)(Image.fromarray(image))
    assert isinstance(made, Image.Image)
    np.testing.assert_array_equal(np.asarray(made), v.Rotate(30.0)(image))
    assert isinstance(v.RandomInvert(0.0)(Image.fromarray(image)), Image.Image)
    assert [x.size for x in map(v.ToPIL(), v.FiveCrop(8)(image))] == [(8, 8)] * 5
    np.testing.assert_array_equal(v.ToNumpy()(v.ToPIL()(image)), image)
    assert v.TenCrop((4, 5))(image)[5].shape == (4, 5, 3)


def test_mixing():
    images, labels = np.stack([vision_cases.image(), 255 - vision_cases.image()]), np.eye(2, dtype=np.float32)
    for step in (v.MixUpBatch(0.9), v.CutMixBatch(v.ImageBatchFormat.NHWC), v.MixUp(2, 0.9), v.MixUp(2, 0.9, False)):
        step.reseed(np.random.default_rng(1))
        made, mixed = step(images, labels)
        assert made.shape == images.shape
        np.testing.assert_allclose(mixed.sum(1), 1.0, rtol=1e-6)
    first = v.CutMixBatch(v.ImageBatchFormat.NCHW)(images.transpose(0, 3, 1, 2), labels)[0]
    assert first.shape == (2, 3, 16, 15)
    with pytest.raises(RuntimeError, match="one-hot"):
        v.MixUpBatch()(images, np.array([0, 1]))


def test_boxes_move_with_images():
    image, boxes = vision_cases.image(), np.array([[1, 2, 5, 6]], np.float32)
    assert v.RandomHorizontalFlipWithBBox(1.0)(image, boxes)[1].tolist() == [[9, 2, 5, 6]]
    assert v.RandomVerticalFlipWithBBox(1.0)(image, boxes)[1].tolist() == [[1, 8, 5, 6]]
    assert v.ResizeWithBBox((32, 30))(image, boxes)[1].tolist() == [[2, 4, 10, 12]]
    step = v.RandomCropWithBBox(8, 1)
    for seed in range(20):
        step.reseed(np.random.default_rng(seed))
        made, moved = step(image, boxes)
        for x, y, w, h in moved.astype(int):
            part = made[y : y + h, x : x + w]
            places = [
                (r, c) for r in range(16) for c in range(15)
                if r + h <= 16 and c + w <= 15 and (image[r : r + h, c : c + w] == part).all()
            ]  # fmt: skip
            assert not w or all(2 <= r <= 8 and 1 <= c <= 6 for r, c in places)
    made, moved = v.BoundingBoxAugment(v.RandomInvert(1.0), 1.0)(image, boxes)
    assert (made[2:8, 1:6] == 255 - image[2:8, 1:6]).all()
    assert (made[8:] == image[8:]).all()
    with pytest.raises(RuntimeError, match="not inside the image of 16 x 15"):
        v.RandomHorizontalFlipWithBBox(1.0)(image, np.array([[1, 2, 50, 6]]))


def test_files(tmp_path):
    image, path = vision_cases.image(), str(tmp_path / "a.png")
    v.write_png(path, image)
    np.testing.assert_array_equal(v.read_image(path), image)
    assert v.read_image(path, v.ImageReadMode.GRAYSCALE).shape == (16, 15, 1)
    v.write_jpeg(str(tmp_path / "a.jpg"), image, 95)
    assert np.abs(v.read_image(str(tmp_path / "a.jpg")).astype(int) - image).mean() < 20
    v.write_file(path, v.encode_png(image[..., 0]))
    assert v.read_image(path).shape == (16, 15, 1)
    assert (v.get_image_size(image), v.get_image_num_channels(image)) == ([16, 15], 3)
    assert isinstance(v.Decode(to_pil=True)(v.read_file(path)), Image.Image)
    assert v.RandomCropDecodeResize(8)(v.encode_png(image)).shape == (8, 8, 3)


def _bytes(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return np.frombuffer(out.getvalue(), np.uint8)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_odd_images_are_decoded_to_rgb(mode):
    image = Image.fromarray(vision_cases.image())
    image = Image.fromarray(np.arange(240, dtype=np.uint16).reshape(16, 15)) if mode == "I;16" else image.convert(mode)
    made = v.Decode()(_bytes(image, "TIFF" if mode == "CMYK" else "PNG"))
    assert (made.shape, made.dtype) == ((16, 15, 3), np.uint8)


@pytest.mark.parametrize("data", [b"", b"no image", b"\x89PNG\r\n\x1a\n", None], ids=["empty", "text", "head", "cut"])
def test_damaged_images_name_their_file(tmp_path, data):
    for kind in ("a", "b"):
        (tmp_path / kind).mkdir()
        v.write_png(str(tmp_path / kind / "good.png"), vision_cases.image())
    whole = (tmp_path / "a" / "good.png").read_bytes()
    (tmp_path / "b" / "wrong.png").write_bytes(whole[: len(whole) // 2] if data is None else data)
    images = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
    pipeline = images.map(v.Decode(), "image")
    for made in (pipeline, images.map(v.Decode(), "image", num_parallel_workers=2, python_multiprocessing=True)):
        with pytest.raises(RuntimeError, match=r"wrong\.png: the image cannot be decoded"):
            list(made)
    try:
        for mode, count in ((ds.config.ErrorSamplesMode.SKIP, 2), (ds.config.ErrorSamplesMode.REPLACE, 3)):
            ds.config.set_error_samples_mode(mode)
            assert len(list(pipeline)) == count
    finally:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


def test_images_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    with pytest.raises(RuntimeError, match="MAX_IMAGE_PIXELS is the limit"):
        v.Decode()(v.encode_png(vision_cases.image()))


@pytest.mark.parametrize("channels", [(), (3,), (4,)], ids=["grey", "colours", "transparent"])
def test_pillow_does_what_it_can_with_its_images(channels):
    """As MindSpore's operations do: Pillow smooths when it makes images smaller, OpenCV does not."""
    ways = Image.Resampling
    pixels = np.random.default_rng(0).integers(0, 256, (37, 50, *channels), dtype=np.uint8)
    picture, fill = Image.fromarray(pixels), (7,) * channels[0] if channels else 7
    pairs = [
        (
            v.Rotate(30, v.Inter.LINEAR, True, None, 7)(picture),
            picture.rotate(30, ways.BILINEAR, True, None, None, fill),
        ),
        (v.AdjustBrightness(1.3)(picture), ImageEnhance.Brightness(picture).enhance(1.3)),
        (v.AdjustContrast(1.3)(picture), ImageEnhance.Contrast(picture).enhance(1.3)),
        (v.AdjustSaturation(1.3)(picture), ImageEnhance.Color(picture).enhance(1.3)),
        (v.AdjustSharpness(1.3)(picture), ImageEnhance.Sharpness(picture).enhance(1.3)),
        (v.CenterCrop((20, 15))(picture), picture.crop((18, 8, 33, 28))),  # halves are rounded to even
        (v.CenterCrop((40, 15))(picture), picture.crop((18, -2, 33, 38))),
        (v.Grayscale()(picture), picture.convert("L")),
    ]
    for inter, way in ((v.Inter.NEAREST, ways.NEAREST), (v.Inter.LINEAR, ways.BILINEAR), (v.Inter.CUBIC, ways.BICUBIC)):
        pairs.append((v.Resize((20, 70), inter)(picture), picture.resize((70, 20), way)))
    if channels != (4,):
        pairs.append((v.Equalize()(picture), ImageOps.equalize(picture)))
    for made, expected in pairs:
        assert (made.mode, made.size) == (expected.mode, expected.size)
        np.testing.assert_array_equal(np.asarray(made), np.asarray(expected))
    assert {type(part) for part in v.FiveCrop(8)(picture)} == {np.ndarray}


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(RuntimeError, match=r"pip install 'duograph\[data\]'"):
        v.Decode()(np.zeros(3, np.uint8))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: v.AdjustHue(0.7), ValueError),
        (lambda: v.AdjustBrightness("1"), TypeError),
        (lambda: v.Affine(1, [0, 2], 1, 0), ValueError),
        (lambda: v.Affine(1, [0, 0], 0, 0), ValueError),
        (lambda: v.GaussianBlur(4), ValueError),
        (lambda: v.Perspective([[0, 0]], [[1, 1]]), TypeError),
        (lambda: v.Perspective([[0, 0], [1, 1], [2, 2], [3, 3]], [[0, 0], [1, 0], [1, 1], [0, 1]]), ValueError),
        (lambda: v.Posterize(9), ValueError),
        (lambda: v.Solarize((20, 10)), ValueError),
        (lambda: v.RandAugment(magnitude=31), ValueError),
        (lambda: v.Rotate(3, resample=2), TypeError),
        (lambda: v.RandomColorAdjust(hue=(-1, 1)), ValueError),
        (lambda: v.Equalize()(np.zeros((3, 3, 3), np.float32)), TypeError),
        (lambda: v.AdjustContrast(1.0)(np.zeros((3, 3), np.uint8)), RuntimeError),
        (lambda: v.ConvertColor(v.ConvertMode.COLOR_RGBA2RGB)(np.zeros((3, 3, 3), np.uint8)), RuntimeError),
        (lambda: v.Rotate(3.0, fill_value=(1, 2))(np.zeros((3, 3, 3), np.uint8)), RuntimeError),
        (lambda: v.ToPIL()(np.zeros((3, 3, 5), np.uint8)), RuntimeError),
        (lambda: v.Decode()(np.zeros((3, 3), np.uint8)), TypeError),
        (lambda: v.read_image("/no/such/file"), RuntimeError),
        (lambda: v.write_png("/no/such/folder/a.png", np.zeros((3, 3), np.uint8)), RuntimeError),
        (lambda: v.encode_jpeg(np.zeros((3, 3), np.uint8), 101), ValueError),
        (lambda: v.PadToSize(2)(np.zeros((3, 3), np.uint8)), RuntimeError),
    ],
)
def test_bad_input(make, error):
    with pytest.raises(error):
        make()


def test_sixteen_bits_become_their_upper_eight(tmp_path):
    values = np.array([[0, 255, 256, 1000], [30000, 65535, 128, 65280]], np.uint16)
    path = str(tmp_path / "deep.png")
    Image.fromarray(values).save(path)
    found = v.Decode()(np.fromfile(path, np.uint8))
    np.testing.assert_array_equal(found, np.repeat((values >> 8)[..., None], 3, 2))
    np.testing.assert_array_equal(v.read_image(path, v.ImageReadMode.GRAYSCALE)[..., 0], values >> 8)
    np.testing.assert_array_equal(v.read_image(path)[..., 0], values)


def test_images_of_one_bit_have_one_channel(tmp_path):
    path = str(tmp_path / "one.png")
    Image.fromarray(np.array([[True, False], [False, True]])).save(path)
    np.testing.assert_array_equal(v.read_image(path)[..., 0], [[255, 0], [0, 255]])
    assert v.Decode()(np.fromfile(path, np.uint8)).shape == (2, 2, 3)


def test_unchanged_images_keep_their_transparency(tmp_path):
    colours = np.random.default_rng(0).integers(0, 255, (5, 6, 4)).astype(np.uint8)
    pictures = {
        "rgba": Image.fromarray(colours),
        "la": Image.fromarray(np.ascontiguousarray(colours[..., 2:]), "LA"),
        "palette": Image.fromarray(colours).quantize(8),
    }
    for name, picture in pictures.items():
        path = str(tmp_path / f"{name}.png")
        picture.save(path)
        expected = np.array(picture.convert("RGBA"))
        np.testing.assert_array_equal(v.read_image(path), expected)
        np.testing.assert_array_equal(v.read_image(path, v.ImageReadMode.COLOR), expected[..., :3])
        assert v.read_image(path, v.ImageReadMode.GRAYSCALE).shape == (5, 6, 1)
        assert v.Decode()(np.fromfile(path, np.uint8)).shape == (5, 6, 3)
    opaque = str(tmp_path / "opaque.png")
    Image.fromarray(colours[..., :3]).quantize(8).save(opaque)
    assert v.read_image(opaque).shape == (5, 6, 3)


def test_pictures_that_are_cut_off_name_their_file_or_are_left_out(tmp_path):
    (tmp_path / "a").mkdir()
    whole, cut = tmp_path / "a" / "1.jpg", tmp_path / "a" / "2.jpg"
    v.write_jpeg(str(whole), vision_cases.image(), 95)
    cut.write_bytes(whole.read_bytes()[:-200])
    said = rf"{re.escape(str(cut))}: the image cannot be decoded: image file is truncated"
    with pytest.raises(RuntimeError, match=said):
        v.read_image(str(cut))
    with pytest.raises(RuntimeError, match=said):
        list(ds.ImageFolderDataset(str(tmp_path), decode=True, shuffle=False))
    found = ds.ImageFolderDataset(str(tmp_path), shuffle=False).map([v.Decode()], "image")
    with pytest.raises(RuntimeError, match=said):
        list(found)
    kept = ds.config.get_error_samples_mode()
    try:
        for mode, count in ((ds.config.ErrorSamplesMode.SKIP, 1), (ds.config.ErrorSamplesMode.REPLACE, 2)):
            ds.config.set_error_samples_mode(mode)
            assert len(list(found)) == count
    finally:
        ds.config.set_error_samples_mode(kept)


def test_normalize_of_py_transforms_has_channels_first():
    ms.install_as_mindspore()
    import mindspore.dataset.vision.py_transforms as py_vision  # type: ignore[import-not-found]

    image = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    got = py_vision.Normalize([1, 2, 3], [2, 4, 8])(image)
    assert np.array_equal(got, (image - np.array([1, 2, 3]).reshape(3, 1, 1)) / np.array([2, 4, 8]).reshape(3, 1, 1))
    assert py_vision.NormalizePad([1, 2, 3], [2, 4, 8])(image).shape == (4, 2, 4)
    assert py_vision.ToTensor is ms.dataset.vision.ToTensor


@pytest.mark.parametrize("given", ["image.png", None, {"image": 1}])
def test_what_is_no_image_is_a_type_error(given):
    for operation in (v.CenterCrop(2), v.HWC2CHW(), v.get_image_num_channels):
        with pytest.raises(TypeError, match="NumPy or PIL image, got <class"):
            operation(given)


@pytest.mark.parametrize("operation", [v.Resize(3), v.GaussianBlur(3), v.Equalize(), v.AdjustContrast(0.5), v.ToPIL()])
def test_images_without_pixels_are_refused(operation):
    with pytest.raises(RuntimeError, match=r"shape \(0, 5, 3\) has no pixels"):
        operation(np.zeros((0, 5, 3), np.uint8))
