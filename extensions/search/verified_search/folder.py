"""An index of a folder of videos, without moments, captions, configuration or training.

Every video is decoded once (`survey`); each of its shots is a window of the index, so no result crosses a cut. A second
run decodes new and changed files alone. Features of the clips remain in the index to find near-duplicates, also of
later videos: `sketches.safetensors` lists the compared ones.
"""

import hashlib
import logging
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from verified.config.features import PACKAGED
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.features.encoders import joint_kind
from verified.features.video import load_backbone
from verified.io.files import file_digest
from verified.io.video import VideoError
from verified.nn.checkpoint import Form, load, save
from verified.runtime.progress import Progress
from verified.runtime.seals import replacing
from verified_search import duplicates, store
from verified_search.captions import write_captions
from verified_search.encoders import JOINT, JointEncoder, Window
from verified_search.fusion import weights_of
from verified_search.origin import ranking_of, skill
from verified_search.sound import sound
from verified_search.survey import BETWEEN, Survey, survey

log = logging.getLogger("verified")

SKETCHES = "sketches.safetensors"
FORM = Form("sketches of an index", 1, "remove the file: the videos are compared again")
AT_ONCE = 600
"""Clips after which what was done is put in force: a run that is killed has lost no more."""
LONGEST_SPAN = 15
"""Clips of the longest span that a search shows: half a minute."""


def index_videos(videos: Path, folder: Path, encoder: str = PACKAGED) -> dict:
    """Create or update the index in `folder` of the videos below the folder `videos`; returns its manifest.

    The manifest lists unreadable videos as `unreadable`, {video: reason}, and partly readable ones as `partial`,
    {video: the part}. Raises InputError for a folder without videos, an encoder that reads no sentences, and an index
    of another source.
    """
    listed = VideoFolder(videos)
    if not listed.files:
        raise InputError("no video in this folder", file=videos, remedy="name a folder of video files")
    if encoder != PACKAGED and not joint_kind(encoder):
        raise InputError(f"{encoder!r} reads no sentences", remedy="packaged, or a CLIP or SigLIP model")
    with store.changing(folder):
        manifest = _manifest(folder, videos, encoder)
        store.sound_segments(folder, manifest)
        if (folder / store.MANIFEST).is_file():
            store.finish(folder, manifest)
        stamps = {video: _stamp(path) for video, path in listed.paths.items()}
        indexed = store.present(folder, manifest)
        gone = {video for video, row in indexed.items() if stamps.get(video) != row["digest"]}
        new = [video for video in stamps if video not in indexed or video in gone]
        known = {video: why for video, why in manifest["unreadable"].items() if stamps.get(video) == why["stamp"]}
        new = [video for video in new if video not in known]
        log.info("index %s: %d videos stay, %d come, %d go", folder, len(indexed) - len(gone), len(new), len(gone))
        partial = {video: part for video, part in manifest["partial"].items() if video in stamps and video not in gone}
        manifest = {**store.without_videos(folder, manifest, gone), "unreadable": known, "partial": partial}
        manifest["duplicates"] = [pair for pair in manifest["duplicates"] if not gone & {*pair["videos"]}]
        for group in _survey_groups(new, listed.paths, encoder, known):
            partial |= {video: one.partial for video, one in group.items() if one.partial}
            manifest = _add_group(folder, manifest, group, listed.paths, stamps)
        write_captions(folder, [])
        manifest, sketches = _compare_new(folder, store.tidy(folder, manifest, 0))
        store.write_manifest(folder, manifest)
        write_sketches(folder, sketches, encoder)
        return store.read_manifest(folder)


def _manifest(folder: Path, videos: Path, encoder: str) -> dict:
    if (folder / store.MANIFEST).is_file():
        manifest = store.read_manifest(folder)
        if manifest.get("folder") != str(videos.resolve()):
            raise InputError(
                f"an index of {manifest.get('folder') or manifest['title']}", file=folder, remedy="give another --index"
            )
        if manifest["text_encoder"] == encoder:
            return manifest
        log.info("index %s: made anew, its encoder was %s", folder, manifest["text_encoder"])
    ranking = ranking_of(JOINT, None, [])
    return {
        "format": store.FORMAT,
        "identity": hashlib.sha256(repr([str(videos.resolve()), encoder]).encode()).hexdigest()[:16],
        "model": JOINT,
        "dataset": "",
        "folder": str(videos.resolve()),
        "title": videos.resolve().name,
        "clip_seconds": BETWEEN,
        "exact_clips": 200_000,
        "features": None,
        "checkpoint": "",
        "text_encoder": encoder,
        "spans": {"nms_threshold": 0.5, "min_pred_clips": 1, "max_pred_clips": LONGEST_SPAN},
        "searched_videos": 100,
        **store.EMPTY,
        "unreadable": {},
        "partial": {},
        "duplicates": [],
        "ranking": ranking,
        "weights": weights_of(JOINT, skill(ranking), joint=True),
    }


def _stamp(path: Path) -> str:
    facts = path.stat()
    return f"{facts.st_size}-{facts.st_mtime_ns}"


