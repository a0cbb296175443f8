"""Long videos (the MAD benchmark): data sets of movies, proposals, baselines, VLG-Net, collection."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from verified.config import Config
from verified.config.base import Line, Section, check_name
from verified.config.features import PACKAGED_JOINT
from verified_longform.grid import Grid

Split = Literal["train", "val", "test"]
MovieModel = Literal["zero-shot", "vlg-net"]
MAD_ENCODER = "openai/clip-vit-base-patch32"
"""Encoder of MAD's features."""
EVALUATOR = "evaluator"
"""The encoder that is not a model of the hub: the evaluator of this configuration."""


class MovieSourceSection(Section):
    """Properties of a source of movies, which the rules use instead of its kind."""

    rendered: ClassVar[bool] = False
    """Whether a rule renders its movies, with their truth, into the folder `source`."""
    collected: ClassVar[bool] = False
    """Its rows are collected from described tracks, which a manifest lists."""
    comparable: ClassVar[bool] = False
    """Whether the MAD paper's figures may be shown next to ours, if its title is one of the paper's data sets."""

    @property
    def features_supplied(self) -> bool:
        """Whether every feature is supplied and none computed."""
        return False


class MadSource(MovieSourceSection):
    """Files in MAD's form: annotations, and features as published or computed from the movies."""

    comparable: ClassVar[bool] = True

    kind: Literal["mad"]
    annotations: dict[Split, str] = Field(min_length=1)
    """JSON file of each split."""
    frames: str | None = None
    """HDF5 of frame features, a data set per movie; null: computed from `videos`."""
    tokens: str | None = None
    """HDF5 of token features, a data set per annotation (VLG-Net); null: computed."""
    sentences: str | None = None
    """HDF5 of sentence features, a data set per annotation (zero-shot); null: computed."""
    videos: str | None = None
    """Folder of the movies, named by movie id, for features that are computed."""

    @property
    def features_supplied(self) -> bool:
        return None not in (self.frames, self.tokens, self.sentences)

    @model_validator(mode="after")
    def computable(self) -> "MadSource":
        if self.frames is None and self.videos is None:
            raise ValueError("give `frames`, or `videos` to compute them from")
        return self


class DescribedSource(MovieSourceSection):
    """Movies with their audio description: rows are collected from sound, transcript and subtitles (section 3.1)."""

    collected: ClassVar[bool] = True

    kind: Literal["described"]
    manifest: str
    """CSV, one movie a row: movie, track, described, transcript, subtitles, split; paths count from its folder."""
    videos: str
    """Folder of the movies, named by movie id."""


class RenderedMovies(MovieSourceSection):
    """Synthetic movies of the demo. Those of train have a described track with a known truth, and are collected."""

    rendered: ClassVar[bool] = True
    collected: ClassVar[bool] = True

    kind: Literal["demo"] = "demo"
    movies: int = Field(default=20, ge=4)
    """Number of movies."""
    shortest: int = Field(default=600, ge=60)
    """Shortest movie in seconds."""
    longest: int = Field(default=1200, ge=60)
    """Longest movie in seconds."""
    size: int = Field(default=64, ge=32, multiple_of=16)
    """Width and height in pixels."""
    train_share: float = Field(default=0.6, gt=0, lt=1)
    """Share of the movies in train."""
    val_share: float = Field(default=0.05, gt=0, lt=1)
    """Share of the movies in val; the rest is test."""
    refused: int = Field(default=1, ge=0)
    """Movies of train whose description was made for another cut; collection must refuse them."""


MovieSource = Annotated[MadSource | DescribedSource | RenderedMovies, Field(discriminator="kind")]


class MovieSet(Section):
    """One data set of movies."""

    title: Line
    """Name used in tables."""
    source: MovieSource
    times: Literal["ext_timestamps", "timestamps"] = "ext_timestamps"
    """Key of MAD's JSON that holds the moment; both official baselines read ext_timestamps."""
    train_split: Split = "train"
    """Split that VLG-Net is trained on."""
    test_split: Split = "test"
    """Split that the tables report."""


class VlgNet(Section):
    """VLG-Net; the defaults are MAD's."""

    hidden: int = Field(default=512, ge=8)
    """Width, also of the sentence's LSTM."""
    blocks: int = Field(default=7, ge=0)
    """Passes through the shared GCNeXt block."""
    warm_start: str | None = None
    """Checkpoint from which GCNeXt's block starts, as published: G-TAD's, or one of VLG-Net; null: random weights."""
    neighbours: int = Field(default=7, ge=1)
    """Nearest clips of a clip."""
    groups: int = Field(default=32, ge=1)
    """Groups of the narrow convolutions, four channels each."""
    stack: int = Field(default=5, ge=1)
    """Layers that score the moments; all but the first share weights."""
    gather: Literal["as_released", "correct"] = "as_released"
    """How features of neighbours are fetched; as_released reads wrong positions, as for the published results."""
    jitter: Literal["paper", "code"] = "paper"
    """How a window around a moment is drawn; paper and code differ."""
    negatives: Literal["paper", "code"] = "paper"
    """Windows without the moment (paper), or drawn anywhere and labelled so (code)."""
    negative_share: float = Field(default=0.7, ge=0, lt=1)
    """Share of windows without the moment."""
    epochs: int = Field(default=50, ge=1)
    """Training epochs."""
    batch: int = Field(default=128, ge=1)
    """Windows per step."""
    learning_rate: float = Field(default=1e-4, gt=0)
    """Learning rate of Adam."""
    halve_every: int = Field(default=25, ge=1)
    """Epochs after which the learning rate is halved."""
    align_epochs: int = Field(default=0, ge=0)
    """Epochs before `epochs` in which only the encoders are trained, to align a sentence with the clips of its moment;
    the published training has none.
    """
    search_batch: int = Field(default=512, ge=1)
    """Windows per forward pass at test."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of its jobs."""
    gpu: int = Field(default=0, ge=0, le=1)
    """GPUs of one of its jobs."""


