"""Clips and keyframes of moments for export, where the configuration asks for them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from verified.captions.tar import KeyframeTars
from verified.common.errors import InputError
from verified.export.webdataset import Media
from verified.study.clips import cut


def media_of(videos: Iterable[Mapping], keyframes: KeyframeTars, side: int) -> Media:
    """A function that cuts the clips of some rows (each video decoded once) and reads their keyframes."""
    paths = {row["video"]: row["path"] for row in videos}

    def files(rows: list[dict]) -> dict[int, dict[str, bytes]]:
        spans = defaultdict(dict)
        for row in rows:
            if row["video"] not in paths:
                raise InputError(f"video {row['video']} is not in the corpus", remedy="build the annotations again")
            spans[row["video"]][row["caption_id"]] = (row["start"], row["end"])
        clips = {}
        for video, wanted in spans.items():
            clips |= cut(paths[video], wanted, side)
        media = {}
        for row in rows:
            media[row["caption_id"]] = {"mp4": clips[row["caption_id"]]} | {
                f"keyframe-{number}.jpg": keyframes.image(keyframe["file"])
                for number, keyframe in enumerate(keyframes.keyframes(row["desc_id"]))
            }
        return media

    return files
