"""Settings of features, as jobs get them."""

from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from verified.config.features import Features


def video_features(video_backbone: str, batch: int) -> Features:
    return Features(video_backbone=video_backbone, batch=batch)


def text_features(text_encoder: str, batch: int) -> Features:
    return Features(text_encoder=text_encoder, batch=batch)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], **attributes: object) -> None:
    """An HDF5 file of features as somebody else makes it, faults included."""
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for key, values in arrays.items():
            file.create_dataset(key, data=values)
