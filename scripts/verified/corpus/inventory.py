"""The known moments of a source before a run: for quotes and checks.

No video is decoded; probes of an earlier run count if they are still valid.
"""

import os
from pathlib import Path
from typing import NamedTuple

from verified.config import Config
from verified.config.folders import dataset_folder, evaluator_folder, finetuning_datasets
from verified.config.sources import SourceSection
from verified.corpus.assemble import read_probes
from verified.corpus.folder_source import Probes, finish, join
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.io.moments_file import iterate_moments_file
from verified.io.video import VideoError, file_digest
from verified.runtime.wildcards import group_by_shard, shard_name
from verified.stage import Shard


class Unprobed(NamedTuple):
    """The folder of videos, the usable rows of a moments file, `duration` None, and the exclusions of the others."""

    folder: VideoFolder
    usable: list[dict]
    refused: list[dict]


def unprobed_rows(source: SourceSection, corpus: str) -> Unprobed:
    """The rows of `source`, whose generated files are in the folder `corpus`.

    They may include videos that do not decode. Raises InputError if the folder of videos, the moments file or published
    annotations are missing.
    """
    files = source.files(corpus)
    if source.lists_moments and not Path(files["moments"]).is_file():
        rows = list(enumerate(source.rows(), start=1))
    elif source.proposes_moments and not Path(files["moments"]).is_file():
        raise InputError(
            "no moments are proposed yet",
            file=files["moments"],
            remedy=f"run: snakemake --cores all {files['moments']} --configfile …, or continue: a run begins with it",
        )
    else:
        rows = list(iterate_moments_file(files["moments"]))
    default_split = getattr(source, "default_split", None) or "test"
    folder, checked = join(files["videos"], lambda: rows, default_split, source.published)
    read = Unprobed(folder, [], [])
    for _, _, row in checked():
        (read.refused if "reason" in row else read.usable).append(row)
    return read


def seen_shards(source: SourceSection, corpus: str, shards: int) -> list[Shard]:
    """Known moments of each shard, without decoding a video; `corpus` is the folder of generated files.

    The source's files list the moments; in videos that were not probed, their `duration` is None. A probe of an earlier
    run is valid if the video's file did not change since; if its times leave that open, its digest decides. Raises
    InputError as `unprobed_rows` does.
    """
    read = unprobed_rows(source, corpus)
    result = []
    for shard, moments in enumerate(group_by_shard(read.usable, shards)):
        paths = {row["video"]: read.folder.paths[row["video"]] for row in moments}
        # Probes before an extension selects moments are stored separately.
        files = [Path(corpus, folder, f"{shard_name(shard)}.probes.jsonl") for folder in ("shards", "found")]
        probes = _valid_probes(files[0] if files[0].is_file() else files[1], paths)
        probed_videos = probes.readable.keys() | probes.unreadable.keys()
        probed = (row for row in moments if row["video"] in probed_videos)
        finished = {row["desc_id"]: row for row in finish(probed, probes)}
        present = (row if row["video"] not in probed_videos else finished.get(row["desc_id"]) for row in moments)
        videos = {
            video: {"video": video, "path": paths[video].as_posix(), **row} for video, row in probes.readable.items()
        }
        result.append(([row for row in present if row is not None], videos))
    return result


def _valid_probes(file: Path, paths: dict[str, Path]) -> Probes:
    """The probes in `file`, if any, of videos that have not changed since."""
    if not file.is_file():
        return Probes({}, {})
    written, probes = file.stat().st_mtime, read_probes([str(file)])
    readable = {
        video: row
        for video, row in probes.readable.items()
        if video in paths and (_older(paths[video], written) or _same(paths[video], row["sha256"]))
    }
    unreadable = {
        video: error for video, error in probes.unreadable.items() if video in paths and _older(paths[video], written)
    }
    return Probes(readable, unreadable, {key: row for key, row in probes.judged.items() if row["video"] in readable})


def _older(path: Path, written: float) -> bool:
    """Whether a file changed last before the time `written`; a copy that keeps its old times is new all the same."""
    status = os.stat(path)
    return max(status.st_mtime, status.st_ctime) < written


def _same(path: Path, sha256: str) -> bool:
    try:
        return file_digest(path) == sha256
    except VideoError:
        return False


def check_enough(settings: Config) -> None:
    """Raise InputError if the evaluator would be fine-tuned on fewer moments than a batch.

    Moments are counted without opening a video. A source that cannot be counted yet is checked by its jobs.
    """
    names = [name for name in finetuning_datasets(settings) if not settings.datasets[name].source.rendered]
    if Path(evaluator_folder(settings), "checkpoint.safetensors").exists():
        return
    if len(names) < len(finetuning_datasets(settings)):
        return
    count = 0
    for name in names:
        try:
            corpus = f"{dataset_folder(settings, name)}/corpus"
            count += len(unprobed_rows(settings.datasets[name].source, corpus).usable)
        except InputError:
            return
        if count >= settings.evaluator.batch:
            return
    if count:
        raise InputError(
            f"{count} usable moments are too few for the evaluator's batches of {settings.evaluator.batch}",
            remedy=f"{batch_remedy(count)}; no model was called",
        )


def batch_remedy(count: int) -> str:
    """The remedy where `count` moments are too few for a batch of the evaluator; it learns from two at least."""
    fewer = f"set evaluator.batch to {count} or less, or " if count > 1 else ""
    return f"{fewer}add moments{'' if fewer else ': it needs two at least'}"
