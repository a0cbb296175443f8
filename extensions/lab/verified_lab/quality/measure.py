"""Measures of moments before any model call: black, blurred and still pictures, written text, loudness.

Each video is decoded once for all its moments, and so is its sound. Sharpness is the variance of the Laplacian
(Pech-Pacheco et al., 2000); a frame is black where 98 % of its pixels are (the defaults of FFmpeg's blackdetect).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

import cv2
import numpy as np

from verified.captions.clips import fitted_size
from verified.errors import InputError
from verified.io.sound import has_sound, read_part
from verified.io.video import VideoError, frames_of_spans
from verified.runtime.previous_output import PreviousOutput
from verified.runtime.progress import track
from verified_lab.config import Quality
from verified_lab.quality.repeats import hash_frames

SIDE, SMALL = 640, 320
"""Longest side in pixels at which text is looked for, and at which all else is measured."""
BLACK_GREY, BLACK_PIXELS = 0.1 * 255, 0.98
TEXT_FRAMES = 3
"""Frames of a moment in which text is looked for, spread evenly: finding it takes a second."""
SOUND_RATE = 8000
FLOOR = -100.0
"""Loudness in dB of silence."""
MEASURES = ("frames", "black", "sharpness", "motion", "hash", "text", "loudness")


def measure_moments(
    moments: list[dict], videos: Iterable[dict], settings: Quality, earlier: PreviousOutput
) -> list[dict[str, Any]]:
    """One row a moment, in order: desc_id, video, start, end and `MEASURES`; None where one was not measured.

    `black` and `text` are shares from 0 to 1, `motion` is in grey levels, `hash` as of `repeats`,
    `loudness` in dB of full scale. `text` is
    looked for where a limit of it is set. Videos that `earlier` knows are not decoded. Raises InputError where the
    package that finds text is not installed.
    """
    described = {row["video"]: row for row in videos}
    by_video: dict[str, list[dict]] = {}
    for moment in moments:
        by_video.setdefault(moment["video"], []).append(moment)
    keys = {video: _key(described[video], own) for video, own in by_video.items()}
    cached_keys, rows_of = earlier.reusable(keys.values()), dict[str, list[dict]]()
    for video, own in track(by_video.items(), "quality", len(by_video), "videos"):
        key = keys[video]
        rows_of[video] = earlier.videos[key] if key in cached_keys else _measure(described[video], own, settings)
    rows = {
        id(moment): {"desc_id": moment["desc_id"], **{name: moment[name] for name in ("video", "start", "end")}, **row}
        for video, own in by_video.items()
        for moment, row in zip(own, rows_of[video])
    }
    earlier.keep({keys[video]: measured for video, measured in rows_of.items()}, link=False)
    return [rows[id(moment)] for moment in moments]


def _key(video: dict, moments: list[dict]) -> str:
    return f"{video['sha256']} {[(moment['start'], moment['end']) for moment in moments]}"


def _measure(video: dict, moments: list[dict], settings: Quality) -> list[dict[str, Any]]:
    spans = [(moment["start"], moment["end"]) for moment in moments]
    rows: list[dict[str, Any]] = [dict.fromkeys(MEASURES) | {"frames": 0} for _ in spans]
    try:
        for index, frames, _ in frames_of_spans(video["path"], spans, fps=settings.fps, size=fitted_size(video, SIDE)):
            if len(frames):
                rows[index] |= measure_frames(frames)
                if settings.max_text is not None:
                    rows[index]["text"] = _text_share(frames)
    except VideoError:  # probed before: the file has changed since, and its moments are measured up to the first damage
        pass
    for row, level in zip(rows, _loudness(video, spans)):
        row["loudness"] = level
    return rows


def measure_frames(frames: np.ndarray) -> dict[str, Any]:
    """The measures of pictures uint8 RGB [T, H, W, 3] in their order; `motion` is None of a single one."""
    greys = [_small_grey(frame) for frame in frames]
    changes = [float(cv2.absdiff(before, after).mean()) for before, after in itertools.pairwise(greys)]
    dark = [float((grey <= BLACK_GREY).mean()) >= BLACK_PIXELS for grey in greys]
    sharp = statistics.median(float(cv2.Laplacian(grey, cv2.CV_64F).var()) for grey in greys)
    return {
        "frames": len(greys),
        "black": round(sum(dark) / len(dark), 4),
        "sharpness": round(sharp, 3),
        "motion": round(statistics.fmean(changes), 4) if changes else None,
        "hash": hash_frames(greys),
    }


def _small_grey(frame: np.ndarray) -> np.ndarray:
    """Grey uint8 [h, w] whose longer side has at most `SMALL` pixels."""
    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    scale = SMALL / max(grey.shape)
    if scale >= 1:
        return grey
    height, width = (max(1, round(length * scale)) for length in grey.shape)
    return cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)


def _text_share(frames: np.ndarray) -> float:
    """The largest share of the picture under text, in some of the frames [T, H, W, 3]."""
    count = min(TEXT_FRAMES, len(frames))
    chosen = ((np.arange(count) + 0.5) * len(frames) / count).astype(int)
    return max(find_text(frames[number]) for number in chosen)


def _loudness(video: Mapping[str, Any], spans: list[tuple[float, float]]) -> list[float | None]:
    """Root mean square of the sound of each span in dB, from one decode; None if there is no sound."""
    if not has_sound(video["path"]):
        return [None] * len(spans)
    try:
        track = read_part(video["path"], 0.0, max(end for _, end in spans), SOUND_RATE)
    except InputError:
        return [None] * len(spans)
    levels: list[float | None] = []
    for start, end in spans:
        first = round(start * SOUND_RATE)
        piece = track[first : max(first + 1, round(end * SOUND_RATE))].astype(np.float64)
        power = float(np.square(piece).mean()) if len(piece) else 0.0
        levels.append(round(max(FLOOR, 10 * math.log10(power)), 2) if power > 0 else FLOOR)
    return levels


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
            remedy="pip install -r requirements-text.in (rapidocr and onnxruntime), or set max_text to null",
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
