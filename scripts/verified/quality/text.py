"""Text detection in pictures by RapidOCR (PP-OCR), whose weights are in its package."""

from functools import cache
from importlib.util import find_spec
from typing import Any

import cv2
import numpy as np

from verified.errors import InputError

NEEDED = ("rapidocr", "onnxruntime")


def missing_packages() -> list[str]:
    """Missing packages for text detection."""
    return [name for name in NEEDED if find_spec(name) is None]


def find_text(frame: np.ndarray) -> float:
    """Share of a picture (uint8 RGB [H, W, 3]) under written text, from 0 to 1. Raises InputError without the package.

    A line counts where it can be read: the detector alone takes patterns for text. Lines may overlap, so their
    quadrangles are drawn into one mask.
    """
    boxes = _reader()(np.ascontiguousarray(frame[..., ::-1]), use_det=True, use_cls=False, use_rec=True).boxes
    if boxes is None or not len(boxes):
        return 0.0
    mask = np.zeros(frame.shape[:2], np.uint8)
    for box in boxes:
        cv2.fillPoly(mask, [np.round(box).astype(np.int32)], 1)
    return round(float(mask.mean()), 4)


@cache
def _reader() -> Any:
    if missing := missing_packages():
        raise InputError(
            f"text in pictures is found by packages that are not installed: {', '.join(missing)}",
            remedy="pip install -r requirements-text.in (rapidocr and onnxruntime), or set quality.max_text to null",
        )
    from rapidocr import RapidOCR  # pyright: ignore[reportMissingImports] (an extra of requirements-text.in)

    # One thread: sums in another order would give other shares.
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
