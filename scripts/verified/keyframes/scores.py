"""Content scores: how much a frame differs from the one before it, as PySceneDetect's ContentDetector defines it.

Not called through PySceneDetect, to whose numbers a test holds these bit by bit: decoding and scoring take 1.3 times as
long with its detector at 640 × 360 and 2.7 times at 112 × 112, and finding cuts, which is done again for each threshold
of each moment, 150 times.
"""

import cv2
import numpy as np

SCORED_WIDTH = 256
"""Frames whose longer side exceeds this many pixels are shrunk to it before scoring, as PySceneDetect does."""


class ContentScore:
    """Scores a stream of frames: mean absolute difference of hue, saturation and value to the frame before.

    Called with uint8 BGR frames [H, W, 3] in order; returns a float in [0, 255], 0 for the first frame. Frames keep the
    size of the first: one of another size is scaled to it.
    """

    def __init__(self):
        self._last: np.ndarray | None = None
        self._size: tuple[int, int] | None = None

    def __call__(self, frame: np.ndarray) -> float:
        if self._size is None:
            height, width = frame.shape[:2]
            shrink = max(1.0, max(height, width) / SCORED_WIDTH)
            self._size = max(1, round(width / shrink)), max(1, round(height / shrink))
        if self._size != (frame.shape[1], frame.shape[0]):
            frame = cv2.resize(frame, self._size, interpolation=cv2.INTER_LINEAR)
        values = cv2.cvtColor(frame, cv2.COLOR_BGR2HSV)
        last, self._last = self._last, values
        if last is None:
            return 0.0
        sums = cv2.sumElems(cv2.absdiff(values, last))
        pixels = float(self._size[0] * self._size[1])
        # The order of the operations is the detector's own, so that the floats agree to the last bit.
        return sum(channel / pixels for channel in sums[:3]) / 3.0
