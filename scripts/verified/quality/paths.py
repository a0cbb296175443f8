"""What rules give to the jobs that measure and select moments."""

from collections.abc import Callable
from typing import Any, Literal

from verified.config import Config
from verified.config.datasets import Quality
from verified.config.folders import dataset_of
from verified.runtime.wildcards import OfDataset, shard_names


def _quality(settings: Config, wildcards: OfDataset) -> Quality:
    return dataset_of(settings, wildcards).quality or Quality()


def quality_settings(settings: Config, part: Literal["measured", "limits"]) -> Callable[[OfDataset], dict[str, Any]]:
    """A params function: what the measures of ``wildcards.dataset`` depend on, or all of its settings.

    Another limit measures nothing again, but for the first one of text, which is only then looked for.
    """

    def values(wildcards: OfDataset) -> dict[str, Any]:
        quality = _quality(settings, wildcards)
        if part == "limits":
            return quality.model_dump(mode="json")
        return {"fps": quality.fps, "max_text": None if quality.max_text is None else 0.0}

    return values


def asks_speech(settings: Config) -> Callable[[OfDataset], bool]:
    """A params function: whether a model says what is said in videos of ``wildcards.dataset`` without subtitles."""
    return lambda wildcards: _quality(settings, wildcards).transcripts == "speech"


def measures_of_all(settings: Config) -> Callable[[Any], list[str]]:
    """An input function: the measures of all shards of a data set, where moments are compared with one another."""

    def files(wildcards: Any) -> list[str]:
        if _quality(settings, wildcards).max_alike is None:
            return []
        folder = f"results/{wildcards.dataset}/corpus/found"
        return [f"{folder}/{shard}.measures.jsonl" for shard in shard_names(settings.shards)]

    return files


def transcript_files(settings: Config) -> Callable[[Any], list[str]]:
    """An input function: the transcripts of a shard, where they are wanted."""

    def files(wildcards: Any) -> list[str]:
        wanted = _quality(settings, wildcards).transcripts is not None
        folder = f"results/{wildcards.dataset}/corpus/found"
        return [f"{folder}/{wildcards.shard}.transcripts.jsonl"] if wanted else []

    return files