def _survey_groups(
    new: list[str], paths: dict[str, Path], encoder: str, unreadable: dict[str, dict]
) -> Iterator[dict[str, Survey]]:
    """Survey the videos in groups of about `AT_ONCE` clips; reasons for unreadable ones go to `unreadable`."""
    backbone = load_backbone(encoder) if new else None
    group: dict[str, Survey] = {}
    progress = Progress("look at videos", len(new), "videos")
    for video in new:
        assert backbone is not None
        try:
            group[video] = survey(paths[video], backbone)
        except VideoError as error:
            log.warning("%s", error)
            unreadable[video] = {"stamp": _stamp(paths[video]), "reason": error.reason}
        progress.step()
        if sum(len(clips) for one in group.values() for clips in one.clips) >= AT_ONCE:
            yield group
            group = {}
    progress.finish()
    if group:
        yield group


def _add_group(folder: Path, manifest: dict, group: dict[str, Survey], paths: dict[str, Path], stamps: dict) -> dict:
    """Add a group of videos and put the new manifest in force."""
    new = {video: np.concatenate(one.clips).astype(np.float16) for video, one in group.items()}
    for video, features in new.items():
        store.write_features(folder, video, features)
    encoder = JointEncoder(manifest["text_encoder"])
    dim = encoder.dim(next(iter(new.values())).shape[1])

    def items() -> Iterator[tuple]:
        for video, one in group.items():
            windows = [
                Window(start, (end - start) / len(clips), clips) for (start, end), clips in zip(one.shots, one.clips)
            ]
            row = {
                "video": video,
                "path": str(paths[video].resolve()),
                "sha256": file_digest(paths[video]),
                "duration": round(one.duration, 3),
                "digest": stamps[video],
                "origin": "added",
                "windows": [[window.offset, window.seconds] for window in windows],
            }
            yield row, encoder.encode(windows), one.pictures

    manifest = store.add_segment(folder, {**manifest, "dim": dim}, items(), dim, np.zeros((0, dim), np.float32), 0)
    write_captions(folder, [])
    manifest = store.tidy(folder, manifest, 0)
    store.write_manifest(folder, manifest, last=False)
    return manifest


Sketches = dict[str, tuple[str, np.ndarray]]
"""By video, the state of the file in which it was seen and the sketch of its clips (see `duplicates.sketch`)."""


def _compare_new(folder: Path, manifest: dict) -> tuple[dict, Sketches]:
    """Find near-duplicates of videos that were not compared yet; returns the manifest, and the sketches of all
    videos."""
    rows = sorted(store.present(folder, manifest).items())
    known = read_sketches(folder, manifest["text_encoder"])
    new = {video: at for at, (video, row) in enumerate(rows) if known.get(video, ("",))[0] != row["digest"]}
    remedy, encoder = f"remove {folder} and index the videos again", manifest["text_encoder"]

    @lru_cache(duplicates.COMPARED)
    def features(video: str) -> np.ndarray:
        return store.read_features(folder, video, remedy)

    sketches = {
        video: (row["digest"], duplicates.sketch(features(video)) if video in new else known[video][1])
        for video, row in rows
    }
    names, found = list(sketches), []
    if len(names) <= duplicates.COMPARED:
        found = duplicates.near_duplicates(
            {video: features(video) for video in new}, {video: features(video) for video in names if new}, encoder
        )
    elif new:
        for one, other in duplicates.candidates([part for _, part in sketches.values()], new.values()):
            pair = {names[at]: features(names[at]) for at in (one, other)}
            found += duplicates.near_duplicates({names[one]: pair[names[one]]}, pair, encoder)
    pairs = {tuple(pair["videos"]): pair for pair in [*manifest["duplicates"], *found]}
    return {**manifest, "duplicates": [pairs[key] for key in sorted(pairs)]}, sketches


def read_sketches(folder: Path, encoder: str) -> Sketches:
    """Read the stored sketches of `encoder`'s features; empty for another encoder."""
    if not (folder / SKETCHES).is_file():
        return {}
    sound(folder, SKETCHES)
    tensors, facts = load(folder / SKETCHES, FORM)
    if facts["encoder"] != encoder:
        return {}
    ends = np.cumsum([clips for *_, clips in facts["videos"]])
    parts = np.split(tensors["sketches"].numpy(), ends[:-1]) if len(ends) else []
    return {video: (digest, part) for (video, digest, _), part in zip(facts["videos"], parts)}


def write_sketches(folder: Path, sketches: Sketches, encoder: str) -> None:
    """Write the sketches of all videos of an index, from the features of `encoder`."""
    import torch

    stacked = np.concatenate([np.zeros((0, duplicates.TABLES), np.int32), *(part for _, part in sketches.values())])
    facts = {"encoder": encoder, "videos": [[video, digest, len(part)] for video, (digest, part) in sketches.items()]}
    with replacing(folder / SKETCHES) as temporary:
        save(temporary, FORM, {"sketches": torch.from_numpy(stacked)}, facts)
