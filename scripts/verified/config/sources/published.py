"""Published coarse annotations and a folder of their videos as a source."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from verified.config.sources.section import SourceSection


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
    """Another list of published files and their checksums, in the form of config/sources.csv and beside its files."""
    annotators: Literal["most-frequent", "all"] = "most-frequent"
    """DiDeMo: test against the most frequent span (as released), or all annotators' spans, of which two must agree."""

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": self.videos, "moments": f"{corpus}/listed.jsonl"}

    def rows(self) -> Iterator[dict[str, Any]]:
        from verified.corpus.published_source import published_rows

        return published_rows(self)

    def inputs(self) -> list[str]:
        from verified.corpus.released_source import resolve

        return resolve(self).all_paths

    @property
    def names_no_split(self) -> bool:
        return False

    def split_names(self) -> set[str]:
        from verified.corpus.released_source import resolve

        return set(resolve(self).splits)
