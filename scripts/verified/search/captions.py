"""The annotated moments of a corpus, and which of them is nearest to a span that was found."""

from collections.abc import Iterable
from pathlib import Path

from verified.benchmark.tiou import tiou
from verified.io.fig import COG_KEYS, read_fig
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.search.sound import sound

FILE = "captions.jsonl"


def annotated(files: Iterable[str | Path]) -> list[dict]:
    """Rows `video, start, end, coarse, fine, desc_id` of annotation files in the FIG form; `fine` may be empty."""
    return [
        {
            "desc_id": row["desc_id"],
            "video": row["video"],
            "start": row["time"][0],
            "end": row["time"][1],
            "coarse": row["cog_desc"],
            "fine": row.get("fig_desc") or "",
        }
        for file in files
        for row in read_fig(file, COG_KEYS)
    ]


def coarse(file: str | Path, split: str = "") -> list[dict]:
    """The same rows of a corpus' moments (moments.jsonl), of all splits or of one, without a fine caption."""
    return [
        {
            "desc_id": row["desc_id"],
            "video": row["video"],
            "start": row["start"],
            "end": row["end"],
            "coarse": row["caption"],
            "fine": "",
        }
        for row in read_jsonl(file, ("desc_id", "video", "start", "end", "caption", "split"))
        if split in ("", row["split"])
    ]


def write_captions(path: Path, rows: list[dict]) -> None:
    """Write them into an index."""
    write_jsonl(path, rows)


class Captions:
    """The annotated moments of an index, by video."""

    def __init__(self, folder: Path):
        self.rows: dict[str, list[dict]] = {}
        sound(folder, FILE)
        for row in read_jsonl(folder / FILE, ("video", "start", "end", "coarse", "fine")):
            self.rows.setdefault(row["video"], []).append(row)

    def nearest(self, video: str, start: float, end: float) -> dict | None:
        """The moment of `video` that overlaps [start, end) seconds by the largest tIoU, with it as `overlap`; of those
        that do not overlap, the one with the nearest middle; None in a video without moments."""
        rows = self.rows.get(video)
        if not rows:
            return None

        def nearness(row: dict) -> tuple[float, float]:
            return float(tiou(row["start"], row["end"], start, end)), -abs(row["start"] + row["end"] - start - end)

        best = max(rows, key=nearness)
        return {**best, "overlap": round(nearness(best)[0], 3)}
