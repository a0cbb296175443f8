"""What the rules of the stage need to know: where a source is, which settings matter."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from verified.common.errors import InputError
from verified.common.shards import shard_index, shard_names, shard_of
from verified.config import Config
from verified.config.folders import dataset_of
from verified.config.sources import FolderSource, PublishedSource
from verified.corpus.folder_source import usable_rows
from verified.corpus.moments_file import read_moments_file
from verified.corpus.released_source import resolve
from verified.corpus.video_folder import VideoFolder, file_state, folder_digest


def source_files(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the folder of videos and the moments file of ``wildcards.dataset``, given or made by a rule.

    A user's folder counts as old: its timestamp says nothing about its videos, but `folder_state` does.
    """
    from snakemake.io import ancient

    def files(wildcards) -> dict[str, str]:
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

    def files(wildcards) -> dict[str, str]:
        source, own_files = dataset_of(settings, wildcards).source, files_of(wildcards)
        # A moments file that a rule makes changes with its source alone, and then all shards are to be read again.
        given_by_user = not (source.rendered or source.published or source.proposes_moments)
        return {**own_files, "moments": ancient(own_files["moments"])} if given_by_user else own_files

    return files


def source_reading(settings: Config) -> Callable[[object], dict]:
    """A params function: how the moments of ``wildcards.dataset`` are joined with its videos."""

    def values(wildcards) -> dict:
        source = dataset_of(settings, wildcards).source
        return {"default_split": getattr(source, "default_split", "test"), "published": source.published}

    return values


def release_files(settings: Config) -> Callable[[object], list[str]]:
    """An input function: published files of ``wildcards.dataset``, those of all available splits."""

    def files(wildcards) -> list[str]:
        release = resolve(dataset_of(settings, wildcards).source)
        return [str(path) for split in release.splits for path in release.paths(split)]

    return files


def folder_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: which videos a user's folder holds, and a sample of each: replacing one is noticed."""

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        return None if source.rendered else folder_digest(source.videos)

    return state


def split_settings(settings: Config) -> Callable[[object], dict]:
    """A params function: what the corpus stage needs of the section `spans`; other keys of it must not re-run the
    stage."""

    def values(wildcards) -> dict:
        spans = dataset_of(settings, wildcards).spans
        roles = ("train_split", "selection_split", "test_split")
        return {"held_out_share": spans.held_out_share} | {role: getattr(spans, role) for role in roles}

    return values


def shard_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: what the rows of ``wildcards.shard`` come from.

    The folder and the moments file change with every video that joins them; this digest, of the usable rows of the
    shard and of the state of their videos, tells whether this shard does. The demo's files are outputs of a rule and
    need none.
    """
    shards: dict[str, list[dict[Path, list[dict]]]] = {}

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if source.rendered:
            return None
        digest = hashlib.sha256()
        if wildcards.dataset not in shards:
            by_shard = _rows_by_shard
            if source.published or source.proposes_moments:  # then the moments file is an input of the shards' jobs
                by_shard = _videos_by_shard
            shards[wildcards.dataset] = by_shard(source, settings.shards)
        for path, rows in shards[wildcards.dataset][shard_index(wildcards.shard)].items():
            digest.update(f"{file_state(path)}\0{rows}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    return state


def scene_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: the videos of ``wildcards.shard`` whose scenes are looked for, and the state of each."""

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if source.rendered:
            return None
        videos = _videos_by_shard(source, settings.shards)[shard_index(wildcards.shard)]
        states = "".join(f"{path}\0{file_state(path)}\n" for path in videos)
        return hashlib.sha256(states.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    return state


def _videos_by_shard(source: FolderSource | PublishedSource, shards: int) -> list[dict[Path, list[dict]]]:
    """For each shard the videos that belong to it, by their id or by their published name."""
    by_shard = [{} for _ in range(shards)]
    try:
        folder = VideoFolder(source.videos)
    except InputError:  # the job says so
        return by_shard
    for video, path in folder.paths.items():
        by_shard[shard_of(path.stem if source.published else video, shards)][path] = []
    return by_shard


def _rows_by_shard(source: FolderSource, shards: int) -> list[dict[Path, list[dict]]]:
    """For each shard {path of a video: its usable rows, without their splits}."""
    by_shard = [{} for _ in range(shards)]
    try:
        folder, rows = VideoFolder(source.videos), read_moments_file(source.moments)
    except InputError:  # the job that builds the corpus says so, with the file's name
        return by_shard
    usable, _ = usable_rows(rows, folder, source.default_split)
    by_video: dict[str, list[dict]] = {}
    for _, row in usable:
        del row["split"]
        by_video.setdefault(row["video"], []).append(row)
    for video, rows in by_video.items():
        by_shard[shard_of(video, shards)][folder.paths[video]] = rows
    return by_shard
