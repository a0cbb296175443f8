"""Clips and keyframes of moments for export, where the configuration asks for them."""

from verified.export.webdataset import Media
from verified.io.video.cut import clips_of
from verified.keyframes.archive import KeyframeTars


def media_of(videos: list[dict], keyframes: KeyframeTars, side: int) -> Media:
    """A function that cuts the clips of some rows (each video decoded once) and reads their keyframes."""

    def files(rows: list[dict]) -> dict[int, dict[str, bytes]]:
        spans = ((row["caption_id"], row["video"], row["start"], row["end"]) for row in rows)
        clips = clips_of(spans, videos, side)
        media = {}
        for row in rows:
            media[row["caption_id"]] = {"mp4": clips[row["caption_id"]]} | {
                f"keyframe-{number}.jpg": keyframes.image(keyframe["file"])
                for number, keyframe in enumerate(
                    keyframes.keyframes(row["desc_id"])
                    if row["desc_id"] in keyframes.of_moment
                    else ()  # else people's
                )
            }
        return media

    return files
