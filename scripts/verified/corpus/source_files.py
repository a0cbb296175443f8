"""What the rules of the stage need to know: where a source is, which settings matter."""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePath
from typing import Any

from verified.config import Config
from verified.config.folders import dataset_of
from verified.config.sources import FolderSource, PublishedSource, ReleasedSource
from verified.corpus.released_source import resolve
from verified.corpus.shard_states import listed, rows_by_shard, told, video_states
from verified.corpus.video_folder import VideoFolder, folder_digest
from verified.errors import InputError
from verified.runtime.folders import key_of
from verified.runtime.shards import shard_index, shard_names, shard_of


def source_files(settings: Config) -> Callable[[object], dict[str, Any]]:
    """An input function: the folder of videos and the moments file of ``wildcards.dataset``, given or made by a rule.

    A user's folder counts as old: its timestamp says nothing about its videos, but `folder_state` does.
    """
    from snakemake.io import ancient

    def files(wildcards) -> dict[str, Any]:
        source = dataset_of(settings, wildcards).source
        paths = source.files(f"results/{wildcards.dataset}/corpus")
        return paths if source.rendered else {**paths, "videos": ancient(paths["videos"])}

    return files


def video_folder(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the folder of videos alone, in which scenes are looked for before there are moments."""
    files_of = source_files(settings)
    return lambda wildcards: {"videos": files_of(wildcards)["videos"]}


def scene_captions(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the first captions of scenes, where the moments of ``wildcards.dataset`` are proposed."""

    def files(wildcards) -> list[str]:
        wanted = dataset_of(settings, wildcards).source.proposes_moments
        folder = f"results/{wildcards.dataset}/corpus/scenes"
        return [f"{folder}/{shard}.captions.jsonl" for shard in shard_names(settings.shards)] if wanted else []

    return files


def shard_source(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the same files for the jobs of a shard, which `shard_state` tells when to run again."""
    from snakemake.io import ancient

    files_of = source_files(settings)

    def files(wildcards) -> dict[str, Any]:
        source, own_files = dataset_of(settings, wildcards).source, files_of(wildcards)
        # A moments file that a rule makes changes with its source alone, and then all shards are to be read again.
        given_by_user = not (source.rendered or source.published or source.proposes_moments)
        return {**own_files, "moments": ancient(own_files["moments"])} if given_by_user else own_files

    return files


def source_reading(settings: Config) -> Callable[[object], dict]:
    """A params function: how the moments of ``wildcards.dataset`` are joined with its videos."""

    def values(wildcards) -> dict:
        source = dataset_of(settings, wildcards).source
        return {"default_split": getattr(source, "default_split", None) or "test", "published": source.published}

    return values


def release_files(settings: Config) -> Callable[[object], list[str]]:
    """An input function: published files of ``wildcards.dataset``, those of all available splits."""

    def files(wildcards) -> list[str]:
        source = dataset_of(settings, wildcards).source
        if not isinstance(source, ReleasedSource | PublishedSource):
            raise InputError(f"the data set of {wildcards.dataset} has no published files")
        release = resolve(source)
        return [str(path) for split in release.splits for path in release.paths(split)]

    return files


def folder_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: which videos a user's folder holds, and a sample of each: replacing one is noticed."""

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if not isinstance(source, FolderSource | PublishedSource):
            return None
        return told("the folder", str(source.videos), None, lambda: _folder_digest(source))

    return state


def _folder_digest(source: FolderSource | PublishedSource) -> str:
    listing = listed(str(source.videos))
    states = video_states().among(listing)
    digest = folder_digest(source.videos, states.of, listing.files)
    states.save()
    return digest


def division_of(settings: Config, name: str) -> dict | None:
    """Shares and seed of the division of a data set's videos; None where its moments file names splits."""
    dataset = settings.datasets[name]
    if not getattr(dataset.source, "names_no_split", False):
        return None
    proposals = dataset.proposals
    return {"train_share": proposals.train_share, "val_share": proposals.val_share, "seed": settings.seed}


def split_settings(settings: Config) -> Callable[[object], dict]:
    """A params function: what the corpus stage needs of the section `spans`; other keys of it must not re-run the
    stage."""

    def values(wildcards) -> dict:
        spans = dataset_of(settings, wildcards).spans
        roles = ("train_split", "selection_split", "test_split")
        division = division_of(settings, key_of(wildcards.dataset))
        return {
            "held_out_share": spans.held_out_share,
            **{role: getattr(spans, role) for role in roles},
            **({"division": division} if division else {}),
        }

    return values


def shard_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: what the rows of ``wildcards.shard`` come from.

    The folder and the moments file change with every video that joins them; this digest, of the usable rows of the
    shard and of the state of their videos, tells whether this shard does. The demo's files are outputs of a rule and
    need none.
    """
    known: dict[str, list[str]] = {}

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if not isinstance(source, FolderSource | PublishedSource):
            return None
        if wildcards.dataset not in known:
            known[wildcards.dataset] = _shard_states(source, settings.shards)
        return known[wildcards.dataset][shard_index(wildcards.shard)]

    return state


def scene_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: the videos of ``wildcards.shard`` whose scenes are looked for, and the state of each."""
    known: dict[str, list[str]] = {}

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if not isinstance(source, FolderSource | PublishedSource):
            return None
        if wildcards.dataset not in known:
            known[wildcards.dataset] = told(
                f"scenes in {settings.shards} shards",
                str(source.videos),
                None,
                partial(_scenes, source, settings.shards),
            )
        return known[wildcards.dataset][shard_index(wildcards.shard)]

    return state


def _shard_states(source: FolderSource | PublishedSource, shards: int) -> list[str]:
    videos = str(source.videos)
    if isinstance(source, FolderSource) and not source.proposes_moments:
        rows = partial(_rows_by_shard, source, shards)
        return told(f"rows in {shards} shards", videos, str(source.moments), lambda: _digests(source, rows()))
    # The moments file is an input of the shards' jobs.
    subject = f"videos in {shards} shards, published: {source.published}"
    return told(subject, videos, None, lambda: _digests(source, _videos_by_shard(source, shards)))


def _scenes(source: FolderSource | PublishedSource, shards: int) -> list[str]:
    return _digests(source, (("\n".join(paths), paths) for _, paths in _videos_by_shard(source, shards)))


def _digests(source: FolderSource | PublishedSource, by_shard: Iterable[tuple[str, list[str]]]) -> list[str]:
    """A digest for each shard, of what is given for its rows and of the state of each of its videos."""
    states, digests = video_states().among(listed(str(source.videos))), []
    for rows, paths in by_shard:
        text = "\n".join([rows, *map(states.of, paths)])
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
    states.save()
    return digests


def _videos_by_shard(source: FolderSource | PublishedSource, shards: int) -> list[tuple[str, list[str]]]:
    """For each shard the paths of the videos that belong to it, by their id or by their published name; no rows."""
    by_shard: list[tuple[str, list[str]]] = [("", []) for _ in range(shards)]
    try:
        folder = VideoFolder(source.videos, listed=listed(str(source.videos)).files)
    except InputError:  # the job says so
        return by_shard
    for video, path in folder.files.items():
        by_shard[shard_of(PurePath(path).stem if source.published else video, shards)][1].append(path)
    return by_shard


def _rows_by_shard(source: FolderSource, shards: int) -> list[tuple[str, list[str]]]:
    try:
        return rows_by_shard(source, shards)
    except InputError:  # the job that builds the corpus says so, with the file's name
        return [("", []) for _ in range(shards)]
