"""Operations on images, under the names of ``mindspore.dataset.vision``.

They take and give arrays of shape (H, W, C) or (H, W); given one of Pillow's images they give one. Compressed images,
files and what moves or equalizes pixels need Pillow: ``pip install 'duograph[data]'``.
"""

from __future__ import annotations

from duograph.base.public import saying_why

from .augment import (
    AutoAugment,
    AutoAugmentPolicy,
    CutMixBatch,
    MixUp,
    MixUpBatch,
    RandAugment,
    RandomSelectSubpolicy,
    TrivialAugmentWide,
    UniformAugment,
)
from .basic import (
    HWC2CHW,
    CenterCrop,
    Crop,
    HorizontalFlip,
    Normalize,
    NormalizePad,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Rescale,
    Resize,
    ToTensor,
    ToType,
    VerticalFlip,
)
from .boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from .colour import (
    AdjustBrightness,
    AdjustContrast,
    AdjustGamma,
    AdjustHue,
    AdjustSaturation,
    AdjustSharpness,
    AutoContrast,
    ConvertColor,
    Equalize,
    Grayscale,
    HsvToRgb,
    Invert,
    Posterize,
    RandomAdjustSharpness,
    RandomAutoContrast,
    RandomColor,
    RandomColorAdjust,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomLighting,
    RandomPosterize,
    RandomSharpness,
    RandomSolarize,
    RgbToHsv,
    Solarize,
)
from .files import (
    Decode,
    RandomCropDecodeResize,
    ToNumpy,
    ToPIL,
    encode_jpeg,
    encode_png,
    get_image_num_channels,
    get_image_size,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from .geometry import (
    Affine,
    GaussianBlur,
    Perspective,
    RandomAffine,
    RandomPerspective,
    RandomRotation,
    Rotate,
)
from .parts import (
    CutOut,
    Erase,
    FiveCrop,
    LinearTransformation,
    PadToSize,
    RandomErasing,
    RandomResize,
    ResizedCrop,
    SlicePatches,
    TenCrop,
)
from .pictures import Border, ConvertMode, ImageBatchFormat, ImageReadMode, Inter, SliceMode

__all__ = [
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "Affine",
    "AutoAugment", "AutoAugmentPolicy", "AutoContrast", "Border", "BoundingBoxAugment", "CenterCrop", "ConvertColor",
    "ConvertMode", "Crop", "CutMixBatch", "CutOut", "Decode", "Equalize", "Erase", "FiveCrop", "GaussianBlur",
    "Grayscale", "HWC2CHW", "HorizontalFlip", "HsvToRgb", "ImageBatchFormat", "ImageReadMode", "Inter", "Invert",
    "LinearTransformation", "MixUp", "MixUpBatch", "Normalize", "NormalizePad", "Pad", "PadToSize", "Perspective",
    "Posterize", "RandAugment", "RandomAdjustSharpness", "RandomAffine", "RandomAutoContrast", "RandomColor",
    "RandomColorAdjust", "RandomCrop", "RandomCropDecodeResize", "RandomCropWithBBox", "RandomEqualize",
    "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomHorizontalFlipWithBBox", "RandomInvert",
    "RandomLighting", "RandomPerspective", "RandomPosterize", "RandomResize", "RandomResizeWithBBox",
    "RandomResizedCrop", "RandomResizedCropWithBBox", "RandomRotation", "RandomSelectSubpolicy", "RandomSharpness",
    "RandomSolarize", "RandomVerticalFlip", "RandomVerticalFlipWithBBox", "Rescale", "Resize", "ResizeWithBBox",
    "ResizedCrop", "RgbToHsv", "Rotate", "SliceMode", "SlicePatches", "Solarize", "TenCrop", "ToNumpy", "ToPIL",
    "ToTensor", "ToType", "TrivialAugmentWide", "UniformAugment", "VerticalFlip", "encode_jpeg", "encode_png",
    "get_image_num_channels", "get_image_size", "read_file", "read_image", "write_file", "write_jpeg", "write_png",
]  # fmt: skip

__getattr__ = saying_why(__name__)
