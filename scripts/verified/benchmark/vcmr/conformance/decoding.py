"""Round trip from labels through decoding to seconds, in which a model that predicts its labels perfectly is always
right; and search, which must not profit from knowing which video is the true one.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from verified.benchmark.lists import NO_VIDEO, Lists
from verified.benchmark.vcmr import search as engine
from verified.benchmark.vcmr.conformance.trial import CLIPS, Trial, close, require
from verified.benchmark.vcmr.contract import Encoded, RetrievalModel, Spans
from verified.benchmark.vcmr.data import Moments, span_labels
from verified.benchmark.vcmr.metrics import Truth, per_query
from verified.benchmark.vcmr.ranked import Ranked

LENGTHS = (4, 7, CLIPS)
SHORTEST = 3
"""Clips of a moment: at fewer, the published span of XML, one clip too long, overlaps by less than 0.7. So does that of
ReLoCLNet, one clip too short where the video ends, at this very length: there moments have one clip more."""


class _Corpus:
    """Videos of `LENGTHS` clips and one query for each moment in them, in the place of `Videos` and `Queries`."""

    context = CLIPS

    def __init__(self, clip_seconds: float):
        self.clips = np.array(LENGTHS)
        self.clip_seconds = np.full(len(LENGTHS), clip_seconds)
        rows = [row for video, length in enumerate(LENGTHS) for row in self._moments(video, length, clip_seconds)]
        names = [f"video{index}" for index in range(len(LENGTHS))]
        self.moments = Moments(
            np.arange(len(rows)),
            np.array([video for video, _, _ in rows]),
            np.array([(start, end) for _, start, end in rows]),
            names,
            names,
            Path("corpus"),
        )

    @staticmethod
    def _moments(video: int, length: int, seconds: float) -> list[tuple[int, float, float]]:
        """Every moment from clip to clip, and longer ones that begin and end within a clip."""
        whole = [
            (i, j)
            for i in range(length)
            for j in range(i + SHORTEST, length + 1)
            if (i, j) != (length - SHORTEST, length)
        ]
        within = [(i + 0.2, j - 0.2) for i, j in whole if j - i > SHORTEST]
        return [(video, start * seconds, end * seconds) for start, end in whole + within]

    def __len__(self) -> int:
        return len(LENGTHS)

    def batch(self, index: np.ndarray) -> tuple[Tensor, Tensor]:
        return torch.as_tensor(index).view(-1, 1), torch.ones(len(index), 1, dtype=torch.bool)


class _Queries(_Corpus):
    def __len__(self) -> int:
        return len(self.moments)


class _Perfect(RetrievalModel):
    """Answers with the labels of `model` for every video of the corpus, and with the true video as the best one."""

    def __init__(self, model: RetrievalModel, labels: Tensor, video: Tensor):
        super().__init__(model.config)
        self.labels, self.video = labels, video
        self.two_stage, self.rescores, self.decoded_end = model.two_stage, model.rescores, model.decoded_end
        self.video_weights = model.video_weights

    def encode_queries(self, query: Tensor, mask: Tensor) -> Encoded:
        return {"index": query}

    def encode_videos(self, video: Tensor, mask: Tensor) -> Encoded:
        return {"index": video}

    def video_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        return (self.video[queries["index"]] == videos["index"].T).float()

    def span_logits(self, queries: Encoded, videos: Encoded, query_index: Tensor, video_index: Tensor) -> Spans:
        query = queries["index"][query_index, 0]
        logits = torch.full((2, len(query), CLIPS), -1e4)
        for at, label in enumerate(self.labels[query].T):
            logits[at].scatter_(1, label.unsqueeze(1), 0.0)
        score = (self.video[query] == videos["index"][video_index, 0]).float()
        return Spans(logits[0], logits[1], score if self.rescores else None)


def check_round_trip(trial: Trial) -> None:
    """A model that predicts its labels perfectly is right in every query at tIoU 0.7, in VCMR and in SVMR.

    Starts and ends must be at the moment's clips, except for published deviations.
    """
    model = trial.model()
    settings = engine.SearchSettings(
        min_pred_clips=0, max_pred_clips=CLIPS + 1, searched_videos=len(LENGTHS), rows=5, quiet=True
    )
    for clip_seconds in (1.0, 1.5):
        videos, queries = _Corpus(clip_seconds), _Queries(clip_seconds)
        moments = videos.moments
        labels = torch.from_numpy(span_labels(trial.cls, moments, videos))
        perfect = _Perfect(model, labels, torch.from_numpy(moments.video))
        ranked = _true_first(moments) if model.two_stage else None
        lists_by_task = engine.search(perfect, videos, queries, moments, settings, ranked)
        truth = Truth(moments.desc_id, moments.video, moments.time[:, None])
        for task in ("SVMR", "VCMR"):
            right = per_query(task, truth, lists_by_task[task])["0.7/r1"]
            require(right.all(), _first_miss(task, moments, labels, lists_by_task[task], right))
        _check_ends(trial.cls, moments, videos, lists_by_task["SVMR"])


def _check_ends(cls: type[RetrievalModel], moments: Moments, videos: _Corpus, lists: Lists) -> None:
    """Starts are decoded to their clip exactly, ends as `published_end` says."""
    clip = videos.clip_seconds[0]
    first, beyond = np.floor(moments.time[:, 0] / clip), np.ceil(moments.time[:, 1] / clip)
    closing = (beyond == videos.clips[moments.video]).astype(int)
    for name, found, expected in (
        ("start", lists.start[:, 0] / clip, first),
        ("end", lists.end[:, 0] / clip, beyond + np.array(cls.published_end)[closing]),
    ):
        off = np.rint(found - expected).astype(int)
        wrong = int(np.abs(off).argmax())
        start, end = moments.time[wrong] / clip
        require(
            off[wrong] == 0,
            f"label and decoded_end: the {name} of a perfect prediction of clips {start:g}–{end:g} is decoded"
            f" {abs(off[wrong])} clip too {'late' if off[wrong] > 0 else 'early'} (published_end: {cls.published_end})",
        )


def _first_miss(task: str, moments: Moments, labels: Tensor, lists: Lists, right: np.ndarray) -> str:
    query = int(right.argmin())
    start, end = moments.time[query]
    return (
        f"{task}: labels {labels[query].tolist()} of {start:g}–{end:g} s in video {moments.video[query]} are decoded "
        f"as {lists.start[query, 0]:g}–{lists.end[query, 0]:g} s in video {lists.video[query, 0]}; "
        f"of perfect predictions {right.mean():.0%} are right at tIoU 0.7"
    )


def _true_first(moments: Moments) -> Ranked:
    order = np.stack([np.roll(np.arange(len(LENGTHS)), -video) for video in moments.video])
    cosine = np.tile(np.linspace(0.9, 0.1, len(LENGTHS), dtype=np.float32), (len(moments), 1))
    return Ranked(moments.desc_id, order, cosine, moments.videos)


def check_no_leak(trial: Trial) -> None:
    """VR and VCMR lists do not depend on which video is the true one; SVMR lists contain the true one alone."""
    model, corpus = trial.model(), trial.corpus
    # State from training must not help a model here.
    trial.losses(model, corpus.training_batch())
    shifted = corpus.moments((corpus.true_video + 3) % corpus.count)
    lists = []
    for moments in (corpus.moments(corpus.true_video), shifted):
        lists_by_task = engine.search(model, corpus, corpus.queries, moments, corpus.searching, corpus.ranked)
        shown = lists_by_task["SVMR"].video
        require((shown[:, 0] == moments.video).all(), "SVMR: a list does not look into the true video")
        rest = (shown == moments.video[:, None]) | (shown == NO_VIDEO)
        require(rest.all(), "SVMR: a list holds another video than the true one")
        lists.append(lists_by_task)
    for task in ("VR", "VCMR"):
        first, second = (torch.from_numpy(lists_by_task[task].score) for lists_by_task in lists)
        require(
            torch.isfinite(first).all() and torch.isfinite(second).all(),
            f"{task}: lists hold scores that are not finite",
        )
        same = first.shape == second.shape and close(first.log1p(), second.log1p())
        require(same, f"{task}: lists change with the true video, which the model must not know")
