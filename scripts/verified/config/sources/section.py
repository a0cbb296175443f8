"""Properties of a source, which stages use instead of its kind."""

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

from verified.config.base import Section
from verified.errors import InputError


class SourceSection(Section):
    """Properties of a source, which stages use instead of its kind."""

    has_videos: ClassVar[bool] = False
    """Its videos can be read."""
    annotated_here: ClassVar[bool] = False
    """The workflow writes its fine captions."""
    annotations_given: ClassVar[bool] = False
    """Its annotations are finished."""
    rendered: ClassVar[bool] = False
    """A rule renders its videos and writes their moments."""
    published: ClassVar[bool] = False
    """Its coarse annotations are published files (config/sources.csv); its videos go by their published names."""
    lists_moments: ClassVar[bool] = False
    """It knows its moments itself: a rule writes the result of `rows` to the file of moments that `files` names."""
    users_own: ClassVar[bool] = False
    """Its videos and captions are the user's: tables show the outcome of the folder, and the cost of the captions."""
    has_truth: ClassVar[bool] = False
    """The truth about its videos (`corpus/truth.jsonl`) and about corrupted captions is known."""
    comparable: ClassVar[bool] = True
    """The paper's figures may be shown next to ours, if its title is one of the paper's data sets."""
    origin: ClassVar[str]
    """Origin of data set `{name}`, for the lines below tables."""

    @property
    def proposes_moments(self) -> bool:
        """Whether its videos come without moments, so that rules propose them."""
        return False

    @property
    def given_features(self) -> str | None:
        """Folder of features that come with the source; None if the workflow extracts them."""
        return None

    @property
    def has_second_stream(self) -> bool:
        """Whether these features have a second stream of each video, second.h5."""
        return False

    @property
    def given_videos(self) -> str | None:
        """The user's folder of videos; None without videos or if a rule renders them."""
        return self.files("")["videos"] if self.has_videos and not self.rendered else None

    @property
    def given_moments(self) -> str | None:
        """The user's moments file; None if a rule makes that file or there is none."""
        made_by_rule = self.rendered or self.lists_moments or self.proposes_moments
        return self.files("")["moments"] if self.has_videos and not made_by_rule else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of a moments file, of a source that `lists_moments`: video, start and end in seconds, caption and, if
        known, desc_id and split. Raises InputError if one of its `inputs` cannot be read."""
        raise NotImplementedError

    def inputs(self) -> list[str]:
        """Paths of the files that its moments, or its finished annotations, are read from."""
        return []

    def split_names(self) -> set[str]:
        """Splits of its moments. Raises InputError if a file with them cannot be read."""
        if self.lists_moments:
            return {str(row.get("split") or "test") for row in self.rows()}
        return set(getattr(self, "splits", None) or ())

    @property
    def names_no_split(self) -> bool:
        """Whether its moments are known and have no split, so that the seed divides the videos."""
        if not self.lists_moments:
            return False
        with contextlib.suppress(InputError):  # the reader reports errors of the file
            return all(row.get("split") is None for row in self.rows())
        return False

    def files(self, corpus: str) -> dict[str, str]:
        """The folder of `videos` and the file of `moments` of a source with videos; outputs of rules are in
        `corpus`."""
        raise NotImplementedError
