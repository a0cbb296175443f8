"""Update an index to match a corpus: add new videos, and remove missing and changed ones.

Videos are encoded again only if the model or its encoders have changed. Those added by hand (`verified index --add`)
remain in either case; those removed by hand remain excluded.
"""

import hashlib
import logging
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from verified.corpus.copies import hash_videos, video_copies
from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_json, read_jsonl
from verified.runtime.progress import track
from verified.runtime.seals import finished, replacing
from verified_search import store
from verified_search.ask import Index, encoder_of, vector_of
from verified_search.captions import coarse, read_annotated, write_captions
from verified_search.config import IndexSettings
from verified_search.encoders import Encoder, ModelEncoder
from verified_search.fusion import weights_of
from verified_search.origin import ranked_before, ranking_of, reasons, skill
from verified_search.pictures import thumbnails
from verified_search.presence import clues, fit, unrelated_scores
from verified_search.sound import sound

log = logging.getLogger("verified")

KNOWN_QUERIES = 1000
"""Most queries that the probability of presence is learnt from."""
CLIPS_AT_ONCE = 4096
"""Clips of a group of videos that is encoded together."""
PICTURES = 12
"""Thumbnails of a video added by hand."""


def update(folder: Path, files: Mapping[str, Any], settings: IndexSettings) -> dict:
    """Create or change the index in `folder`; returns its manifest.

    `files`: features (HDF5), checkpoint (None for a joint encoder), text (token features of the captions; None for
    encoders that need none), annotations and queries (lists of FIG files; `queries` are outside every model's training
    data) or, in their place, moments (moments.jsonl, coarse captions alone), videos (videos.jsonl; None without
    videos), truth (the demo's; else None).
    """
    with store.changing(folder):
        old = _old_manifest(folder)
        manifest = _manifest(folder, files, settings, old)
        encoder = encoder_of(folder, manifest)
        features = FeatureFile(files["features"])
        described = {row["video"]: row for row in read_jsonl(files["videos"])} if files.get("videos") else {}
        indexed, anew = store.present(folder, manifest), old.get("identity") != manifest["identity"]
        wanted = {video: _digest(features[video]) for video in features if video not in manifest["dropped"]}
        gone = {
            video
            for video, row in indexed.items()
            if anew or (row["origin"] == "corpus" and wanted.get(video) != row["digest"])
        }
        new = sorted(video for video in wanted if video not in indexed or video in gone)
        by_hand = sorted(video for video in gone - wanted.keys() if indexed[video]["origin"] == "added")
        if by_hand and any(old[key] != manifest[key] for key in ("features", "clip_seconds")):
            _extract_again(folder, manifest, [store.read_decoded(folder, video).row for video in by_hand])
        log.info("index %s: %d videos stay, %d come, %d go", folder, len(indexed) - len(gone), len(new), len(gone))
        rows = coarse(files["moments"]) if files.get("moments") else read_annotated(files["annotations"])
        write_captions(folder, rows)
        queries = _known_queries(encoder, files, settings)
        if gone or new:
            items = chain(
                _items(new, features, wanted, described, settings.thumbnails), _added(folder, manifest, by_hand)
            )
            manifest = store.rebuild(folder, manifest, gone, _encode_items(items, encoder))
        index, held = Index(folder, manifest, encoder), _holders(rows, files.get("truth"))
        ranking = _ranking(index, queries, held[0], files, settings)
        manifest = {
            **manifest,
            "ranking": ranking,
            "weights": weights_of(manifest["model"], skill(ranking), joint=encoder.model is None),
            "here": _presence(index, queries, held, settings),
            "unrelated": unrelated_scores(index.captions),
        }
        store.write_manifest(folder, manifest)
        return store.read_manifest(folder)


def add_files(folder: Path, paths: Iterable[Path]) -> list[str]:
    """Add video files to an index by themselves; returns their ids, the names of the files without suffix.

    Their features remain in the index for a change of its model. Raises InputError for an unreadable file, for an id
    that the index has, and for an index of supplied features.
    """
    store.read_manifest(folder)  # otherwise a folder without an index would end with only a lock file
    with store.changing(folder):
        manifest = store.read_manifest(folder)
        _extraction(folder, manifest)
        rows, there, paths = [], store.present(folder, manifest), list(map(Path, paths))
        request = {"added": [str(path.resolve()) for path in paths]}
        if store.finish(folder, manifest) and manifest.get("last") == request:
            return [path.stem for path in paths]  # killed just before clean-up
        for path in paths:
            if path.stem in {*there, *(row["video"] for row in rows)}:
                raise InputError(f"the index has a video {path.stem!r}", file=path, remedy="remove it first: --remove")
            rows.append(_probe(path.stem, path.resolve(), "give another file"))
        hashes = dict(hash_videos(rows))
        added = {row["video"]: {**_row(row, "", "added"), "hashes": hashes.get(row["video"], "")} for row in rows}
        _extract(folder, manifest, rows, list(added.values()))
        dropped = [video for video in manifest["dropped"] if video not in added]
        encoded = _encode_items(_added(folder, manifest, added), encoder_of(folder, manifest))
        manifest = store.rebuild(folder, {**manifest, "dropped": dropped, "last": request}, (), encoded)
        store.write_manifest(folder, manifest)
        return list(added)


