"""Content scores: how much a frame differs from the one before it, by PySceneDetect's ContentDetector."""

import cv2
import numpy as np
from scenedetect import ContentDetector, FrameTimecode

SCORED_WIDTH = 256
"""Frames whose longer side exceeds this many pixels are shrunk to it before scoring, as PySceneDetect does."""
NO_TIME = FrameTimecode(0, 1.0)
"""Scores do not depend on it; cuts are found later, for each moment (see `segments`)."""


class ContentScore(ContentDetector):
    """Scores a stream of frames: mean absolute difference of hue, saturation and value to the frame before.

    Called with uint8 BGR frames [H, W, 3] in order; returns a float in [0, 255], 0 for the first frame. Frames keep the
    size of the first: one of another size is scaled to it.
    """

    def __init__(self):
        super().__init__()
        self._size: tuple[int, int] | None = None

    def __call__(self, frame: np.ndarray) -> float:
        if self._size is None:
            height, width = frame.shape[:2]
            shrink = max(1.0, max(height, width) / SCORED_WIDTH)
            self._size = max(1, round(width / shrink)), max(1, round(height / shrink))
        if self._size != (frame.shape[1], frame.shape[0]):
            frame = cv2.resize(frame, self._size, interpolation=cv2.INTER_LINEAR)
        self.process_frame(NO_TIME, frame)
        return self._frame_score or 0.0
