"""Settings of questions across time (ReXTime): sources, filters, generation, annotation pages, prices."""

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from verified.config import Config
from verified.config.base import Section, check_name
from verified.config.engines import ENGINES

Protocol = Literal[
    "answer_with_span",
    "locate_then_score",
    "score_with_true_span",
    "free",
]
GroundingModel = Literal["univtg", "cg_detr"]
FREE = "free"
"""The protocol whose answers are the model's own words, shown and not scored."""


class CaptionFilters(Section):
    """Filters of captioned videos."""

    long_share: float = Field(default=0.8, gt=0, le=1)
    """An event longer than this share of its video is dropped."""
    min_coverage: float = Field(default=0.6, ge=0, le=1)
    """A video whose segments add up to less than this share of it is sparsely captioned and dropped."""
    gap_seconds: float = Field(default=10, ge=0)
    """A gap of more than this between events separates two clusters."""


class RextimeSource(Section):
    """Source of events: a file of annotations, or the corpus of a data set of this configuration."""

    form: Literal["captions", "queries"]
    """captions: several timed captions a video (ActivityNet Captions form); queries: a query and its window."""
    split: str = Field(default="val", pattern=r"^[a-z0-9][a-z0-9_-]*$")
    """Split that the questions go to. Questions of a split called train get no wrong options."""
    annotations: str | None = None
    """File in the form's own format."""
    dataset: str | None = None
    """Data set of this configuration whose moments are used instead of a file."""
    videos: str | None = None
    """Folder of the video files, named by video id; needed for queries, models and pages. Data sets have their videos.
    """

    @property
    def has_videos(self) -> bool:
        """Whether its videos are available."""
        return bool(self.dataset or self.videos)

    @model_validator(mode="after")
    def one_origin(self):
        if (self.annotations is None) == (self.dataset is None):
            raise ValueError("a source has either `annotations` (a file) or `dataset` (a name)")
        return self


class Routing(Section):
    """The pairs of events for each kind of question; the supplement prints no thresholds."""

    similar_from: int = Field(default=2, ge=0, le=4)
    """Pairs with at least this similarity are dropped; 4 drops none."""
    causal_from: int = Field(default=2, ge=0, le=3)
    """Directness and necessity from which the first event is a cause of the second."""
    purposeful_from: int = Field(default=2, ge=0, le=3)
    """Intentionality or purpose from which a cause is a means to an end."""
    alignments: tuple[Literal["high", "medium", "low"], ...] = ("high",)
    """How well an event found in the frames must be aligned with the video."""
    query_kind: Literal["sequential", "cause_effect", "means_to_an_end"] = "cause_effect"
    """Kind of the questions about a query and the event found next to it."""


class Prices(Section):
    """The cost of questions (supplement, section C.3), in one currency."""

    generation_per_1000: float = Field(default=35, ge=0)
    """Calls to the model for 1,000 samples; the table also shows the number in this run's ledger."""
    reviews_per_hour: float = Field(default=60, gt=0)
    """Samples that one person reviews in an hour."""
    wage_per_hour: float = Field(default=6, ge=0)
    """Hourly wage."""
    written_per_hour: float = Field(default=20, gt=0)
    """Question-answer pairs that one person writes in an hour without the workflow."""


class Submission(Section):
    """Answers of an external model to a file of questions."""

    file: str
    """JSON Lines: qid, pred_relevant_windows, ans."""
    questions: str
    """The name under `released`, or the split of the generated questions, that it answers, whole."""
    mode: Literal["both", "grounding", "vqa"] = "both"
    """Content of its rows: windows and letters, windows, or letters."""


