"""Jobs of the stage: rows of a data set, trainings, and measures of each method at each length of segments."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from verified.benchmark.tiou import Comparison
from verified.errors import InputError
from verified.io.hdf5 import FeatureFile, Room
from verified.io.jsonl import read_jsonl
from verified.runtime.seeds import generator
from verified_longform.annotations import check_rows, read_mad
from verified_longform.config import MadSource, MovieSet, VlgNet
from verified_longform.feature_files import LongFeatures, frame_counts
from verified_longform.grid import Grid
from verified_longform.ranking import Ranker, baselines, cut_movies, measure_recall, rank_rows
from verified_longform.submission import write_submission
from verified_longform.zero_shot import rank_proposals

log = logging.getLogger("verified")
SPLITS = ("train", "val", "test")
Lengths = Sequence[float | None]
"""Seconds of the segments that movies are cut into; None: whole movies."""
CLIP_KS = (1, 5, 10)
"""K of the retrieval of clips."""
CACHE_BYTES = 2**30
"""Memory for cached features of a training; the rest is read again in each epoch."""


def collect_rows(movies: MovieSet, files: Mapping) -> tuple[list[dict], list[dict], dict[str, int]]:
    """Checked rows, excluded ones and counts of a data set of movies.

    files: those of `jobs.annotation_inputs`, and ``frames``, the features of the movies. Raises InputError for
    unreadable files, ids that repeat across splits, and without any usable row.
    """
    if isinstance(movies.source, MadSource):
        by_split = dict(zip(movies.source.annotations, files["annotations"], strict=True))
        rows = [row for split, path in by_split.items() for row in read_mad(path, split, movies.times)]
    else:
        folders = [Path(files[name]) for name in ("collected", "rendered") if name in files]
        files_of_splits = [(split, folder / f"{split}.json") for folder in folders for split in SPLITS]
        rows = [row for split, path in files_of_splits if path.is_file() for row in read_mad(path, split)]
    ids: set[str] = set()
    for row in rows:
        if row["id"] in ids:
            raise InputError(f"annotation {row['id']!r} is in two splits", remedy="give every annotation its own id")
        ids.add(row["id"])
    texts = None
    for name in ("tokens", "sentences"):
        if name in files:
            # MAD publishes sentence features of the test split only: the other splits need none.
            file = FeatureFile(files[name])
            with_features = {
                row["id"] for row in rows if row["id"] in file or (name == "sentences" and row["split"] != "test")
            }
            texts = with_features if texts is None else texts & with_features
    usable, excluded, counts = check_rows(rows, frame_counts(FeatureFile(files["frames"])), texts)
    if not usable:
        raise InputError(f"no usable annotation of {movies.title}: {counts}", remedy="see its exclusions.jsonl")
    return usable, excluded, counts


def test_rows(path: str | Path, split: str) -> list[dict]:
    """Rows of the test split. Raises InputError if there is none."""
    rows = [row for row in read_jsonl(path) if row["split"] == split]
    if not rows:
        remedy = "set test_split of this data set, or see the table longform-annotations for movies that were left out"
        raise InputError(f"no annotation in split {split}", file=path, remedy=remedy)
    return rows


def measure_baselines(
    rows: Sequence[dict], grid: Grid, lengths: Lengths, iou_cmp: Comparison, chance_runs: int, seed: int
) -> dict:
    """Oracle and Random Chance at each length; sampled in `chance_runs` runs for whole movies and the first length."""
    measures = []
    for seconds in lengths:
        cut = cut_movies(list(rows), seconds)
        measures.append({"seconds": seconds, **baselines(cut, grid, iou_cmp, chance_runs, seed)})
    return {**_facts(rows, iou_cmp), "lengths": measures}


def measure_ranker(
    rows: Sequence[dict],
    grid: Grid,
    features: LongFeatures,
    ranker: Ranker,
    lengths: Lengths,
    iou_cmp: Comparison,
    label: str,
    submission: str | Path | None = None,
) -> dict:
    """Recall of one method at each length; the predictions over whole movies go to `submission`."""
    measures = []
    for seconds in lengths:
        cut = cut_movies(list(rows), seconds)
        title = f"{label}, {'whole movies' if seconds is None else f'{seconds:g} s'}"
        predictions = rank_rows(cut, grid, features.movie, ranker, title)
        measures.append({"seconds": seconds, **measure_recall(cut, predictions, iou_cmp)})
        if seconds is None and submission:
            write_submission(submission, [row["id"] for row in rows], predictions)
    return {**_facts(rows, iou_cmp), "lengths": measures}


def _facts(rows: Sequence[dict], iou_cmp: str) -> dict:
    return {"queries": len(rows), "movies": len({row["movie"] for row in rows}), "iou_cmp": iou_cmp}


def zero_shot_ranker(features: LongFeatures, grid: Grid, nms_threshold: float) -> Ranker:
    """The zero-shot baseline as a ranker of the queries of a movie or segment."""

    def rank(frames: np.ndarray, rows: list[dict]) -> list[np.ndarray]:
        queries = features.sentence_rows(row["id"] for row in rows)
        return rank_proposals(frames, queries, grid, rows[0]["duration"], nms_threshold)

    return rank


def mean_pooling(frames: np.ndarray) -> np.ndarray:
    """The mean of a clip's normalised frame features [frames, dim], of unit length [dim]."""
    mean = (frames / np.maximum(np.linalg.norm(frames, axis=1, keepdims=True), 1e-12)).mean(axis=0)
    return mean / max(np.linalg.norm(mean), 1e-12)


