"""What the rules of the stage need to know: where a source is, which settings matter."""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePath
from typing import Any

from verified.config import Config
from verified.config.folders import dataset_of
from verified.config.sources import SourceSection
from verified.corpus.shard_states import list_videos, rows_by_shard, tell_once, video_states
from verified.corpus.video_folder import VideoFolder, folder_digest
from verified.errors import InputError
from verified.runtime.digest import modules_digest
from verified.runtime.resources import ancient
from verified.runtime.wildcards import OfDataset, key_of, shard_index, shard_names, shard_of


def source_files(settings: Config) -> Callable[[object], dict[str, Any]]:
    """An input function: the folder of videos and the moments file of ``wildcards.dataset``, given or made by a rule.

    A user's folder counts as old: its timestamp says nothing about its videos, but `folder_state` does.
    """

    def files(wildcards) -> dict[str, Any]:
        source = dataset_of(settings, wildcards).source
        paths = source.files(f"results/{wildcards.dataset}/corpus")
        return paths if source.rendered else {**paths, "videos": ancient(paths["videos"])}

    return files


def video_folder(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the folder of videos alone, in which scenes are looked for before there are moments."""
    files_of = source_files(settings)
    return lambda wildcards: {"videos": files_of(wildcards)["videos"]}


def hashes_to_divide(settings: Config) -> Callable[[object], list[str]]:
    """An input function: hashes of the videos of ``wildcards.dataset`` where its splits are drawn (`division`)."""

    def files(wildcards) -> list[str]:
        divided = division_of(settings, key_of(wildcards.dataset))
        folder = f"results/{wildcards.dataset}/corpus/hashes"
        return [f"{folder}/{shard}.json" for shard in shard_names(settings.shards)] if divided else []

    return files


def scene_captions(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the first captions of scenes, where the moments of ``wildcards.dataset`` are proposed."""

    def files(wildcards) -> list[str]:
        wanted = dataset_of(settings, wildcards).source.proposes_moments
        folder = f"results/{wildcards.dataset}/corpus/scenes"
        return [f"{folder}/{shard}.captions.jsonl" for shard in shard_names(settings.shards)] if wanted else []

    return files


def shard_source(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the same files for the jobs of a shard, which `shard_state` tells when to run again."""
    files_of = source_files(settings)

    def files(wildcards) -> dict[str, Any]:
        source, own_files = dataset_of(settings, wildcards).source, files_of(wildcards)
        # A moments file that a rule makes changes with its source alone, and then all shards are to be read again.
        return {**own_files, "moments": ancient(own_files["moments"])} if source.given_moments else own_files

    return files


def source_reading(settings: Config) -> Callable[[object], dict]:
    """A params function: how the moments of ``wildcards.dataset`` are joined with its videos."""

    def values(wildcards) -> dict:
        source = dataset_of(settings, wildcards).source
        return {"default_split": getattr(source, "default_split", None) or "test", "published": source.published}

    return values


def source_inputs(settings: Config) -> Callable[[OfDataset], list[str]]:
    """An input function: the files that moments or annotations of ``wildcards.dataset`` are read from."""
    return lambda wildcards: dataset_of(settings, wildcards).source.inputs()


def source_code(settings: Config) -> Callable[[OfDataset], str]:
    """A params function: a digest of how the source of ``wildcards.dataset`` lists its moments."""
    return lambda wildcards: modules_digest(type(dataset_of(settings, wildcards).source).__module__)


def folder_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: which videos a user's folder holds, and a sample of each: replacing one is noticed."""

    def state(wildcards) -> str | None:
        videos = dataset_of(settings, wildcards).source.given_videos
        return None if videos is None else tell_once("the folder", videos, None, lambda: _folder_digest(videos))

    return state


def _folder_digest(videos: str) -> str:
    listing = list_videos(videos)
    states = video_states().among(listing)
    digest = folder_digest(videos, states.of, listing.files)
    states.save()
    return digest


def division_of(settings: Config, name: str) -> dict | None:
    """Shares and seed of the division of a data set's videos; None where its moments file names splits."""
    dataset = settings.datasets[name]
    if not dataset.source.names_no_split:
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
        if source.given_videos is None:
            return None
        if wildcards.dataset not in known:
            known[wildcards.dataset] = _shard_states(source, settings.shards)
        return known[wildcards.dataset][shard_index(wildcards.shard)]

    return state


def scene_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: the videos of ``wildcards.shard`` whose scenes are looked for, and the state of each."""
    known: dict[str, list[str]] = {}

    def state(wildcards) -> str | None:
        source, shards = dataset_of(settings, wildcards).source, settings.shards
        videos = source.given_videos
        if videos is None:
            return None
        if wildcards.dataset not in known:
            scenes = partial(_scenes, videos, shards, source.published)
            known[wildcards.dataset] = tell_once(f"scenes in {shards} shards", videos, None, scenes)
        return known[wildcards.dataset][shard_index(wildcards.shard)]

    return state


def _shard_states(source: SourceSection, shards: int) -> list[str]:
    videos, moments = str(source.given_videos), source.given_moments
    if moments is not None:
        rows = partial(_rows_by_shard, videos, moments, shards)
        return tell_once(f"rows in {shards} shards", videos, moments, lambda: _digests(videos, rows()))
    # The moments file is an input of the shards' jobs.
    subject = f"videos in {shards} shards, published: {source.published}"
    return tell_once(
        subject, videos, None, lambda: _digests(videos, _videos_by_shard(videos, shards, published=source.published))
    )


def _scenes(videos: str, shards: int, published: bool) -> list[str]:
    by_shard = _videos_by_shard(videos, shards, published)
    return _digests(videos, (("\n".join(paths), paths) for _, paths in by_shard))


def _digests(videos: str, by_shard: Iterable[tuple[str, list[str]]]) -> list[str]:
    """A digest for each shard, of what is given for its rows and of the state of each of its videos."""
    states, digests = video_states().among(list_videos(videos)), []
    for rows, paths in by_shard:
        text = "\n".join([rows, *map(states.of, paths)])
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
    states.save()
    return digests


def _videos_by_shard(videos: str, shards: int, published: bool) -> list[tuple[str, list[str]]]:
    """For each shard the paths of the videos that belong to it, by their id or by their published name; no rows."""
    by_shard: list[tuple[str, list[str]]] = [("", []) for _ in range(shards)]
    try:
        folder = VideoFolder(videos, listed=list_videos(videos).files)
    except InputError:  # the job says so
        return by_shard
    for video, path in folder.files.items():
        by_shard[shard_of(PurePath(path).stem if published else video, shards)][1].append(path)
    return by_shard


def _rows_by_shard(videos: str, moments: str, shards: int) -> list[tuple[str, list[str]]]:
    try:
        return rows_by_shard(videos, moments, shards)
    except InputError:  # the job that builds the corpus says so, with the file's name
        return [("", []) for _ in range(shards)]