class ReleasedQuestions(Section):
    """A file of questions in the released form, and the videos that a video LMM sees to answer them."""

    questions: str
    """JSON Lines: qid, query, duration, vid, and if known relevant_windows, ans and options (four)."""
    videos: str | None = None
    """Folder of their videos, named by video id; null: no model is called, submissions are scored."""
    per_kind: int | None = Field(default=None, ge=1)
    """So many questions of each kind, drawn by the seed, instead of all; 100 is the document's mini test."""
    only: str | None = None
    """Text file with the ids of the questions to answer and score, one a line; null: all."""
    scored: bool = True
    """Whether the file has windows; false: answers are written for a leaderboard, without scores."""

    @property
    def sampled(self) -> bool:
        """Whether the test is a part of the file."""
        return bool(self.per_kind or self.only)

    @model_validator(mode="before")
    @classmethod
    def file_alone(cls, value: Any) -> Any:
        return {"questions": value} if isinstance(value, str) else value


class FineTuning(Section):
    """Fine-tuning of retrieval models on the questions of train; otherwise as in a model's official recipe."""

    epochs: int = Field(default=20, ge=1)
    """Epochs; the weights of the last one are used."""
    batch: int = Field(default=16, ge=2)
    """Questions per step."""
    learning_rate: float = Field(default=1e-4, gt=0)
    """Peak learning rate."""


class Lora(Section):
    """Fine-tuning of the video LMM by low-rank adapters (LoRA) on the questions of train; the defaults are VTimeLLM's
    (supplement, C.5)."""

    rank: int = Field(default=64, ge=1)
    """Rank of the adapters; TimeChat's is 32."""
    alpha: float = Field(default=128, gt=0)
    """The adapters' contribution is multiplied by alpha / rank."""
    targets: tuple[str, ...] = Field(default=("q_proj", "k_proj", "v_proj", "o_proj"), min_length=1)
    """Linear layers of the language model that get an adapter, by their names in its blocks."""
    epochs: int = Field(default=2, ge=1)
    """Epochs; TimeChat: 3."""
    batch: int = Field(default=128, ge=1)
    """Questions per step, whose gradients are added up one by one; TimeChat: 64."""
    learning_rate: float = Field(default=1e-4, gt=0)
    """Peak learning rate; TimeChat: 3e-5."""
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    """Number format of the frozen model while it is fine-tuned; adapters are float32."""
    gradient_checkpointing: bool = True
    """Compute inner values twice instead of keeping them: a third more time, a fraction of the memory."""


CLIP_SECONDS = 2.0
"""Length of the clips that UniVTG and CG-DETR were published for."""


class PublishedGrounder(Section):
    """A grounding model with its authors' weights, tested without any training here."""

    checkpoint: str
    """Output of `verified import univtg FILE` (or cg_detr) for the authors' file."""
    video: str | None = None
    """Feature file: by video id, the features of clips of two seconds that the weights read; null: the features of the
    data set that the questions are about."""
    text_encoder: str = "openai/clip-vit-base-patch32"
    """CLIP that reads the questions, a hub name or a folder."""
    text_revision: str = ""
    """Branch, tag or commit of `text_encoder`."""