class Collection(Section):
    """Alignment and transcripts of described movies (section 3.1)."""

    rate: int = Field(default=4000, ge=100)
    """Samples per second at which tracks are aligned; delays are found to one of them."""
    window_seconds: float = Field(default=60.0, gt=0)
    """Length of each of the twenty windows."""
    most_seconds: float = Field(default=120.0, gt=0)
    """Largest delay that is searched."""
    pause_seconds: float = Field(default=1.5, gt=0)
    """Silence that ends a sentence of a transcript."""


class Longform(Section):
    """Long-form grounding: complete if `datasets` names at least one, else only the statistics, if requested."""

    brings_data: ClassVar[bool] = True

    datasets: dict[str, MovieSet] = Field(default={})
    """Data sets of movies by name (lower-case letters, digits and hyphens)."""
    encoder: str = ""
    """Joint encoder of frames and sentences, for computed features: evaluator (that of this configuration),
    packaged-joint (see docs/models.md), or a CLIP or SigLIP model by hub name or folder; empty: packaged-joint if all
    movies are the user's, else openai/clip-vit-base-patch32, MAD's.
    """
    encoder_revision: str = ""
    """Branch, tag or commit of a hub model in `encoder`; empty: its main branch. The lock pins the commit."""
    encoder_batch: int = Field(default=64, ge=1)
    """Frames or sentences per forward pass."""
    encoder_gpu: int = Field(default=0, ge=0, le=1)
    """GPUs of one encoding job."""
    encoder_threads: int = Field(default=1, ge=1)
    """Compute threads of an encoding job."""
    grid: Grid = Grid()
    nms_threshold: float = Field(default=0.3, gt=0, le=1)
    """IoU above which a lower-ranked proposal is suppressed."""
    iou_cmp: Literal["published", "gt", "ge"] = "published"
    """Whether IoU must exceed (gt) or reach (ge) the threshold; published: ge for VLG-Net, gt for all else."""
    models: tuple[MovieModel, ...] = ("zero-shot", "vlg-net")
    """Baselines in addition to Oracle and Random Chance."""
    chance_runs: int = Field(default=100, ge=1)
    """Draws of Random Chance, in addition to its expectation."""
    short_seconds: float = Field(default=180.0, gt=0)
    """Length of the segments of the short-video setup (Table 3)."""
    window_seconds: tuple[float, ...] = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
    """More lengths of the sweep from short videos to whole movies (Figure 4)."""
    mixtures: tuple[dict[str, float], ...] = ()
    """Trainings of VLG-Net on shares of data sets (Table 5), each {data set: share}."""
    mixture_test: str | None = None
    """Data set whose test split the mixtures are tested on."""
    vlg_net: VlgNet = VlgNet()
    collection: Collection = Collection()
    published: tuple[Literal["charades-sta", "activitynet-captions", "didemo"], ...] = ()
    """Published data sets whose rows of Table 1 are rebuilt and compared with the published ones."""
    published_dir: str | None = None
    """Folder that holds their files already, at the places of config/sources.csv; null: downloaded."""
    statistics: bool = False
    """Table 1 and its figures for a configuration's data sets without any of movies; `published` implies it."""
    processes: int = Field(default=1, ge=1)
    """Processes of the language measures."""

    @property
    def described(self) -> bool:
        """Whether any data set gets the statistics of the MAD paper's Table 1."""
        return bool(self.datasets or self.published or self.statistics)

    @model_validator(mode="after")
    def consistent(self) -> "Longform":
        for name in self.datasets:
            check_name(name, "data set name")
        for mixture in self.mixtures:
            for name, share in mixture.items():
                if name not in self.datasets:
                    raise ValueError(f"mixtures: unknown data set {name!r}; known: {', '.join(self.datasets)}")
                if not 0 < share <= 1:
                    raise ValueError(f"mixtures: share {share} of {name} is not in (0, 1]")
        if self.mixtures and self.mixture_test not in self.datasets:
            raise ValueError("mixtures are given, so mixture_test must name the data set that they are tested on")
        return self


def check(settings: Config) -> None:
    """Resolve the encoder."""
    if not settings.has(Longform):
        return
    section = settings.section(Longform)
    if not section.encoder:
        sources = [movies.source for movies in section.datasets.values()]
        own = [not source.comparable and not source.rendered for source in sources]
        named = {"encoder": PACKAGED_JOINT if own and all(own) else MAD_ENCODER}
        object.__setattr__(settings, "longform", section.model_copy(update=named))  # sections are frozen


def has_computed_features(settings: Config) -> bool:
    """Whether a joint encoder computes features of a data set of movies."""
    return not all(movies.source.features_supplied for movies in settings.section(Longform).datasets.values())
