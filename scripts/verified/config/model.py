"""The model of a configuration without the sections of extensions, which `verified.config` adds."""

from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from verified.config.annotations import Annotations
from verified.config.base import PATTERN, Operational, Section, check_name
from verified.config.datasets import RESERVED, DataSet
from verified.config.evaluator import Evaluator
from verified.config.features import Features
from verified.config.generation import Generation
from verified.config.retrieval import Retrieval
from verified.errors import nearest

Kind = TypeVar("Kind", bound=Section)

HUGGING_FACE = "hugging-face"


class Statistics(Section):
    """Parameters of the many-to-many clustering and the language statistics (section 3.5, supplement A)."""

    distance: float = Field(default=0.01, gt=0, lt=2)
    """Cosine distance below which two captions count as similar (DBSCAN's eps)."""
    min_samples: int = Field(default=2, ge=1)
    """DBSCAN's min_samples, the point itself included."""
    figure_min_samples: int = Field(default=16, ge=1)
    """DBSCAN's min_samples for the picture of clustered captions (supplement Figure 5)."""
    spacy_model: str = "en_core_web_sm"
    """spaCy model for parts of speech and lemmas."""
    threads: int = Field(default=1, ge=1)
    """Compute threads of the sentence encoder and processes of spaCy."""


class Study(Section):
    """Size of the user study (Table 3, supplement D) and of its clips."""

    captions: int = Field(default=50, ge=1)
    """Statics captions, and as many dynamics captions, drawn per data set."""
    questions: int = Field(default=30, ge=1)
    """Questions per participant, at most."""
    raters: int = Field(default=3, ge=2)
    """Participants who answer each question."""
    clip_side: int = Field(default=360, ge=64, multiple_of=2)
    """Longest side of the clips shown, in pixels; smaller videos keep their size."""


class Statements(Section):
    """Statements that only the people behind a data set can make, for its cards and Croissant; null: omitted."""

    limitations: str | None = Field(default=None, min_length=1)
    """Limits of its coverage, and uses to avoid."""
    biases: str | None = Field(default=None, min_length=1)
    """Which people, places and things are over- or under-represented, if known."""
    sensitive_information: str | None = Field(default=None, min_length=1)
    """Personal or sensitive information in videos and captions, or that there is none."""
    use_cases: str | None = Field(default=None, min_length=1)
    """Its purpose, and the uses it was shown to serve."""
    social_impact: str | None = Field(default=None, min_length=1)
    """Benefit and harm that its use may do, and measures against the harm."""


class Export(Section):
    """Forms in which annotations are exported, and the contents of their cards."""

    forms: tuple[str, ...] = (HUGGING_FACE,)
    """Default forms of `verified export`; each is a folder below results/…/export."""
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the data set, for its cards."""
    creators: tuple[str, ...] = ()
    """People or groups who publish it, for its cards."""
    url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of its page, for its cards; null: no page yet."""
    statements: Statements = Statements()
    reviewer_names: bool = False
    """Whether rows name who reviewed them (did they agree?); otherwise they say reviewer 1, reviewer 2, …"""
    clean: bool = False
    """Whether annotations with a finding, such as those of an audit, are omitted from all forms."""


class Weights(Section):
    """Models of the hub and UMT's checkpoint: fetched once, before any job that uses them, and pinned by a lock."""

    folder: str = Field(default="resources/models", min_length=1)
    """Folder of fetched models, as ORGANISATION--NAME/COMMIT/."""
    lock: str = Field(default="models.lock.json", min_length=1)
    """Lock file: the commit and the files' SHA-256 of each model; written by the first fetch, binding afterwards."""
    hub: str | None = None
    """A folder with ORGANISATION/NAME/ below it that replaces the hub, on machines without network."""


class Config(Section):
    """All settings of a run; `config_model` adds the sections of extensions."""

    name: str = Field(default="demo", pattern=PATTERN)
    """Name of this configuration: of its folder below results/, and in every table."""
    seed: int = Field(default=2024, ge=0)
    """Every random draw derives from it."""
    shards: int = Field(default=2, ge=1, le=999)
    """Parts that each data set is split into, by a stable hash of the video id."""
    video_reader: Literal["pyav", "decord"] = "pyav"
    """Library that decodes frames at given times; decord, of MP4 files and where installed: the same frames, slower."""
    longest_minutes: Annotated[int | None, Operational("limits the time that jobs request")] = Field(default=None, ge=1)
    """Longest time that a cluster gives a job, in minutes: no job requests more. null: no limit."""
    layers: Annotated[tuple[str, ...], Operational("its keys count as if written here")] = ()
    """Files that this one builds on, by paths from its folder: their keys apply unless this file sets them."""
    datasets: dict[str, DataSet] = Field(default_factory=dict)
    """Data sets by name (lower-case letters, digits and hyphens), which becomes a folder below results/NAME."""
    tables: tuple[str, ...] | None = None
    """Data sets that the tables show; null: all. The others still teach the evaluator."""
    generation: Generation = Generation()
    evaluator: Evaluator = Evaluator()
    annotations: Annotations = Annotations()
    features: Features = Features()
    retrieval: Retrieval = Retrieval()
    statistics: Statistics = Statistics()
    study: Study = Study()
    export: Export = Export()
    weights: Weights = Weights()

    @field_validator("name")
    @classmethod
    def free_name(cls, name: str) -> str:
        if use := {"tables": "shows the tables of the last run", "ledger": "holds all model calls"}.get(name):
            raise ValueError(f"results/{name} {use}; choose another name")
        return name

    @field_validator("datasets")
    @classmethod
    def folder_names(cls, datasets: dict[str, DataSet]) -> dict[str, DataSet]:
        for name in datasets:
            check_name(name, "data set name")
            if name in RESERVED or name in cls.model_fields.keys() - Config.model_fields.keys():
                raise ValueError(f"data set name {name!r} is taken by a folder of that name below results/NAME")
        return datasets

    @model_validator(mode="after")
    def check_not_empty(self) -> "Config":
        parts = [getattr(self, key) for key in self.model_fields_set]
        if not self.datasets and not any(isinstance(part, Section) and part.brings_data for part in parts):
            raise ValueError("missing key datasets")
        for name in self.tables or ():
            if name not in self.datasets:
                hint = nearest(name, self.datasets)
                raise ValueError(f"tables: unknown data set {name!r}{hint} (known: {', '.join(self.datasets)})")
        return self

    @model_validator(mode="after")
    def backbone_of_the_corpora(self) -> "Config":
        if not self.features.video_backbone:
            rendered = all(dataset.source.rendered for dataset in self.datasets.values())
            named = {"video_backbone": "small-resnet" if rendered else "packaged"}
            object.__setattr__(self, "features", self.features.model_copy(update=named))  # sections are frozen
        return self

    def section(self, kind: type[Kind]) -> Kind:
        """The section of an extension by its model; its defaults if the configuration has none."""
        return getattr(self, section_key(type(self), kind)) or kind()

    def has(self, kind: type[Section]) -> bool:
        """Whether the configuration has a section of an extension."""
        return getattr(self, section_key(type(self), kind)) is not None


@cache
def section_key(model: type[Config], kind: type[Section]) -> str:
    """The key of a section at the top of the configuration; empty for a model of a section below it."""
    kinds: dict[Any, str] = {field.annotation: name for name, field in model.model_fields.items()}
    return kinds.get(kind) or kinds.get(kind | None, "")
