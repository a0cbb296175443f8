"""Settings of features, as jobs get them."""

from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from verified.config.features import TextFeatures, VideoFeatures


def video_features(video_backbone: str, batch: int) -> VideoFeatures:
    return VideoFeatures(
        video_backbone=video_backbone, video_revision="", fps=4.0, precision="float32", batch=batch, threads=1, gpu=0
    )


def text_features(text_encoder: str, batch: int) -> TextFeatures:
    return TextFeatures(text_encoder=text_encoder, text_revision="", batch=batch, threads=1, gpu=0)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], **attributes: object) -> None:
    """An HDF5 file of features as somebody else makes it, faults included."""
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for key, values in arrays.items():
            file.create_dataset(key, data=values)