def retrieve_clips(
    rows: Sequence[dict],
    features: LongFeatures,
    fps: float,
    pool: Callable[[np.ndarray], np.ndarray] = mean_pooling,
) -> dict:
    """Text-to-clip retrieval among all test moments (Table 6's task): recall in percent by K.

    A clip is cut around its moment and `pool` makes one vector of its frame features, by default as CLIP4Clip begins
    before training. Ties count as the probability that the query's clip is in the top K under random order.
    """
    clips = []
    for row in rows:
        first = min(round(row["start"] * fps), features.frames.length(row["movie"]) - 1)
        frames = features.movie(row["movie"], first, max(first + 1, round(row["end"] * fps)))
        clips.append(pool(frames))
    gallery, queries = np.stack(clips), features.sentence_rows(row["id"] for row in rows)
    shares = np.zeros(len(CLIP_KS))
    for begin in range(0, len(queries), 256):
        scores = queries[begin : begin + 256].astype(np.float64) @ gallery.T.astype(np.float64)
        matching = scores[np.arange(len(scores)), begin + np.arange(len(scores))][:, None]
        tied = np.isclose(scores, matching, rtol=1e-9, atol=0)  # the true clip among them
        better = ((scores > matching) & ~tied).sum(axis=1)
        shares += [np.clip((k - better) / tied.sum(axis=1), 0, 1).sum() for k in CLIP_KS]
    return {str(k): float(100 * share / len(queries)) for k, share in zip(CLIP_KS, shares, strict=True)}


def mixed_rows(mixture: Mapping[str, Mapping], seed: int) -> list[dict]:
    """Training rows of a mixture; of each data set, movies are drawn until its share of the rows is reached."""
    rows = []
    for name, source in mixture.items():
        split_rows = [row for row in read_jsonl(source["rows"]) if row["split"] == source["split"]]
        if source["share"] < 1:
            movies = sorted({row["movie"] for row in split_rows})
            count, drawn = source["share"] * len(split_rows), []
            for movie in generator(seed, "mixture", name).permutation(len(movies)):
                if len(drawn) >= count:
                    break
                drawn += [row for row in split_rows if row["movie"] == movies[movie]]
            split_rows = drawn
        rows += [{**row, "source": name} for row in split_rows]
    if not rows:
        named = ", ".join(f"{name} ({source['split']})" for name, source in mixture.items())
        remedy = "set train_split of the data sets, or see the table longform-annotations for movies that were left out"
        raise InputError(f"no training row in {named}", remedy=remedy)
    return rows


def train_vlg_net(
    mixture: Mapping[str, Mapping], grid: Grid, settings: VlgNet, seed: int, checkpoint: str | Path, code: str
) -> list[dict]:
    """Train VLG-Net on a mixture and write its checkpoint; returns the log. A killed training resumes."""
    from verified.nn.training import TrainingState, fingerprint
    from verified_longform.vlg_checkpoint import save, warm_start
    from verified_longform.vlg_training import initial, train

    room = Room(CACHE_BYTES)
    features = {
        name: LongFeatures(FeatureFile(source["frames"]), FeatureFile(source["tokens"]), room=room)
        for name, source in mixture.items()
    }
    rows = mixed_rows(mixture, seed)
    size = sizes(settings, grid, features[rows[0]["source"]], rows[0])
    inputs = [source[kind] for source in mixture.values() for kind in ("rows", "frames", "tokens")]
    inputs += [settings.warm_start] if settings.warm_start else []
    owner = fingerprint(
        code,
        [
            asdict(size),
            settings.model_dump(exclude={"search_batch", "threads", "gpu"}),
            seed,
            grid.model_dump(),
            dict(mixture),
        ],
        inputs,
    )
    state = TrainingState(Path(checkpoint).with_name("unfinished.safetensors"), owner, 30)
    model = initial(size, grid, seed)
    start = {"warm_start": warm_start(model, settings.warm_start)} if settings.warm_start else {}
    log_rows = train(model, rows, features, grid, settings, seed, state)
    save(checkpoint, model, grid, {"trained_on": {name: source["share"] for name, source in mixture.items()}, **start})
    state.remove()
    return log_rows


def sizes(settings: VlgNet, grid: Grid, features: LongFeatures, row: Mapping):
    """The network's sizes: the configuration's, and the width of the features."""
    from verified_longform.vlg_net import VLGSettings

    return VLGSettings(
        video_dim=features.movie(row["movie"], 0, 1).shape[1],
        query_dim=features.token_rows(row["id"], 1).shape[1],
        hidden=settings.hidden,
        query_hidden=settings.hidden,
        clips=grid.clips,
        blocks=settings.blocks,
        neighbours=settings.neighbours,
        groups=settings.groups,
        stack=settings.stack,
        gather=settings.gather,
    )


def vlg_ranker(
    checkpoint: str | Path, features: LongFeatures, grid: Grid, nms_threshold: float, search_batch: int
) -> Ranker:
    """VLG-Net as a ranker. Raises InputError where the checkpoint was trained for other windows."""
    from verified_longform.vlg_checkpoint import load
    from verified_longform.vlg_search import TOKENS, rank_windows

    model = load(checkpoint, grid)

    def rank(frames: np.ndarray, rows: list[dict]) -> list[np.ndarray]:
        tokens = [features.token_rows(row["id"], TOKENS) for row in rows]
        return rank_windows(model, frames, tokens, grid, nms_threshold, search_batch)

    return rank