def copies_of(folder: Path, videos: Iterable[str]) -> list[tuple[str, str]]:
    """(added video, other video of the index that shows the same) for added `videos`.

    That is a file with the same bytes; other copies and parts are found among added videos only, as the index has
    hashes of the frames of these alone.
    """
    rows = store.present(folder, store.read_manifest(folder))
    shown = video_copies({video: row["hashes"] for video, row in rows.items() if "hashes" in row})
    new = [video for video in videos if video in rows]

    def same(one: str, other: str) -> bool:
        digests = rows[one].get("sha256", one), rows[other].get("sha256", other)
        return shown.get(one, one) == shown.get(other, other) or digests[0] == digests[1]

    return [
        (one, other)
        for one in new
        for other in rows
        if other != one and not (other in new and other < one) and same(one, other)
    ]


def _probe(video: str, path: Path, remedy: str) -> dict:
    """Probe an added video file. Raises InputError for an unreadable one."""
    from verified.io.video import VideoError, probe

    try:
        return {"video": video, "path": str(path), **probe(path)}
    except VideoError as error:
        raise InputError(f"cannot be added: {error}", file=path, remedy=remedy) from None


def _extraction(folder: Path, manifest: dict) -> dict:
    """Settings of the corpus' feature extraction. Raises InputError for supplied features, whose settings are unknown,
    and for the index of a folder of videos, which its own command updates."""
    if of_videos := manifest.get("folder"):
        remedy = f"put the file into that folder, and run: verified index {of_videos}"
        raise InputError(
            f"this is the index of the folder {of_videos}, whose files it follows", file=folder, remedy=remedy
        )
    if manifest["features"] is None:
        remedy = "add it to these features, and bring the index up to date"
        raise InputError("the features of this index were given, a video cannot join them", file=folder, remedy=remedy)
    return manifest["features"]


def _extract(folder: Path, manifest: dict, probed: list[dict], rows: list[dict]) -> None:
    """Extract features of video files with the corpus' settings, and store them with thumbnails and their `rows`.

    Raises InputError as `_extraction` does, and for files that cannot be decoded.
    """
    from verified.features.video import encode_videos, load_backbone

    seen = _extraction(folder, manifest)
    backbone, failed = load_backbone(seen["backbone"], seen["precision"]), {}
    known = {facts["video"]: (facts, row) for facts, row in zip(probed, rows)}
    encoded = encode_videos(probed, backbone, seen["fps"], manifest["clip_seconds"], seen["batch"], failed)
    for video, features in encoded:
        facts, row = known[video]
        pictures = thumbnails(facts["path"], facts["duration"], facts["width"], facts["height"], PICTURES)
        store.write_decoded(folder, store.Decoded(row, features.astype(np.float16), pictures))
    if failed:
        raise InputError(f"{sum(failed.values())} files cannot be decoded: {', '.join(failed)}")


def _extract_again(folder: Path, manifest: dict, rows: list[dict]) -> None:
    """Extract features of videos added by hand with other settings. Raises InputError for a missing file."""
    away = f"or take it out: verified index --index {folder} --remove"
    probed = [_probe(row["video"], Path(row["path"]), f"put it back, {away} {row['video']}") for row in rows]
    _extract(folder, manifest, probed, rows)


def remove_videos(folder: Path, videos: Iterable[str]) -> None:
    """Remove videos from an index, also from its later states. Raises InputError for a video that it does not have.

    After a kill, a repeated call resumes; after completion, it does nothing.
    """
    store.read_manifest(folder)
    with store.changing(folder):
        manifest, videos = store.read_manifest(folder), set(videos)
        there = store.present(folder, manifest)
        store.finish(folder, manifest)
        request = {"removed": sorted(videos)}
        if manifest.get("last") == request and not videos & there.keys():
            return
        if unknown := sorted(videos - there.keys()):
            raise InputError(f"no video {unknown[0]!r} in the index", file=folder)
        dropped = sorted({*manifest["dropped"], *(one for one in videos if there[one]["origin"] == "corpus")})
        store.write_manifest(folder, store.rebuild(folder, {**manifest, "dropped": dropped, "last": request}, videos))