class Rextime(Section):
    """Questions across time (ReXTime); built only if `sources` or `released` is not empty."""

    brings_data: ClassVar[bool] = True

    sources: dict[str, RextimeSource] = Field(default={})
    """Sources that questions are written from, by name (lower-case letters, digits and hyphens)."""
    released: dict[str, ReleasedQuestions] = Field(default={})
    """Given questions in the released form, by name, or their file alone: baselines and `submissions` are scored on
    them, and the video LMM answers them if they have `videos`.
    """
    submissions: dict[str, Submission] = Field(default={})
    """Submissions to include in the table of models, by the name that it shows."""
    captions: CaptionFilters = CaptionFilters()
    routing: Routing = Routing()
    verification_threshold: int = Field(default=3, ge=0, le=3)
    """Least verification score of an accepted question."""
    frames: int = Field(default=50, ge=2)
    """Uniform frames of a whole video that a video LMM sees."""
    models: tuple[Literal["video_lmm", "fine_tuned_video_lmm", "retrieval", "fine_tuned_retrieval"], ...] = ()
    """Test takers in addition to the trivial baselines: the video LMM of `generation`, the retrieval models as trained
    on captions; and after fine-tuning on the questions of the split train, the video LMM (engine transformers) and the
    one-stage models among these.
    """
    published: dict[GroundingModel, PublishedGrounder] = Field(default={})
    """Grounding models that take the test with their authors' weights, zero-shot, by the name of the model. With a file
    of features, they also answer given questions (`released`) that are scored."""
    fine_tuning: FineTuning = FineTuning()
    lora: Lora = Lora()
    protocols: tuple[Protocol, ...] = ("answer_with_span",)
    """Protocols of the video LMM: letter and span in one answer; a span, then four scored continuations (engine
    transformers), also after the true span; or the question alone, answered freely.
    """
    licence: str = Field(default="not stated", min_length=1)
    """Licence of the questions in their card; ReXTime's own are CC-BY-NC-SA-4.0, as QVHighlights is."""
    prices: Prices = Prices()

    @property
    def asks(self) -> bool:
        """Whether the section builds anything."""
        return bool(self.sources or self.released)

    @field_validator("sources", "released")
    @classmethod
    def names(cls, named: dict[str, Any]) -> dict[str, Any]:
        for name in named:
            check_name(name)
        return named

    @model_validator(mode="after")
    def check_questions(self):
        splits = {source.split for source in self.sources.values()}
        if both := sorted(splits & self.released.keys()):
            raise ValueError(f"released: {both[0]!r} is a split of the sources already; choose another name")
        for name, submission in self.submissions.items():
            if submission.questions in self.released and not self.released[submission.questions].scored:
                raise ValueError(f"submissions.{name}: {submission.questions!r} is not scored")
            if submission.questions not in splits | self.released.keys():
                choices = ", ".join(sorted(splits | self.released.keys())) or "none"
                raise ValueError(f"submissions.{name}: unknown questions {submission.questions!r}; known: {choices}")
        return self

    @model_validator(mode="after")
    def check_models(self):
        for name, grounder in self.published.items():
            if grounder.video is None and not any(source.dataset for source in self.sources.values()):
                raise ValueError(f"published.{name}: no source is a data set; name a feature file in its `video`")
        taught = [source for source in self.sources.values() if source.split == "train"]
        on_data_sets = any(source.dataset for source in taught)
        if "fine_tuned_retrieval" in self.models and not ("retrieval" in self.models and on_data_sets):
            raise ValueError("models: fine_tuned_retrieval needs `retrieval` and a source {dataset: …, split: train}")
        on_videos = any(source.has_videos for source in taught)
        if "fine_tuned_video_lmm" in self.models and not ("video_lmm" in self.models and on_videos):
            raise ValueError(
                "models: fine_tuned_video_lmm needs `video_lmm` and a source with videos {split: train, …}"
            )
        watched = [name for name, entry in self.released.items() if entry.videos]
        if self.released and not self.sources and "video_lmm" in self.models and not watched:
            raise ValueError("models: video_lmm has no questions; name the folder of videos in released.NAME.videos")
        for name, entry in self.released.items():
            if not entry.scored and (truth := [name for name in self.protocols if name.endswith("true_span")]):
                raise ValueError(f"protocols: {truth[0]} needs true spans, and {name!r} is not scored")
            if not entry.scored and not entry.videos:
                raise ValueError(f"released.{name}: neither scored nor answered; name its `videos`")
        return self


def check(settings: Config) -> None:
    """Raise ValueError for unknown data sets, a video LMM that cannot learn, and queries without tokens."""
    section = settings.section(Rextime)
    for name, source in section.sources.items():
        if source.dataset is None:
            continue
        if source.dataset not in settings.datasets:
            choices = ", ".join(settings.datasets) or "none"
            raise ValueError(f"rextime.sources.{name}: unknown data set {source.dataset!r}; known: {choices}")
        if not settings.datasets[source.dataset].source.has_videos:
            raise ValueError(f"rextime.sources.{name}: the data set {source.dataset!r} has no videos")
    lmm = settings.generation.video_lmm
    if "fine_tuned_video_lmm" in section.models and (not lmm.kind.learns or lmm.structured):
        able = " or ".join(name for name, kind in ENGINES.items() if kind.learns)
        raise ValueError(
            f"rextime.models: fine_tuned_video_lmm needs a generation.video_lmm of the engine {able}, "
            "with structured: false"
        )
