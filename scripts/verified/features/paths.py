"""Which annotations feed which text features, for the rule that encodes them."""

from collections.abc import Callable

from verified.annotations.paths import annotation_files
from verified.config import Config
from verified.config.features import SMALL_RESNET
from verified.config.folders import dataset_of
from verified.demo.pretrained import shipped_backbone

CAPTIONS = {"cog": ("fig", "cog_desc"), "fig": ("fig", "fig_desc"), "fig-lowest": ("fig-lowest", "fig_desc")}
"""Text features by name: the annotations they come from and the key of the caption."""


def shipped_network(settings: Config) -> list[str]:
    """The weights of the image backbone, where it is the one that comes with the workflow."""
    return [f"{shipped_backbone()}/model.safetensors"] if settings.features.video_backbone == SMALL_RESNET else []


def caption_files(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the annotation files behind text features ``wildcards.captions``."""

    def files(wildcards) -> list[str]:
        kind, _ = CAPTIONS[wildcards.captions]
        return annotation_files(settings, kind)(wildcards)

    return files


def caption_key(wildcards) -> str:
    """A params function: the key of the caption that ``wildcards.captions`` encodes."""
    return CAPTIONS[wildcards.captions][1]


def clip_seconds(settings: Config) -> Callable[[object], float]:
    """A params function: clip length of ``wildcards.dataset`` in seconds."""

    def seconds(wildcards) -> float:
        return dataset_of(settings, wildcards).spans.clip_seconds

    return seconds
