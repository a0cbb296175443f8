"""An index of a folder of videos, without moments, captions, configuration or training.

Every video is decoded once (`survey`); each of its shots is a window of the index, so no result crosses a cut. A second
run decodes new and changed files alone, and after a kill those that were not finished.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from verified.config.features import PACKAGED
from verified.corpus.copies import video_copies
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.features.encoders import joint_kind
from verified.features.video import load_backbone
from verified.io.files import file_digest
from verified.io.video import VideoError
from verified.runtime.progress import track
from verified_search import store
from verified_search.captions import write_captions
from verified_search.config import JOINT
from verified_search.encoders import JointEncoder, Window
from verified_search.fusion import weights_of
from verified_search.origin import ranking_of, skill
from verified_search.survey import BETWEEN, survey
from verified_search.windows import Item

log = logging.getLogger("verified")

LONGEST_SPAN = 15
"""Clips of the longest span that a search shows: half a minute."""


def index_videos(videos: Path, folder: Path, encoder: str = PACKAGED) -> dict:
    """Create or update the index in `folder` of the videos below the folder `videos`; returns its manifest.

    The manifest lists unreadable videos as `unreadable`, {video: reason}, partly readable ones as `partial`,
    {video: the part}, and copies as `copies`, {video: the one that it shows again}. Raises InputError for a folder
    without videos, an encoder that reads no sentences, and an index of another source.
    """
    listed = VideoFolder(videos)
    if not listed.files:
        raise InputError("no video in this folder", file=videos, remedy="name a folder of video files")
    if encoder != PACKAGED and not joint_kind(encoder):
        raise InputError(f"{encoder!r} reads no sentences", remedy="packaged, or a CLIP or SigLIP model")
    with store.changing(folder):
        old = _old_manifest(folder, videos)
        states = {video: _state(path, encoder) for video, path in listed.paths.items()}
        indexed = store.present(folder, old)
        gone = {video for video, row in indexed.items() if states.get(video) != row["digest"]}
        known = {video: why for video, why in old.get("unreadable", {}).items() if states.get(video) == why["state"]}
        new = [video for video in states if video not in known and (video not in indexed or video in gone)]
        log.info("index %s: %d videos stay, %d come, %d go", folder, len(indexed) - len(gone), len(new), len(gone))
        if not gone and not new:
            return store.tidy(folder)
        unreadable = known | _survey(folder, {video: listed.paths[video] for video in new}, states, encoder)
        decoded = (store.read_decoded(folder, video) for video in new if video not in unreadable)
        build = store.new_build(folder, old)
        write_captions(build, [])
        manifest = _manifest(videos, encoder)
        manifest["build"] = store.finish_build(build, old, gone, _encode(decoded, JointEncoder(encoder)))
        rows = store.present(folder, manifest)
        manifest["copies"] = video_copies({video: row["hashes"] for video, row in rows.items()})
        manifest["partial"] = {video: row["partial"] for video, row in rows.items() if row["partial"]}
        return store.write_manifest(folder, {**manifest, "unreadable": unreadable})


def _old_manifest(folder: Path, videos: Path) -> dict:
    """The manifest in force, empty without one. Raises InputError for an index of something else."""
    if store.manifest_file(folder) is None:
        return {}
    old = store.read_manifest(folder)
    if old.get("folder") != str(videos.resolve()):
        raise InputError(f"an index of {old.get('folder') or old['title']}", file=folder, remedy="give another --index")
    return old


def _manifest(videos: Path, encoder: str) -> dict:
    """The manifest of an index of `videos` by `encoder`, without a build."""
    ranking = ranking_of(JOINT, None)
    return {
        "format": store.FORMAT,
        "identity": hashlib.sha256(repr([str(videos.resolve()), encoder]).encode()).hexdigest()[:16],
        "model": JOINT,
        "dataset": "",
        "folder": str(videos.resolve()),
        "title": videos.resolve().name,
        "clip_seconds": BETWEEN,
        "text_encoder": encoder,
        "spans": {"nms_threshold": 0.5, "min_pred_clips": 1, "max_pred_clips": LONGEST_SPAN},
        "searched_videos": 100,
        "unrelated": [],
        "ranking": ranking,
        "weights": weights_of(JOINT, skill(ranking), joint=True),
    }


def _state(path: Path, encoder: str) -> str:
    """The state of a file, and the encoder that sees it."""
    facts = path.stat()
    return f"{facts.st_size}-{facts.st_mtime_ns}-{encoder}"


def _survey(folder: Path, paths: Mapping[str, Path], states: Mapping[str, str], encoder: str) -> dict[str, dict]:
    """Store the decoded data of each video, unless an earlier run did; returns the reasons for unreadable ones."""
    paths = {video: path for video, path in paths.items() if not _is_decoded(folder, video, states[video])}
    if not paths:
        return {}
    backbone, unreadable = load_backbone(encoder), {}
    for video, path in track(paths.items(), "look at videos", len(paths), "videos"):
        try:
            one = survey(path, backbone)
        except VideoError as error:
            log.warning("%s", error)
            unreadable[video] = {"state": states[video], "reason": error.reason}
            continue
        row = {
            "video": video,
            "path": str(path.resolve()),
            "sha256": file_digest(path),
            "duration": round(one.duration, 3),
            "digest": states[video],
            "hashes": one.hashes,
            "partial": one.partial,
            "windows": [
                [start, (end - start) / len(clips), len(clips)] for (start, end), clips in zip(one.shots, one.clips)
            ],
        }
        store.write_decoded(folder, store.Decoded(row, np.concatenate(one.clips), one.pictures))
    return unreadable


def _is_decoded(folder: Path, video: str, state: str) -> bool:
    try:
        return store.read_decoded(folder, video).row["digest"] == state
    except InputError:  # missing, or of a killed run
        return False


def _encode(videos: Iterable[store.Decoded], encoder: JointEncoder) -> Iterator[Item]:
    for row, features, pictures in videos:
        windows, first = [], 0
        for offset, seconds, count in row["windows"]:
            windows.append(Window(offset, seconds, features[first : first + count]))
            first += count
        yield row, encoder.encode(windows), pictures
