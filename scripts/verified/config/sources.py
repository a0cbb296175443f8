"""Kinds of sources, and what each can do: a new kind is a class here and a name in `Source`, and its reader."""

import contextlib
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from verified.config.base import Section
from verified.errors import InputError


class SourceSection(Section):
    """What stages ask a source, instead of its kind."""

    has_videos: ClassVar[bool] = False
    """Its videos can be read."""
    annotated_here: ClassVar[bool] = False
    """The workflow writes its fine captions."""
    annotations_given: ClassVar[bool] = False
    """It comes with finished annotations."""
    rendered: ClassVar[bool] = False
    """A rule renders its videos and writes their moments."""
    published: ClassVar[bool] = False
    """Its coarse annotations are published files (config/sources.csv); its videos go by their published names."""
    users_own: ClassVar[bool] = False
    """Its videos and captions are the user's: tables say what came in and out, and what the captions took."""
    has_truth: ClassVar[bool] = False
    """What is in its videos is known (`corpus/truth.jsonl`), and what was falsified in its captions."""
    comparable: ClassVar[bool] = True
    """The paper's figures may stand beside its own, where its title is one of the paper's data sets."""
    origin: ClassVar[str]
    """Where data set `{name}` comes from, for the lines below tables."""

    @property
    def proposes_moments(self) -> bool:
        """Whether its videos come without moments, so that rules propose them."""
        return False

    @property
    def given_features(self) -> str | None:
        """Folder of features that come with the source; None where the workflow extracts them."""
        return None

    def split_names(self) -> set[str]:
        """Splits that its moments have. Raises InputError where a file that says so cannot be read."""
        return set(getattr(self, "splits", None) or ())

    def files(self, corpus: str) -> dict[str, str]:
        """The folder of `videos` and the file of `moments` of a source with videos; what rules make is in `corpus`."""
        raise NotImplementedError


class DemoSource(SourceSection):
    """The embedded demo world, rendered as H.264 files from the seed."""

    has_videos: ClassVar[bool] = True
    annotated_here: ClassVar[bool] = True
    has_truth: ClassVar[bool] = True
    rendered: ClassVar[bool] = True
    comparable: ClassVar[bool] = False
    origin: ClassVar[str] = "demo corpus, rendered; not comparable with any figure of the paper"

    kind: Literal["demo"] = "demo"
    videos: int = Field(default=160, ge=6)
    """Number of videos to render."""
    seconds: int = Field(default=20, ge=4)
    """Length of each video in seconds."""
    fps: int = Field(default=8, ge=2)
    """Frames per second."""
    size: int = Field(default=112, ge=64, multiple_of=16)
    """Width and height in pixels."""
    train_share: float = Field(default=0.55, gt=0, lt=1)
    """Share of the videos in the train split."""
    val_share: float = Field(default=0.10, gt=0, lt=1)
    """Share of the videos in the val split; the rest is test."""

    def split_names(self) -> set[str]:
        return {"train", "val", "test"}

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": f"{corpus}/videos", "moments": f"{corpus}/rendered.jsonl"}


class FolderSource(SourceSection):
    """A folder of videos and, where there is one, a moments file (JSONL or CSV)."""

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
    """Split of rows that name none; null: test or, where no row names one, the videos are divided into train, val and
    test by the seed and the shares of `proposals`."""

    @property
    def proposes_moments(self) -> bool:
        return self.moments is None

    def split_names(self) -> set[str]:
        from verified.corpus.moments_file import read_moments_file

        if self.moments is None:
            return {"train", "val", "test"}
        return {str(row.get("split") or self.default_split or "test") for _, row in read_moments_file(self.moments)}

    @property
    def names_no_split(self) -> bool:
        """Whether there is a moments file of which no row names a split, nor does `default_split`."""
        from verified.corpus.moments_file import iterate_moments_file

        if self.moments is None or self.default_split is not None:
            return False
        with contextlib.suppress(InputError):  # what is wrong with the file is said where it is read
            return all(row.get("split") is None for _, row in iterate_moments_file(self.moments))
        return False

    def files(self, corpus: str) -> dict[str, str]:
        return {"videos": self.videos, "moments": self.moments or f"{corpus}/proposed.csv"}


class PublishedSource(SourceSection):
    """The published coarse annotations of a data set of the paper, and a folder of its videos."""

    has_videos: ClassVar[bool] = True
    annotated_here: ClassVar[bool] = True
    published: ClassVar[bool] = True
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
        return {"videos": self.videos, "moments": f"{corpus}/published.jsonl"}

    def split_names(self) -> set[str]:
        from verified.corpus.released_source import resolve

        return set(resolve(self).splits)


class ReleasedSource(SourceSection):
    """Finished annotations in the released FIG JSONL form; no video is read."""

    annotations_given: ClassVar[bool] = True
    origin: ClassVar[str] = "released annotations"

    kind: Literal["released"]
    collection: str
    """Collection in config/sources.csv, e.g. charades-fig; or a name of your own, with `released_dir`."""
    splits: tuple[str, ...] = Field(min_length=1)
    """Splits to read, in the order they are joined; one that is not at hand is left out, and the tables say so."""
    released_dir: str | None = None
    """Folder that holds the files already: at the places of config/sources.csv, or your own SPLIT.jsonl."""
    features_dir: str | None = None
    """Folder with video.h5, text-cog.h5 and text-fig.h5 for the retrieval models; without it none is trained."""

    @property
    def given_features(self) -> str | None:
        return self.features_dir


Source = Annotated[DemoSource | FolderSource | PublishedSource | ReleasedSource, Field(discriminator="kind")]
KINDS = {kind.model_fields["kind"].annotation.__args__[0]: kind for kind in get_args(get_args(Source)[0])}
"""Every kind of source by its name."""
