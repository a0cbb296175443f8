"""Finished annotations as a source."""

from typing import ClassVar, Literal

from pydantic import Field

from verified.config.sources.section import SourceSection
from verified.released.collections import resolve


class ReleasedSource(SourceSection):
    """Finished annotations; no video is read."""

    annotations_given: ClassVar[bool] = True
    origin: ClassVar[str] = "released annotations"

    kind: Literal["released"]
    collection: str
    """Collection in config/sources.csv, e.g. charades-fig; or a name of your own, with `released_dir`."""
    splits: tuple[str, ...] = Field(min_length=1)
    """Splits to read, in the order they are joined; an unavailable one is omitted, and the tables say so."""
    released_dir: str | None = None
    """Folder that holds the files already: at the places of config/sources.csv, or your own: SPLIT.jsonl (FIG, TVR,
    QVHighlights), SPLIT.json (ActivityNet Captions, DiDeMo), or SPLIT.txt with SPLIT.csv (Charades-STA).
    """
    features_dir: str | None = None
    """Folder with video.h5, text-cog.h5 and, for fine captions, text-fig.h5 for the retrieval models; without it none
    is trained.
    """

    second_stream: bool = False
    """Whether it also has second.h5, a second stream of video features such as subtitles, for models that read one."""

    def inputs(self) -> list[str]:
        return resolve(self).inputs

    @property
    def given_features(self) -> str | None:
        return self.features_dir

    @property
    def has_second_stream(self) -> bool:
        return self.second_stream
