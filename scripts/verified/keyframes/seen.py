"""Keyframes of a shard from an earlier run, for quotes."""

import math
from collections import defaultdict
from pathlib import Path

from verified.config.datasets import Keyframes
from verified.io.video import TOLERANCE
from verified.keyframes.archive import KeyframeTar
from verified.runtime.checksums import made_with


class SeenKeyframes(KeyframeTar):
    """The existing keyframes of a shard; other moments get the configured maximum.

    `supposed` lists these others. Keyframes belong to a moment if three things hold: they fill its span, even if its
    number changed; its video is among the probed `videos`; and the settings of the job that cut them are the current
    ones.
    """

    def __init__(self, path: Path, settings: Keyframes, moments: list[dict], videos: dict[str, dict]):
        paths = [path] if path.is_file() and made_with(path, settings.model_dump(mode="json")) else []
        super().__init__(*paths)
        self.settings = settings
        self.cut_as: dict[int, int] = {}
        self.supposed: dict[int, str] = {}
        of_video: dict[str, list[dict]] = defaultdict(list)
        for row in self.rows.values():
            of_video[row["video"]].append(row)
        for moment in moments:
            number, video = moment["desc_id"], moment["video"]
            same = [self.rows[number]] if number in self.rows else []
            rows = [*same, *of_video[video]] if video in videos else []
            if (source := next((row for row in rows if _cut_from(row, moment)), None)) is not None:
                self.cut_as[number] = source["desc_id"]
            else:
                self.supposed[number] = f"{video} {moment['start']!r}-{moment['end']!r}"

    def keyframes(self, desc_id: int) -> list[dict]:
        """Keyframes of a moment, in the order of time."""
        if desc_id in self.cut_as:
            return super().keyframes(self.cut_as[desc_id])
        span = self.supposed[desc_id]
        return [{"file": f"{span}/{segment}.jpg", "time": float(segment)} for segment in range(self.settings.segments)]

    def image(self, name: str) -> bytes:
        """The JPEG of this name, or a text in its place."""
        return super().image(name) or f"not cut yet: {name}".encode()


def _cut_from(row: dict, moment: dict) -> bool:
    """Whether a row of an archive's index matches the current span of this moment."""
    if row["video"] != moment["video"]:
        return False
    segments = [keyframe["segment"] for keyframe in row["keyframes"]]
    if not segments:
        return row["desc_id"] == moment["desc_id"]
    cut = min(start for start, _ in segments), max(end for _, end in segments)
    return all(math.isclose(a, b, abs_tol=TOLERANCE) for a, b in zip(cut, (moment["start"], moment["end"])))
