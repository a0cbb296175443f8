"""Published coarse annotations and a folder of their videos as a source."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from verified.config.sources.section import SourceSection
from verified.released.collections import read_splits, resolve


class PublishedSource(SourceSection):
    """The published coarse annotations of a data set of the paper, and a folder of its videos."""

    has_videos: ClassVar[bool] = True
    annotated_here: ClassVar[bool] = True
    published: ClassVar[bool] = True
    lists_moments: ClassVar[bool] = True
    origin: ClassVar[str] = "published coarse annotations and a folder of videos"

    kind: Literal["published"]
    collection: str
    """Collection in config/sources.csv: charades-sta, didemo or activitynet-captions."""
    videos: str
    """Folder of the videos, in subfolders or not, under the names of the data set: AAAAA.mp4, v_XXXX.mkv, …"""
    splits: tuple[str, ...] | None = None
    """Splits to read; null: all."""
    released_dir: str | None = None
    """Folder that holds the annotation files already, at the places of config/sources.csv; null: download them."""
    sources: str | None = None
    """Another list of published files and their checksums, in the form of config/sources.csv and in the folder of its
    files.
    """
    annotators: Literal["most-frequent", "all"] = "most-frequent"
    """DiDeMo: test against the most frequent span (as released), or all annotators' spans, of which two must agree."""

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": self.videos, "moments": f"{corpus}/listed.jsonl"}

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per caption, of all available splits, in the order of the configuration.

        All rows remain here: the join with the videos excludes a moment without length or without its video, with a
        reason. Raises InputError (see `read_splits`).
        """
        for split, rows in read_splits(self):
            for row in rows:
                start, end = row["time"]
                moment = {
                    "desc_id": row["desc_id"],
                    "video": row["video"],
                    "start": start,
                    "end": end,
                    "split": split,
                    "caption": row["cog_desc"],
                }
                spans = row.get("annotator_times") if self.annotators == "all" else None
                yield moment | ({"annotator_times": spans} if spans else {})

    def inputs(self) -> list[str]:
        return resolve(self).inputs

    @property
    def names_no_split(self) -> bool:
        return False

    def split_names(self) -> set[str]:
        return set(resolve(self).splits)
