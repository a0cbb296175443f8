"""Update an index to match a corpus: add new videos, and remove missing and changed ones.

Videos are encoded again only if the model or its encoders have changed.
"""

import hashlib
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verified.io.files import file_digest
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_json, read_jsonl
from verified.runtime.progress import track
from verified_search import store
from verified_search.ask import MODEL, Index, vector_of
from verified_search.captions import coarse, read_annotated, write_captions
from verified_search.config import IndexSettings
from verified_search.encoders import Encoder, JointEncoder, ModelEncoder
from verified_search.fusion import weights_of
from verified_search.origin import ranked_before, ranking_of, skill
from verified_search.pictures import thumbnails
from verified_search.presence import unrelated_scores
from verified_search.sound import sound

log = logging.getLogger("verified")

KNOWN_QUERIES = 1000
"""Most queries that the model's ranking is measured by."""
CLIPS_AT_ONCE = 4096
"""Clips of a group of videos that is encoded together."""


def update(folder: Path, files: Mapping[str, Any], settings: IndexSettings) -> dict:
    """Create or change the index in `folder`; returns its manifest.

    `files`: features (HDF5), checkpoint (None for a joint encoder), text (token features of the captions; None for
    encoders that need none), annotations and queries (lists of FIG files; `queries` are outside every model's training
    data) or, in their place, moments (moments.jsonl, coarse captions alone), videos (videos.jsonl; None without
    videos).
    """
    with store.changing(folder):
        old, manifest = _old_manifest(folder), _manifest(files, settings)
        features = FeatureFile(files["features"])
        described = {row["video"]: row for row in read_jsonl(files["videos"])} if files.get("videos") else {}
        indexed, anew = store.present(folder, old), old.get("identity") != manifest["identity"]
        wanted = {video: _digest(features[video]) for video in features}
        gone = {video for video, row in indexed.items() if anew or wanted.get(video) != row["digest"]}
        new = sorted(video for video in wanted if video not in indexed or video in gone)
        log.info("index %s: %d videos stay, %d come, %d go", folder, len(indexed) - len(gone), len(new), len(gone))
        build = store.new_build(folder, old)
        if files.get("checkpoint"):
            shutil.copyfile(files["checkpoint"], build / MODEL)
        rows = coarse(files["moments"]) if files.get("moments") else read_annotated(files["annotations"])
        write_captions(build, rows, store.build_folder(folder, old) if old else None)
        encoder = _encoder(files, settings)
        items = _encode_items(_items(new, features, wanted, described, settings.search.thumbnails), encoder)
        manifest["build"] = store.finish_build(build, old, gone, items)
        index, queries = Index(folder, manifest, encoder), _known_queries(encoder, files, settings)
        ranking = _ranking(index, queries, _holders(rows), settings)
        manifest |= {
            "ranking": ranking,
            "weights": weights_of(manifest["model"], skill(ranking), joint=encoder.model is None),
            "unrelated": unrelated_scores(index.captions),
        }
        return store.write_manifest(folder, manifest)


def _old_manifest(folder: Path) -> dict:
    """The manifest in force; empty without one, and for one of another format."""
    path = store.manifest_file(folder)
    if path is None:
        return {}
    sound(folder, path.name)
    old = read_json(path)
    return old if isinstance(old, dict) and old.get("format") == store.FORMAT else {}


def _manifest(files: Mapping[str, Any], settings: IndexSettings) -> dict:
    """The manifest of this run's settings, without a build."""
    decides = [settings.model, settings.text_encoder, settings.spans.clip_seconds]
    if files.get("checkpoint"):
        decides.append(file_digest(files["checkpoint"]))
    return {
        "format": store.FORMAT,
        "identity": hashlib.sha256(repr(decides).encode()).hexdigest()[:16],
        "model": settings.model,
        "dataset": settings.dataset,
        "title": settings.title,
        "clip_seconds": settings.spans.clip_seconds,
        "text_encoder": settings.text_encoder,
        "spans": settings.spans.model_dump(),
        "searched_videos": settings.retrieval.searched_videos,
    }


