"""Settings of rows without training, by vectors and by a video LMM after a first stage, and of exports."""

from collections.abc import Collection

from pydantic import Field

from verified.config import Config
from verified.config.base import Section


class Grounder(Section):
    """The video LMM of `generation` locates a query's moments in the best videos of a first stage."""

    first_stages: tuple[str, ...] = ()
    """First stages that choose the videos: retrieval models, or dense. Each is a row of the tables; empty: no such row.
    """
    videos: int = Field(default=5, ge=1)
    """K: videos per query; the query's own is shown as well, for SVMR."""
    frames: int = Field(default=50, ge=2)
    """Uniform frames of a whole video."""


class Reranker(Section):
    """The video LMM of `generation` grades the best moments of a first stage, from 0 to 10."""

    first_stages: tuple[str, ...] = ()
    """Whose moments it is shown: retrieval models, dense, or NAME-grounded. Each is a row of the tables."""
    moments: int = Field(default=5, ge=1)
    """N: moments per query, of all videos, and again of the true one for SVMR."""
    frames: int = Field(default=8, ge=2)
    """Uniform frames of a moment."""


class WebDataset(Section):
    """Shards of the export `webdataset`."""

    media: bool = False
    """Whether clips and keyframes are included (may you distribute them?); other forms of export have none."""
    clip_side: int = Field(default=360, ge=64, multiple_of=2)
    """Longest side of exported clips, in pixels; smaller videos keep their size."""
    shard_captions: int = Field(default=500, ge=1)
    """Captions in a shard, at most."""


class Rows(Section):
    """Rows in addition to the trained models', and shards of exports."""

    dense: bool = False
    """Whether the vectors of `generation.embed` rank videos and windows, without training: a row of the tables."""
    grounder: Grounder = Grounder()
    reranker: Reranker = Reranker()
    webdataset: WebDataset = WebDataset()

    @property
    def any(self) -> bool:
        """Whether there is a row."""
        return bool(self.dense or self.grounder.first_stages or self.reranker.first_stages)


def check(settings: Config) -> None:
    """Raise ValueError for a first stage that there is not, and for a model that a row needs."""
    section, embed = settings.section(Rows), settings.generation.embed
    if section.dense and (embed is None or embed.shows == "nothing"):
        raise ValueError("field.dense needs generation.embed, whose model sees frames or clips")
    stages = {*settings.retrieval.names, *(["dense"] if section.dense else [])}
    _check_stages("grounder", section.grounder.first_stages, stages)
    grounded = {f"{name}-grounded" for name in section.grounder.first_stages}
    _check_stages("reranker", section.reranker.first_stages, stages | grounded)


def _check_stages(key: str, named: Collection[str], stages: Collection[str]) -> None:
    for name in named:
        if name not in stages:
            raise ValueError(f"field.{key}: no first stage {name!r}; there are {', '.join(sorted(stages))}")
    if len(set(named)) < len(named):
        raise ValueError(f"field.{key}: a first stage is listed twice")
