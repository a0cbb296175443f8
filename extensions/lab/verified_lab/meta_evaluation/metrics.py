"""Caption metrics from the captioned clips: the evaluator, the cosine of a joint encoder as in CLIPScore, and the
agreement of captions; and their comparison on the captions that all of them score."""

import math
import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import numpy as np
from PIL import Image

from verified.annotations.agreement import agreement, unit
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.features.encoders import JointEncoder, fit, whole_sentences
from verified.io.jsonl import finite, iterate_jsonl
from verified.io.video import VideoError, frames_of_spans, probe
from verified.people.agreement import grade_matrix
from verified.runtime.progress import track
from verified_lab.meta_evaluation.correlation import Rated, compare_metrics
from verified_lab.meta_evaluation.judgements import Judged, as_moments

FRAMES = 8
"""Uniform frames of a clip that joint encoders see."""


def find_videos(folder: Path, names: Set[str]) -> dict[str, dict]:
    """Rows as of videos.jsonl, by id, of the readable videos of these names.

    Raises InputError if there is none.
    """
    paths = VideoFolder(folder, names).paths
    rows = {}
    for video in track(sorted(names & paths.keys()), "videos", len(names & paths.keys()), "videos"):
        try:
            rows[video] = {"video": video, "path": str(paths[video]), **probe(paths[video])}
        except VideoError:
            continue
    if not rows:
        raise InputError("none of the videos is in it", file=folder, remedy="name the folder whose files are VIDEO.mp4")
    return rows


def evaluator_scores(judged: Sequence[Judged], videos: Mapping[str, dict], checkpoint: str | Path) -> np.ndarray:
    """[captions] z1 of an evaluator; NaN for an unreadable clip."""
    import torch

    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.clips import gather_clips, open_clips
    from verified.evaluator.validation import FAITHFUL, Graded, confidences
    from verified.io.jsonl import read_jsonl
    from verified.nn.layers import visible_device

    model = load_checkpoint(checkpoint)
    moments, of_caption = as_moments(judged, videos)
    scores = np.full(len(judged), np.nan)
    if not moments:
        return scores
    graded = [
        Graded(place, judgement.caption, FAITHFUL, ())
        for judgement, place in zip(judged, of_caption)
        if place is not None
    ]
    with tempfile.TemporaryDirectory(prefix="clips-") as folder:
        clips, index = f"{folder}/clips.npy", f"{folder}/clips.jsonl"
        size = model.size
        gather_clips(moments, [*videos.values()], size.frames, 1, size.image_size, None, clips, index)
        rows = read_jsonl(index)
        device = torch.device(visible_device())
        captions, values = confidences(model, {"judged": graded}, [open_clips(clips, rows)], [rows], device)["judged"]
    score_of = {(row.desc_id, row.caption): float(value) for row, value in zip(captions, values["z1"])}
    for number, (judgement, place) in enumerate(zip(judged, of_caption)):
        if place is not None:
            scores[number] = score_of.get((place, judgement.caption), np.nan)
    return scores


def clip_vectors(moments: Sequence[dict], videos: Mapping[str, dict], encoder: JointEncoder) -> dict[int, np.ndarray]:
    """Vectors [frames, dim] of length 1 of each moment's clip, by its `desc_id`; unreadable clips are omitted."""
    of_video: dict[str, list[dict]] = {}
    for moment in moments:
        of_video.setdefault(moment["video"], []).append(moment)
    vectors = {}
    for video, own_moments in track(of_video.items(), "frames seen", len(of_video), "videos"):
        spans = [(moment["start"], moment["end"]) for moment in own_moments]
        try:
            for number, frames, _ in frames_of_spans(videos[video]["path"], spans, count=FRAMES):
                pictures = [fit(Image.fromarray(frame), encoder) for frame in frames]
                if pictures:
                    vectors[own_moments[number]["desc_id"]] = unit(encoder(np.stack(pictures)))
        except VideoError:
            continue
    return vectors


