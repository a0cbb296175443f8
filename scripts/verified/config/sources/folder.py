"""A folder of videos as a source, with or without a moments file."""

import contextlib
from typing import ClassVar, Literal

from pydantic import Field

from verified.config.sources.section import SourceSection
from verified.errors import InputError
from verified.io.moments_file import iterate_moments_file


class FolderSource(SourceSection):
    """A folder of videos with an optional moments file (JSONL or CSV)."""

    has_videos: ClassVar[bool] = True
    annotated_here: ClassVar[bool] = True
    users_own: ClassVar[bool] = True
    origin: ClassVar[str] = "videos and moments of data set {name}"

    kind: Literal["folder"]
    videos: str
    """Folder that holds the videos; a moment's `video` is a path below it, with or without its ending."""
    moments: str | None = None
    """JSONL or CSV, one moment a row: video, start and end in seconds, caption and, if you like, desc_id and split;
    null: moments are proposed (see the section `proposals`)."""
    default_split: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")
    """Split of rows that name none; null: test or, if no row names one, the videos are divided into train, val and test
    by the seed and the shares of `proposals`.
    """

    @property
    def proposes_moments(self) -> bool:
        return self.moments is None

    def split_names(self) -> set[str]:
        if self.moments is None:
            return {"train", "val", "test"}
        return {str(row.get("split") or self.default_split or "test") for _, row in iterate_moments_file(self.moments)}

    @property
    def names_no_split(self) -> bool:
        """Whether there is a moments file without any split, and no `default_split`."""
        if self.moments is None or self.default_split is not None:
            return False
        with contextlib.suppress(InputError):  # the reader reports errors of the file
            return all(row.get("split") is None for _, row in iterate_moments_file(self.moments))
        return False

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": self.videos, "moments": self.moments or f"{corpus}/proposed.csv"}
