"""The search index of a corpus (`verified index`): its section, and its settings as its job gets them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from verified.config.base import Line, Operational, Section
from verified.config.datasets import Spans
from verified.config.features import Features
from verified.config.retrieval import Retrieval

JOINT = "joint"
"""Name of the index that needs no training: features and sentences of a joint encoder."""


class Search(Section):
    """Settings of `verified index` and `verified search`."""

    initial: ClassVar[Mapping[str, Any]] = {"model": "joint"}

    model: Annotated[str, Operational("names the index that commands ask for")] = ""
    """A one-stage retrieval model of this configuration (xml, reloclnet, hero), or joint where
    `features.video_backbone` also reads sentences (packaged, packaged-joint, a CLIP or SigLIP model): no training is
    needed then; empty: the first of `retrieval.models` that can be indexed."""
    trained_on: str = Field(default="fig", pattern="^(cog|fig)$")
    """Captions that the model was trained on; cog, too, where a data set has no fine captions."""
    captions: str = Field(default="fine", pattern="^(fine|coarse)$")
    """Captions shown with the results of a joint index. coarse: those of the corpus, so that videos and moments are its
    only inputs; other models are trained on captions, and show the fine ones.
    """
    thumbnails: int = Field(default=12, ge=0, le=100)
    """Pictures of each video in the index; 0: none."""


class IndexSettings(Section):
    """The part of the configuration that an index of a data set is built from."""

    model: str
    dataset: str
    title: Line
    spans: Spans
    search: Search
    retrieval: Retrieval
    features: Features
    """The encoder of sentences: of videos too, for a joint index."""
    seed: int

    @property
    def text_encoder(self) -> str:
        """Name or folder of the encoder of sentences."""
        return getattr(self.features, encoder_keys(self.model)[0])


def encoder_keys(model: str) -> tuple[str, str]:
    """Keys of `features` with the encoder of sentences of an index, and with its revision."""
    return ("video_backbone", "video_revision") if model == JOINT else ("text_encoder", "text_revision")
