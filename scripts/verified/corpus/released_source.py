"""Finished annotations as the source of a data set: moments from their rows."""

from collections.abc import Iterable, Mapping


def moments_of(rows: Iterable[Mapping], split: str) -> tuple[list[dict], list[dict], int]:
    """(moments, exclusions, clamped) of the annotation rows of one split.

    Ends past the end of the video are clamped to it and counted; a moment that starts there, or has no length, is
    excluded.
    """
    moments, exclusions, clamped = [], [], 0
    for number, row in enumerate(rows, start=1):
        start, end = row["time"]
        reason = None
        if end <= start:
            reason, detail = "no-length", f"starts at {start} s and ends at {end} s"
        elif start >= row["duration"]:
            reason, detail = "starts-after-the-end", f"starts at {start} s, the video has {row['duration']} s"
        if reason:
            exclusions.append(
                {
                    "row": number,
                    "video": row["video"],
                    "desc_id": row["desc_id"],
                    "reason": reason,
                    "detail": f"split {split}: {detail}",
                }
            )
            continue
        clamped += end > row["duration"]
        moments.append(
            {
                "desc_id": row["desc_id"],
                "video": row["video"],
                "start": start,
                "end": min(end, row["duration"]),
                "duration": row["duration"],
                "split": split,
                "caption": row["cog_desc"],
            }
        )
    return moments, exclusions, clamped
