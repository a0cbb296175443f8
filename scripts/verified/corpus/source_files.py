"""Files and settings of the jobs that read a source, by configuration."""

from typing import Any

from verified.config import Config
from verified.config.datasets import DataSet
from verified.config.folders import dataset_of
from verified.runtime.resources import ancient


def source_files(settings: Config, wildcards) -> dict[str, Any]:
    """The folder of videos and the moments file of ``wildcards.dataset``, given or made by a rule.

    A user's folder counts as old: not its timestamp but `corpus.shards.folder_state` shows changes of its videos.
    """
    source = dataset_of(settings, wildcards).source
    paths = source.files(f"results/{wildcards.dataset}/corpus")
    return paths if source.rendered else {**paths, "videos": ancient(paths["videos"])}


def shard_source(settings: Config, wildcards) -> dict[str, Any]:
    """The same files for the jobs of a shard, which `corpus.shards.shard_state` tells when to run again."""
    files = source_files(settings, wildcards)
    # A generated moments file changes with its source alone, and then all shards must be read again.
    moments = dataset_of(settings, wildcards).source.given_moments
    return {**files, "moments": ancient(files["moments"])} if moments else files


def source_reading(dataset: DataSet) -> dict[str, Any]:
    """How moments are joined with videos."""
    source = dataset.source
    return {"default_split": getattr(source, "default_split", None) or "test", "published": source.published}


def division_of(settings: Config, name: str) -> dict | None:
    """Shares and seed of the division of a data set's videos; None if its moments file names splits."""
    dataset = settings.datasets[name]
    if not dataset.source.names_no_split:
        return None
    proposals = dataset.proposals
    return {"train_share": proposals.train_share, "val_share": proposals.val_share, "seed": settings.seed}


def split_settings(settings: Config, name: str) -> dict[str, Any]:
    """Keys of the section `spans` that the corpus stage needs; other keys must not re-run it."""
    spans, division = settings.datasets[name].spans, division_of(settings, name)
    return {
        "held_out_share": spans.held_out_share,
        **{role: getattr(spans, role) for role in ("train_split", "selection_split", "test_split")},
        **({"division": division} if division else {}),
    }