class FrameMetrics:
    """Metrics from a joint encoder's view of the captions' clips; NaN for clips without frames.

    `videos` are rows of videos.jsonl by id.
    """

    def __init__(self, judged: Sequence[Judged], videos: Mapping[str, dict], encoder: JointEncoder):
        self.judged, self.encoder = judged, encoder
        self.moments, of_caption = as_moments(judged, videos)
        self.vectors = clip_vectors(self.moments, videos, encoder)
        self.seen = [(n, place) for n, place in enumerate(of_caption) if place is not None and place in self.vectors]

    def cosines(self) -> np.ndarray:
        """[captions] cosine of caption and mean frame, from -1 to 1; CLIPScore is 2.5 times it, cut at 0."""
        cosines = np.full(len(self.judged), np.nan)
        texts = [self.judged[number].caption for number, _ in self.seen]
        sentences = whole_sentences(self.encoder, texts) if texts else []
        for (number, place), sentence in zip(self.seen, sentences):
            cosines[number] = unit(sentence) @ unit(self.vectors[place].mean(axis=0))
        return cosines

    def agreements(self, sentence_model: str) -> np.ndarray:
        """[captions] agreement with the other captions of the clip, its first reference and its frames."""
        agreements = np.full(len(self.judged), np.nan)
        rows = [
            {"desc_id": place, "type": "", "candidate": number, "caption": self.judged[number].caption}
            for number, place in self.seen
        ]
        for row in agreement(self.moments, rows, self.vectors, self.encoder, sentence_model, 1):
            agreements[row["candidate"]] = row["agreement"]
        return agreements


def scores_of_file(path: str | Path, judged: Sequence[Judged]) -> np.ndarray:
    """[captions] the ``score`` of the rows of a JSON Lines file, matched by video, caption and, if both have one,
    desc_id; NaN without a match. Raises InputError for a score that is not a number, and if no caption matches.
    """
    score_of: dict[tuple[str, str, object], float] = {}
    for number, row in enumerate(iterate_jsonl(path, ("video", "caption", "score")), start=1):
        if not finite(row["score"]) or not isinstance(row.get("desc_id"), int | None):
            raise InputError("'score' or 'desc_id' is not a number", file=path, row=number, remedy="correct the row")
        for desc_id in {row.get("desc_id"), None}:
            score_of[str(row["video"]), str(row["caption"]), desc_id] = float(row["score"])
    scores = np.array(
        [score_of.get((judgement.video, judgement.caption, judgement.desc_id), np.nan) for judgement in judged]
    )
    if np.isnan(scores).all():
        raise InputError(
            "has a score of no judged caption", file=path, remedy="rows need the video and caption of the judgements"
        )
    return scores


ALL = "all"


def rated(judged: Sequence[Judged]) -> Rated:
    """Grades as paired for the correlation; whole videos are resampled."""
    people = sorted({who for judgement in judged for who, _ in judgement.grades})
    grades = [(who, place, grade) for place, judgement in enumerate(judged) for who, grade in judgement.grades]
    right = [math.nan if judgement.right is None else float(judgement.right) for judgement in judged]
    return Rated(
        grade_matrix(grades, people, range(len(judged))),
        np.array(right),
        [judgement.clip for judgement in judged],
        [judgement.video for judgement in judged],
    )


def side_by_side(judged: Sequence[Judged], scores: Mapping[str, np.ndarray], resamples: int, seed: int) -> dict:
    """Correlate each metric with human grades, over all captions and by group; `scores` [captions] by metric, NaN for a
    missing score.

    Captions without a score of some metric are dropped for all metrics, and counted by metric. Raises InputError if
    none remains.
    """
    scored = ~np.isnan(np.stack([*scores.values()])) if scores else np.zeros((1, 0), bool)
    common = np.asarray(scored.all(axis=0))
    if not common.any():
        raise InputError("no judged caption has a score of every metric", remedy="see which metrics lack scores")
    groups = sorted({judgement.group for judgement in judged})
    chosen = {ALL: common}
    if len(groups) > 1:
        chosen |= {
            group or "other": common & np.array([judgement.group == group for judgement in judged]) for group in groups
        }
    return {
        "captions": len(judged),
        "people": len({who for judgement in judged for who, _ in judgement.grades}),
        "without_score": {name: int((~row).sum()) for name, row in zip(scores, scored)},
        "groups": {
            name: _group(judged, scores, members, resamples, seed) for name, members in chosen.items() if members.any()
        },
    }


def _group(
    judged: Sequence[Judged], scores: Mapping[str, np.ndarray], chosen: np.ndarray, resamples: int, seed: int
) -> dict:
    members = [judgement for judgement, keep in zip(judged, chosen) if keep]
    verdicts = [judgement.right for judgement in members if judgement.right is not None]
    return {
        "captions": len(members),
        "clips": len({judgement.clip for judgement in members}),
        "videos": len({judgement.video for judgement in members}),
        "right": sum(verdicts),
        "wrong": len(verdicts) - sum(verdicts),
        "metrics": compare_metrics(
            {name: row[chosen] for name, row in scores.items()}, rated(members), resamples, seed
        ),
    }