def _encoder(files: Mapping[str, Any], settings: IndexSettings) -> Encoder:
    if checkpoint := files.get("checkpoint"):
        return ModelEncoder(checkpoint, settings.text_encoder, settings.spans.max_pred_clips)
    return JointEncoder(settings.text_encoder)


def _digest(features: np.ndarray) -> str:
    return hashlib.sha256(features.astype(np.float16).tobytes()).hexdigest()[:16]


Item = tuple[dict, np.ndarray, float, list[tuple[float, bytes]]]
"""Row of a video, its features [clips, F], seconds per clip, thumbnails."""


def _items(videos: list[str], features, digests: dict, described: dict, pictures: int) -> Iterator[Item]:
    seconds = float(features.attributes.get("clip_seconds", 1.0))
    for video in track(videos, "encode videos", len(videos), "videos"):
        clips = features[video]
        row = {"duration": len(clips) * seconds, **described.get(video, {}), "video": video}
        shown = (
            thumbnails(row["path"], row["duration"], row["width"], row["height"], pictures)
            if "path" in row and pictures
            else []
        )
        known = {key: row[key] for key in ("video", "path", "sha256", "duration") if key in row}
        yield {**known, "digest": digests[video]}, clips, seconds, shown


def _encode_items(items: Iterable[Item], encoder: Encoder) -> Iterator[tuple]:
    """Encode videos in groups of about `CLIPS_AT_ONCE` clips, in the format of `write_windows`."""
    group, clips = [], 0
    for row, features, seconds, pictures in items:
        windows = encoder.windows(features, seconds)
        group.append((row, windows, pictures))
        clips += len(features)
        if clips >= CLIPS_AT_ONCE:
            yield from _group(group, encoder)
            group, clips = [], 0
    yield from _group(group, encoder)


def _group(group: list, encoder: Encoder) -> Iterator[tuple]:
    vectors = iter(encoder.encode([window for _, windows, _ in group for window in windows]))
    for row, windows, pictures in group:
        spans = [[window.offset, window.seconds] for window in windows]
        yield {**row, "windows": spans}, [next(vectors) for _ in windows], pictures


def _known_queries(encoder: Encoder, files: Mapping[str, Any], settings: IndexSettings) -> list[tuple[dict, dict]]:
    """(annotated moment, encoded caption) of the queries outside every model's training data."""
    if files.get("moments"):
        rows = coarse(files["moments"], settings.spans.test_split)[:KNOWN_QUERIES]
    else:
        rows = read_annotated(files["queries"])[:KNOWN_QUERIES]
    if files.get("text") and isinstance(encoder, ModelEncoder) and encoder.model.query_input == "features":
        text = FeatureFile(files["text"])
        return [(row, encoder.query_of_features(text[str(row["desc_id"])])) for row in rows]
    return [(row, encoder.query(row["fine"] or row["coarse"])) for row in rows]


def _ranking(index: Index, queries, holders: dict[int, frozenset[str]], settings: IndexSettings) -> dict:
    """Measure the model's ranking of videos against chance (see `origin`); `holders` are as of `_holders`."""
    queries_of = ((row["video"], vector_of(query), holders.get(row["desc_id"], frozenset())) for row, query in queries)
    return ranking_of(settings.model, ranked_before(index, queries_of, settings.seed))


def _holders(captions: list[dict]) -> dict[int, frozenset[str]]:
    """By desc_id, the videos with such a moment: one of the same coarse caption."""
    groups: dict[str, set[str]] = {}
    for row in captions:
        groups.setdefault(row["coarse"].casefold(), set()).add(row["video"])
    return {row["desc_id"]: frozenset(groups[row["coarse"].casefold()]) for row in captions}
