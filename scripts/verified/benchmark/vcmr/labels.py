"""Start and end clips of a span in seconds: the three conventions in use (each one is tied to a model by its contract).

All take the moment's start and end and the clip length c in seconds, and the number of clips L that are kept of the
video; indices beyond the last clip become L − 1.
"""

from math import ceil, floor


def exclusive_end(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """XML and ReLoCLNet: floor(start/c) and ceil(end/c), one clip past the last one that the moment touches."""
    return _clip_span(floor(start / clip_seconds), ceil(end / clip_seconds), clips)


def inclusive_end(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """CONQUER and SQuiDNet: floor(start/c) and ceil(end/c) − 1, the last clip that the moment touches."""
    return _clip_span(floor(start / clip_seconds), ceil(end / clip_seconds) - 1, clips)


def inclusive_end_two_clips(start: float, end: float, clip_seconds: float, clips: int) -> tuple[int, int]:
    """HERO: as `inclusive_end`, but the end is at least one clip behind the start."""
    first = floor(start / clip_seconds)
    return _clip_span(first, max(ceil(end / clip_seconds) - 1, first + 1), clips)


def _clip_span(start: int, end: int, clips: int) -> tuple[int, int]:
    return min(start, clips - 1), min(end, clips - 1)
