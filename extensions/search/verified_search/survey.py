"""Survey a video in one decode: its shots, for each shot clips with their features and a picture, and hashes of frames.

Eight frames a second are decoded and compared by PySceneDetect's content score; the encoder, the most expensive step,
gets a frame of each shot and then one every two seconds. The hashes are those that copies are found by.
"""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from verified.corpus import copies
from verified.features.encoders import Backbone
from verified.io.video import MISSING_SECONDS, TOLERANCE, frame_array, open_video
from verified.io.video.decode import upright_size
from verified.keyframes.segmentation import ContentScore, bounds, find_cuts
from verified_search.pictures import HEIGHT, jpeg

RATE = 8
"""Frames per second that are analysed."""
CUT = 30.0
"""Content score of a cut: finds at this rate what PySceneDetect's 27 finds at full rate (docs/measurements.md)."""
SHORTEST_SHOT = 0.6
"""Seconds."""
SETTLED = 2
"""Frames behind a cut after which its shot is seen: at the cut itself, two shots may be blended."""
BETWEEN = 2.0
"""Most seconds between two frames that the encoder sees."""
BATCH = 32
MOST_PICTURES = 60


@dataclass(frozen=True)
class Survey:
    """The result of a survey of a video."""

    duration: float
    """Seconds."""
    shots: list[tuple[float, float]]
    """Seconds; they tile the video."""
    clips: list[np.ndarray]
    """Of each shot, the features [clips, F] float32 of its clips, which are equally long."""
    pictures: list[tuple[float, bytes]]
    """(seconds, JPEG): one of each shot, of `MOST_PICTURES` shots at most."""
    hashes: str
    """See `corpus.copies.hash_videos`."""
    damage: int
    """Packets that could not be decoded."""
    claimed: float
    """Seconds that the header claims, 0 without a claim."""

    @property
    def partial(self) -> str:
        """The part of the video that was readable; empty for all of it."""
        if self.claimed - self.duration > MISSING_SECONDS:
            return f"{self.duration:.1f} of {self.claimed:.1f} s"
        return f"all but {self.damage} damaged packets" if self.damage else ""


def survey(path: str | Path, backbone: Backbone) -> Survey:
    """Survey a video. Raises VideoError for an unusable file."""
    times: list[float] = []
    scores: list[float] = []
    seen: list[tuple[float, bytes]] = []
    features: list[np.ndarray] = []
    batch: list[np.ndarray] = []
    hashes: list[bytes] = []
    score, behind, step, end = ContentScore(), 0, 0, 0.0
    with open_video(path) as video:
        for timed in video:
            end = timed.until
            if step / RATE >= timed.until - TOLERANCE:
                continue
            frame = frame_array(timed, _covering_size(upright_size(timed), backbone.size))
            times.append(timed.time)
            scores.append(score(np.ascontiguousarray(frame[..., ::-1])))
            behind = 0 if scores[-1] >= CUT else behind + 1
            if not seen or behind == SETTLED or timed.time - seen[-1][0] >= BETWEEN:
                seen.append((timed.time, _picture(frame)))
                batch.append(_square(frame, backbone))
            if len(batch) == BATCH:
                features.append(backbone(np.stack(batch)))
                batch = []
            code = copies.frame_hash(frame)
            while step / RATE < timed.until - TOLERANCE:
                if step % (RATE // copies.RATE) == 0:
                    hashes.append(code)
                step += 1
            video.needed = step / RATE
        damage, claimed = video.damage, video.claimed_end
    if batch:
        features.append(backbone(np.stack(batch)))
    shots, numbers = _fill_shots(bounds(0.0, end, find_cuts(times, scores, CUT, SHORTEST_SHOT)), [at for at, _ in seen])
    stacked = np.concatenate(features)
    middle = [of_shot[len(of_shot) // 2] for of_shot in numbers]
    pictures = [seen[number] for number in middle[:: -(-len(middle) // MOST_PICTURES)]]
    clips = [stacked[of_shot] for of_shot in numbers]
    return Survey(end, shots, clips, pictures, b"".join(hashes).hex(), damage, claimed)


def _fill_shots(
    shots: list[tuple[float, float]], seen: list[float]
) -> tuple[list[tuple[float, float]], list[list[int]]]:
    """Shots, and the numbers of their encoded frames; a shot without any joins the one before it."""
    filled: list[tuple[float, float]] = []
    numbers: list[list[int]] = []
    for start, end in shots:
        inside = [number for number, at in enumerate(seen) if start <= at < end]
        if inside or not filled:
            filled.append((start, end))
            numbers.append(inside)
        else:
            filled[-1] = filled[-1][0], end
    return filled, numbers


def _covering_size(size: tuple[int, int], side: int) -> tuple[int, int]:
    """Height and width of a frame whose shorter side is `side`."""
    scale = side / min(size)
    return max(side, round(size[0] * scale)), max(side, round(size[1] * scale))


def _square(frame: np.ndarray, backbone: Backbone) -> np.ndarray:
    """The encoder's view of a frame: its middle, or all of it, squeezed."""
    side = backbone.size
    if not backbone.crop:
        return cv2.resize(frame, (side, side), interpolation=cv2.INTER_AREA)
    top, left = (frame.shape[0] - side) // 2, (frame.shape[1] - side) // 2
    return frame[top : top + side, left : left + side]


def _picture(frame: np.ndarray) -> bytes:
    width = max(2, round(HEIGHT * frame.shape[1] / frame.shape[0]))
    return jpeg(cv2.resize(frame, (width, HEIGHT), interpolation=cv2.INTER_AREA))
