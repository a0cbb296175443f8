"""What lighthouse's loader of queries makes of a row, by its rules for Charades-STA, TACoS and ActivityNet Captions
(training/dataset.py of line/lighthouse, November 2025), without features or a network.

These sets have no saliency: a row needs qid, query, vid, duration and relevant_windows, names of files come from qid
and vid, the first window says which clips are salient, and all windows are divided by the length of the features.
"""

import math
from pathlib import PurePosixPath


def labels(row: dict, clips: int, clip_seconds: float) -> dict:
    """Spans as centre and width, in shares of the video, and whether each of `clips` clips is relevant and salient."""
    assert f"qid{row['qid']}.npz" == PurePosixPath(f"qid{row['qid']}.npz").name, "names a file of text features"
    assert not PurePosixPath(f"{row['vid']}.npz").is_absolute(), "names a file of video features"
    assert isinstance(row["query"], str)
    length = clips * clip_seconds
    windows = [[float(start) / length, float(end) / length] for start, end in row["relevant_windows"]]
    start, end = row["relevant_windows"][0]
    first, behind = math.floor(start / clip_seconds), math.ceil(end / clip_seconds)
    relevant = range(first, behind + (first == behind))
    low, high = int(start / clip_seconds), max(0, min(int(end / clip_seconds), clips) - 1)
    low = min(low, high)
    return {
        "spans": [[(one + two) / 2, two - one] for one, two in windows],
        "relevant": [clip in relevant for clip in range(clips)],
        "salient": [low <= clip <= high for clip in range(clips)],
    }
