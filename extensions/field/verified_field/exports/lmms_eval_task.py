"""Functions of a grounding task for lmms-eval, without imports from this package: an export copies this file."""

import os
import re
from pathlib import Path

THRESHOLDS = (0.3, 0.5, 0.7)
CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)?")


def visual(doc: dict, lmms_eval_specific_kwargs: dict | None = None) -> list[str]:
    """The path of the video, below the folder that VERIFIED_VIDEOS names. Raises FileNotFoundError without one."""
    folder = Path(os.environ.get("VERIFIED_VIDEOS", "videos"))
    place = folder / doc["video"]
    found = sorted(file for file in place.parent.glob("*") if file.is_file() and file.stem == place.name)
    if not found:
        raise FileNotFoundError(f"no file {place}.*: name the folder of the videos in VERIFIED_VIDEOS")
    return [str(found[0])]


def question(doc: dict, lmms_eval_specific_kwargs: dict | None = None) -> str:
    """The text of the question."""
    prompt = (lmms_eval_specific_kwargs or {})["prompt"]
    return prompt.replace("{duration}", f"{doc['duration']:g}").replace("{caption}", doc["caption"])


def target(doc: dict) -> str:
    """The right answer as text."""
    return f"{doc['start']:g} - {doc['end']:g}"


def times(answer: str) -> tuple[float, float] | None:
    """The first two times of an answer in seconds, in order: ``12.5 - 20``, or ``0:12 to 0:20``; None without two."""
    clocks = [
        60 * (60 * int(hours or 0) + int(minutes)) + float(rest) for hours, minutes, rest in CLOCK.findall(answer)
    ]
    numbers = clocks if len(clocks) > 1 else [float(number) for number in NUMBER.findall(answer)]
    if len(numbers) < 2:
        return None
    return min(numbers[:2]), max(numbers[:2])


def overlap(doc: dict, span: tuple[float, float] | None) -> float:
    """tIoU of a span in seconds with the true one; 0 of None."""
    if span is None:
        return 0.0
    shared = min(doc["end"], span[1]) - max(doc["start"], span[0])
    hull = max(doc["end"], span[1]) - min(doc["start"], span[0])
    return max(shared, 0.0) / hull if hull > 0 else 0.0


def score(doc: dict, results: list[str]) -> dict[str, float]:
    """The measures of one answer, from 0 to 1."""
    found = overlap(doc, times(results[0]))
    return {**{f"R1@{threshold}": float(found >= threshold) for threshold in THRESHOLDS}, "mIoU": found}


def percent(values: list[float]) -> float:
    """The mean in percent."""
    return 100 * sum(values) / len(values) if values else 0.0
