"""Pictures and videos whose quality is known, for tests."""

import cv2
import numpy as np

SIZE = (240, 320)


def black(count: int) -> list[np.ndarray]:
    return [np.zeros((*SIZE, 3), np.uint8)] * count


def board(count: int, step: int = 6, still: bool = False, blur: float = 0.0) -> list[np.ndarray]:
    """A sharp pattern that moves by `step` pixels a frame, unless it is `still`; with a Gaussian `blur` (pixels)."""
    random = np.random.default_rng(3)
    tiles = random.integers(40, 216, (SIZE[0] // 16, SIZE[1] // 16, 3)).astype(np.uint8)
    pattern = np.kron(tiles, np.ones((16, 16, 1), np.uint8))
    frames = [np.roll(pattern, 0 if still else number * step, axis=1) for number in range(count)]
    return [cv2.GaussianBlur(frame, (0, 0), blur) if blur else frame for frame in frames]


def written(frames: list[np.ndarray], text: str) -> list[np.ndarray]:
    """The same frames with a line of text across the lower third, white on a black bar."""
    shown = []
    for frame in frames:
        frame = frame.copy()
        cv2.rectangle(frame, (0, 170), (SIZE[1], 215), (0, 0, 0), -1)
        cv2.putText(frame, text, (8, 203), cv2.FONT_HERSHEY_SIMPLEX, 1.0, (255, 255, 255), 2, cv2.LINE_AA)
        shown.append(frame)
    return shown
