"""Find copies of videos, and parts cut out of one another, by hashes of their frames.

A hash has the signs of the horizontal changes of one frame, scaled to 9 by 8 grey pixels (difference hash), `RATE` a
second: other encodings, sizes and colours change few of its 64 bits. If two frames agree in a band of 16 bits, their
videos are compared frame by frame at that offset.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from verified.io.video import VideoError, iterate_frames
from verified.runtime.progress import track

RATE = 4.0
"""Hashes a second: two cuts of a video show frames at most an eighth of a second apart."""
DIGITS, BITS, BANDS = 16, 64, 4
"""Hexadecimal digits and bits of a hash, and the bands in which it is looked up."""
LEAST_EQUAL_BITS = 0.85
"""Share of equal bits above which two videos show the same; unrelated real clips reach 0.75."""
PART = 0.5
"""Share of the shorter video that the other must show too; openings that many videos share are shorter."""
SHORTEST = 3
"""Hashes at least of which two videos that show the same agree."""
FLAT = 4
"""Set bits up to which a frame is empty: black, white or fading."""
STEP = 4
"""Every so many-th hash of a video is looked up."""
CROWDED = 1000
"""Frames with the same band beyond which the band is ignored."""
TRIED = 20
"""Offsets to other videos that are compared, those on which most bands agree."""


def hash_videos(videos: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Name and hashes of each video that can be read: `DIGITS` hexadecimal digits a frame, frames at 0, 1/RATE, … s.

    `videos` are rows with video and path.
    """
    videos = list(videos)
    for row in track(videos, "hash", len(videos), "videos"):
        try:
            frames = [frame_hash(frame) for _, frame in iterate_frames(row["path"], RATE)]
        except VideoError:
            continue
        yield row["video"], b"".join(frames).hex()


def frame_hash(frame: np.ndarray) -> bytes:
    """Hash of a frame, uint8 RGB [H, W, 3]: `BITS` bits."""
    import cv2  # which the environments that only compare hashes lack

    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (9, 8), interpolation=cv2.INTER_AREA).astype(int)
    return np.packbits(small[:, 1:] > small[:, :-1]).tobytes()


def video_copies(hashes: Mapping[str, str], least: float = LEAST_EQUAL_BITS) -> dict[str, str]:
    """{video: the video that it repeats, whole or in part}, by hashes as of `hash_videos`.

    `least`: share of equal bits above which two videos show the same. Of several equal videos the first by name is the
    original.
    """
    names = sorted(name for name, code in hashes.items() if len(code) >= SHORTEST * DIGITS)
    codes = [np.frombuffer(bytes.fromhex(hashes[name]), np.uint8).reshape(-1, BITS // 8) for name in names]
    bits = [np.unpackbits(code, axis=1).astype(bool) for code in codes]
    first = list(range(len(names)))
    for video, other, offset in _offsets(codes, bits):
        if first[video] != first[other] and _show_the_same(bits[video], bits[other], offset, least):
            less, more = sorted((first[video], first[other]))
            first = [less if each == more else each for each in first]
    return {name: names[earlier] for name, earlier in zip(names, first) if names[earlier] != name}


def _offsets(codes: list[np.ndarray], bits: list[np.ndarray]) -> Iterator[tuple[int, int, int]]:
    """(video, earlier video, frames by which the first begins later in the other) of pairs that may show the same."""
    if not codes:
        return
    bands = np.concatenate(codes).view(np.uint16)  # [frames, BANDS]
    telling = np.concatenate([_is_distinctive(each) for each in bits])
    owner = np.repeat(np.arange(len(codes)), list(map(len, codes)))
    place = np.concatenate([np.arange(len(code)) for code in codes])
    orders = [np.argsort(band, kind="stable") for band in bands.T]
    ordered = [band[order] for band, order in zip(bands.T, orders)]
    for video in range(len(codes)):
        mine = np.arange(*np.searchsorted(owner, [video, video + 1]))
        sampled = mine[telling[mine]][::STEP]
        hits = []
        for band, order, values in zip(bands.T, orders, ordered):
            starts, ends = (np.searchsorted(values, band[sampled], side=side) for side in ("left", "right"))
            for frame, start, end in zip(sampled, starts, ends):
                if end - start <= CROWDED:
                    near = order[start:end]
                    near = near[(owner[near] < video) & telling[near]]
                    hits.append(np.stack([owner[near], place[near] - place[frame]], axis=1))
        pairs, counts = np.unique(np.concatenate(hits), axis=0, return_counts=True) if hits else ([], [])
        for at in np.argsort(-np.asarray(counts), kind="stable")[:TRIED]:
            yield video, int(pairs[at][0]), int(pairs[at][1])


def _is_distinctive(bits: np.ndarray) -> np.ndarray:
    """Which of the frames [frames, BITS] show something: bool [frames]."""
    counts = bits.sum(axis=1)
    return (counts > FLAT) & (counts < BITS - FLAT)


def _show_the_same(codes: np.ndarray, other: np.ndarray, offset: int, least: float) -> bool:
    """Whether `PART` of the shorter of two videos [frames, BITS] is in the other, if `codes` begin at frame `offset`
    or a frame earlier or later: cuts fall between frames.
    """
    needed = max(SHORTEST, round(PART * min(len(codes), len(other))))
    for shift in (offset - 1, offset, offset + 1):
        first, last = max(0, -shift), min(len(codes), len(other) - shift)
        if last - first < needed:
            continue
        here, there = codes[first:last], other[first + shift : last + shift]
        telling = _is_distinctive(here) & _is_distinctive(there)
        equal = np.r_[0, np.cumsum((here == there).mean(axis=1) * telling)]
        count = np.r_[0, np.cumsum(telling)]
        sums, counts = equal[needed:] - equal[:-needed], count[needed:] - count[:-needed]
        if np.any((2 * counts >= needed) & (sums > least * counts)):
            return True
    return False
