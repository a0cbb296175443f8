"""What the rules of the stage need to know: where a source is, which settings matter."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from verified.common.errors import InputError
from verified.common.shards import shard_index, shard_of
from verified.config import Config
from verified.config.folders import dataset_of
from verified.config.sources import FolderSource
from verified.corpus.folder_source import usable_rows
from verified.corpus.moments_file import read_moments_file
from verified.corpus.video_folder import VideoFolder, file_state, folder_digest


def source_files(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the folder of videos and the moments file of ``wildcards.dataset``, given or rendered.

    A user's folder is held for ancient: its own time says nothing about its videos, `folder_state` does.
    """
    from snakemake.io import ancient

    def files(wildcards) -> dict[str, str]:
        source = dataset_of(settings, wildcards).source
        if source.rendered:
            folder = f"results/{wildcards.dataset}/corpus"
            return {"videos": f"{folder}/videos", "moments": f"{folder}/rendered.jsonl"}
        return {"videos": ancient(source.videos), "moments": source.moments}

    return files


def shard_source(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: the same files for the jobs of a shard, to whom `shard_state` says when to run again."""
    from snakemake.io import ancient

    given = source_files(settings)

    def files(wildcards) -> dict[str, str]:
        found = given(wildcards)
        if not dataset_of(settings, wildcards).source.rendered:
            found = {name: ancient(path) for name, path in found.items()}
        return found

    return files


def folder_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: which videos a user's folder holds, and a sample of each: replacing one is noticed."""

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        return None if source.rendered else folder_digest(source.videos)

    return state


def split_settings(settings: Config) -> Callable[[object], dict]:
    """A params function: what the corpus stage needs of the section `spans`, and no more, lest the rest re-run it."""

    def values(wildcards) -> dict:
        spans = dataset_of(settings, wildcards).spans
        roles = ("train_split", "selection_split", "test_split")
        return {"held_out_share": spans.held_out_share} | {role: getattr(spans, role) for role in roles}

    return values


def shard_state(settings: Config) -> Callable[[object], str | None]:
    """A params function: what the rows of ``wildcards.shard`` come from.

    The folder and the moments file change with every video that joins them; this digest, of the usable rows of the
    shard and of the state of their videos, tells whether this shard does. The demo's files are a rule's output and need
    none.
    """
    shards: dict[str, list[dict[Path, list[dict]]]] = {}

    def state(wildcards) -> str | None:
        source = dataset_of(settings, wildcards).source
        if source.rendered:
            return None
        digest = hashlib.sha256()
        if wildcards.dataset not in shards:
            shards[wildcards.dataset] = _rows_by_shard(source, settings.shards)
        for path, rows in shards[wildcards.dataset][shard_index(wildcards.shard)].items():
            digest.update(f"{file_state(path)}\0{rows}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    return state


def _rows_by_shard(source: FolderSource, shards: int) -> list[dict[Path, list[dict]]]:
    """For each shard {path of a video: its usable rows, without their splits}."""
    found = [{} for _ in range(shards)]
    try:
        folder, rows = VideoFolder(source.videos), read_moments_file(source.moments)
    except InputError:  # the job that builds the corpus says so, with the file's name
        return found
    kept, _ = usable_rows(rows, folder, source.default_split)
    by_video: dict[str, list[dict]] = {}
    for _, row in kept:
        del row["split"]
        by_video.setdefault(row["video"], []).append(row)
    for video, rows in by_video.items():
        found[shard_of(video, shards)][folder.paths[video]] = rows
    return found