def _old_manifest(folder: Path) -> dict:
    """The manifest in force; empty without one, and for one of another format."""
    if not (folder / store.MANIFEST).is_file():
        return {}
    sound(folder, store.MANIFEST)
    old = read_json(folder / store.MANIFEST)
    return old if isinstance(old, dict) and old.get("format") == store.FORMAT else {}


def _manifest(folder: Path, files: Mapping[str, Any], settings: IndexSettings, old: dict) -> dict:
    """The manifest of this run's settings, with the build in force and the videos removed by hand."""
    checkpoint = files.get("checkpoint")
    digest = file_digest(checkpoint) if checkpoint else ""
    facts = {
        "model": settings.model,
        "dataset": settings.dataset,
        "clip_seconds": settings.spans.clip_seconds,
        "features": settings.features.model_dump() if settings.features else None,
    }
    identity = hashlib.sha256(repr([digest, settings.text_encoder, sorted(facts.items())]).encode()).hexdigest()[:16]
    name = f"model-{digest[:12]}.safetensors" if checkpoint else ""
    if checkpoint and not finished(folder / name):
        with replacing(folder / name) as temporary:
            shutil.copyfile(checkpoint, temporary)
    return {
        "format": store.FORMAT,
        "identity": identity,
        **facts,
        "title": settings.title,
        "checkpoint": name,
        "text_encoder": settings.text_encoder,
        "spans": settings.spans.model_dump(),
        "searched_videos": settings.searched_videos,
        **store.EMPTY,
        "dropped": old.get("dropped", []),
        "build": old.get("build"),
    }


def _digest(features: np.ndarray) -> str:
    return hashlib.sha256(features.astype(np.float16).tobytes()).hexdigest()[:16]


def _row(row: dict, digest: str, origin: str) -> dict:
    known = {key: row[key] for key in ("video", "path", "sha256", "duration") if key in row}
    return {**known, "digest": digest, "origin": origin}


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
        yield _row(row, digests[video], "corpus"), clips, seconds, shown


def _added(folder: Path, manifest: dict, videos: Iterable[str]) -> Iterator[Item]:
    for video in videos:
        one = store.read_decoded(folder, video)
        yield one.row, one.features.astype(np.float32), manifest["clip_seconds"], one.pictures


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


def _ranking(
    index: Index, queries, same: dict[int, frozenset[str]], files: Mapping[str, Any], settings: IndexSettings
) -> dict:
    """Measure the model's ranking of videos against chance, by the same queries (see `origin`)."""
    queries_of = ((row["video"], vector_of(query), same.get(row["desc_id"], frozenset())) for row, query in queries)
    return ranking_of(settings.model, ranked_before(index, queries_of, settings.seed), reasons(files, settings))


def _presence(
    index: Index, queries, held: tuple[dict[int, frozenset[str]], str], settings: IndexSettings
) -> dict | None:
    """Fit a classifier of queries with and without an answer in the corpus (see `presence`)."""
    count = settings.searched_videos
    same, how = held
    draw = np.random.default_rng(settings.seed)
    known, present_clues, absent_clues = [], [], []
    videos = sorted(index.positions)
    for row, query in queries:
        holders = (same.get(row["desc_id"], frozenset()) | {row["video"]}) & index.positions.keys()
        others = len(videos) - len(holders)
        if row["video"] not in index.positions or others <= len(holders):
            continue
        known.append(row["video"])
        # As many videos are removed in both cases: a smaller corpus must not look like an absence.
        places = draw.choice(others, len(holders), replace=False)
        for place in sorted(bisect_left(videos, video) for video in holders):
            places += places >= place
        bystanders = frozenset(videos[place] for place in places)
        for kind, without_these in ((present_clues, bystanders), (absent_clues, frozenset(holders))):
            candidates = index.candidates(vector_of(query), count, without=without_these)
            kind.append(clues(candidates, index.moments(query, candidates, 1)))
    return fit(np.array(present_clues), np.array(absent_clues), known, how, settings.seed) if known else None


def _holders(captions: list[dict], truth: str | None) -> tuple[dict[int, frozenset[str]], str]:
    """By desc_id, the videos with such a moment, and the source of this: the demo's truth (an event of the same shape,
    colour and motion), else the same coarse caption."""
    groups: dict[object, set[str]] = {}
    keys: dict[int, object] = {}
    if truth:
        for row in read_jsonl(truth):
            for event in row["events"]:
                facts = event["facts"]
                keys[event["desc_id"]] = facts["shape"], facts["colour"], facts["motion"]
                groups.setdefault(keys[event["desc_id"]], set()).add(row["video"])
    else:
        for row in captions:
            keys[row["desc_id"]] = row["coarse"].casefold()
            groups.setdefault(keys[row["desc_id"]], set()).add(row["video"])
    how = "the demo's truth" if truth else "coarse captions"
    return {desc_id: frozenset(groups[key]) for desc_id, key in keys.items()}, how
